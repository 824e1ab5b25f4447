"""GeoJSON (RFC 7946): points in, points with their cluster out."""

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import IO, Any

from modeshift.globe import find_columns
from modeshift.io.errors import FileError

LATITUDE, LONGITUDE, ALTITUDE = "latitude", "longitude", "altitude"
"""Columns of the coordinates."""

_OF_WGS_84 = ("CRS84", "EPSG::4326", "EPSG:4326")


def frame_of_geojson(
    name: str, content: bytes | Path, wanted: list[str]
) -> tuple[Any, list[dict[str, Any]]]:
    """Return points as a frame, and their features as they are in the file.

    Columns are the coordinates in degrees, an altitude if there is one, the id if there is one, and
    the properties. If ``wanted`` names other columns of latitude and longitude, as those of a
    fitted model, the coordinates have these names. Values of several kinds, lists and objects are
    text, in JSON.
    """
    import polars as pl

    features = _features(name, _parse(name, content))
    latitude, longitude = find_columns(wanted) or (LATITUDE, LONGITUDE)
    places = [_coordinates(name, number, each) for number, each in enumerate(features, start=1)]
    columns: dict[str, list[Any]] = {
        latitude: [place[1] for place in places],
        longitude: [place[0] for place in places],
    }
    if any(len(place) > 2 for place in places):
        columns[ALTITUDE] = [place[2] if len(place) > 2 else None for place in places]
    if any("id" in each for each in features):
        columns["id"] = [each.get("id") for each in features]
    properties = [each.get("properties") or {} for each in features]
    for key in dict.fromkeys(key for each in properties for key in each):
        columns.setdefault(key, [each.get(key) for each in properties])
    frame = pl.DataFrame({key: _column(values) for key, values in columns.items()})
    return frame.lazy(), features


def features_of(frame: Any, latitude: str, longitude: str) -> Iterator[dict[str, Any]]:
    """Yield a feature for each row of a frame: a point, and the other columns as properties.

    Text that holds only numbers, as the columns of CSV do, becomes numbers.
    """
    import polars as pl

    frame = frame.with_columns(
        *(_as_numbers(frame[name]) for name in frame.columns if frame[name].dtype == pl.String),
    ).with_columns(pl.col(latitude, longitude).cast(pl.Float64, strict=False))
    for row in frame.iter_rows(named=True):
        place = [row.pop(longitude), row.pop(latitude)]
        point = {"type": "Point", "coordinates": place}
        geometry = None if any(value is None for value in place) else point
        yield {"type": "Feature", "geometry": geometry, "properties": row}


def with_property(
    features: Iterable[dict[str, Any]], name: str, values: Iterable[Any]
) -> Iterator[dict[str, Any]]:
    """Yield features with one more property."""
    for feature, value in zip(features, values, strict=True):
        yield feature | {"properties": (feature.get("properties") or {}) | {name: value}}


class GeoJsonWriter:
    """Writes a FeatureCollection, one feature on a line, in one or more portions."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._between = b"\n"
        file.write(b'{"type": "FeatureCollection", "features": [')

    def write(self, features: Iterable[dict[str, Any]]) -> None:
        """Write some features."""
        for feature in features:
            text = json.dumps(feature, ensure_ascii=False, default=str)
            self._file.write(self._between + text.encode())
            self._between = b",\n"

    def close(self) -> None:
        """Write the end."""
        self._file.write(b"\n]}\n")


def write_geojson(file: IO[bytes], features: Iterable[dict[str, Any]]) -> None:
    """Write a FeatureCollection."""
    writer = GeoJsonWriter(file)
    writer.write(features)
    writer.close()


def looks_like_json(head: bytes) -> bool:
    """Return whether a file begins as JSON does."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _parse(name: str, content: bytes | Path) -> Any:
    raw = content.read_bytes() if isinstance(content, Path) else content
    if raw.startswith(b"\x1f\x8b"):
        with gzip.open(io.BytesIO(raw)) as file:
            raw = file.read()
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FileError(f"{name} is not in UTF-8; save the file in UTF-8") from error
    except json.JSONDecodeError as error:
        raise FileError(
            f"{name} is no valid JSON ({error.msg} in line {error.lineno}, column {error.colno}); "
            "is the file complete?"
        ) from error


def _features(name: str, content: Any) -> list[dict[str, Any]]:
    kind = content.get("type") if isinstance(content, dict) else None
    if kind == "Feature":
        content = {"features": [content]}
    elif kind != "FeatureCollection":
        found = f"its type is {kind!r}" if isinstance(content, dict) else "it is a list"
        raise FileError(
            f"{name} is JSON, but no GeoJSON with points ({found}); it must be a FeatureCollection"
        )
    _check_degrees(name, content)
    features = content.get("features")
    if not isinstance(features, list) or not all(isinstance(each, dict) for each in features):
        raise FileError(f"{name} has no list of features; is the file complete?")
    if not features:
        raise FileError(f"{name} has no features")
    return features


def _check_degrees(name: str, content: dict[str, Any]) -> None:
    """Refuse coordinates of another system, which older versions of GeoJSON may have."""
    system = content.get("crs")
    properties = system.get("properties") if isinstance(system, dict) else None
    named = str(properties.get("name", "")) if isinstance(properties, dict) else ""
    if named and not named.endswith(_OF_WGS_84):
        raise FileError(
            f"{name} has coordinates in {named}; save it in degrees (WGS 84), as GeoJSON should be"
        )


def _coordinates(name: str, number: int, feature: dict[str, Any]) -> list[float | None]:
    """Return longitude, latitude and perhaps altitude of a feature; None without geometry."""
    geometry = feature.get("geometry")
    if geometry is None:
        return [None, None]
    kind = geometry.get("type") if isinstance(geometry, dict) else type(geometry).__name__
    if kind != "Point":
        raise FileError(
            f"feature {number} of {name} is a {kind}; only points can be clustered, so replace it "
            "by a point (its centroid, for example)"
        )
    place = geometry.get("coordinates")
    if not isinstance(place, list) or len(place) < 2 or not all(map(_is_number, place)):
        raise FileError(
            f"feature {number} of {name} has the coordinates {place!r}; a point has two numbers, "
            "longitude and latitude"
        )
    return [float(value) for value in place]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _column(values: list[Any]) -> Any:
    """Return the values of a property as a column: numbers, booleans or text."""
    import polars as pl

    known = [value for value in values if value is not None]
    if all(map(_is_number, known)):
        return pl.Series([None if value is None else float(value) for value in values],
                         dtype=pl.Float64)  # fmt: skip
    if all(isinstance(value, bool) for value in known):
        return pl.Series(values, dtype=pl.Boolean)
    return pl.Series([_text(value) for value in values], dtype=pl.String)


def _as_numbers(texts: Any) -> Any:
    """Return text as numbers if each value is written as JSON writes numbers."""
    import polars as pl

    known = [text.strip() for text in texts if text is not None and text.strip()]
    if not known or not all(map(_is_canonical, known)):
        return texts
    numbers = [float(text) if text is not None and text.strip() else None for text in texts]
    whole = all(number is None or number.is_integer() for number in numbers)
    as_wholes = whole and all("." not in text for text in known)
    series = pl.Series(texts.name, numbers, dtype=pl.Float64)
    return series.cast(pl.Int64) if as_wholes else series


def _is_canonical(text: str) -> bool:
    """Return whether a number has no leading zero or plus sign, as names often have."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return False
    return _is_number(value) and isfinite(value)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
