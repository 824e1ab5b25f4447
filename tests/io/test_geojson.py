"""GeoJSON: points in, points with their clusters out."""

import gzip
import io
import json
import re

import polars as pl
import pytest

from modeshift.io.errors import FileError
from modeshift.io.geojson import features_of, with_property, write_geojson
from modeshift.io.source import open_source
from modeshift.io.table import read_table


def point(longitude, latitude, *altitude, **properties):
    geometry = {"type": "Point", "coordinates": [longitude, latitude, *altitude]}
    return {"type": "Feature", "geometry": geometry, "properties": properties or None}


def collection(*features, **others):
    return {"type": "FeatureCollection", "features": list(features)} | others


@pytest.fixture
def opened(tmp_path):
    """Write a file and open it."""

    def opened(content, columns=None, name="places.geojson", pack=bytes):
        text = content if isinstance(content, str) else json.dumps(content)
        path = tmp_path / name
        path.write_bytes(pack(text.encode()))
        return open_source(str(path), columns)

    return opened


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda text: b"\xef\xbb\xbf" + text])
@pytest.mark.parametrize("name", ["places.geojson", "places.json", "places"])
def test_points_are_latitude_and_longitude(name, pack, opened):
    source = opened(collection(point(178.4, -18.1, mag=5), point(-179.9, -16.8)), None, name, pack)
    table = read_table(source, on_globe=None)
    assert table.on_globe
    assert table.columns == ["latitude", "longitude"]
    assert table.points.tolist() == [[-18.1, 178.4], [-16.8, -179.9]]
    assert table.unused == ["mag"]


def test_one_feature_is_a_collection_too(opened):
    assert read_table(opened(point(1, 2)), on_globe=None).points.tolist() == [[2.0, 1.0]]


def test_columns_of_a_model_name_the_coordinates(opened):
    table = read_table(opened(collection(point(1, 2)), ["Lat", "lng"]), ["Lat", "lng"])
    assert (table.columns, table.points.tolist()) == (["Lat", "lng"], [[2.0, 1.0]])


def test_properties_are_columns(opened):
    first = point(1, 2, 30, mag=5, place="Fiji", felt=True, mixed=1, list=[1, 2]) | {"id": "a"}
    second = point(1, 2, mag=None, mixed="x") | {"id": "b"}
    frame = opened(collection(first, second)).frame.collect()
    assert frame.to_dicts() == [
        {"latitude": 2.0, "longitude": 1.0, "altitude": 30.0, "id": "a", "mag": 5.0,
         "place": "Fiji", "felt": True, "mixed": "1", "list": "[1, 2]"},
        {"latitude": 2.0, "longitude": 1.0, "altitude": None, "id": "b", "mag": None,
         "place": None, "felt": None, "mixed": "x", "list": None},
    ]  # fmt: skip


def test_named_columns_of_properties_are_no_places(opened):
    source = opened(collection(point(1, 2, mag=5.0), point(3, 4, mag=6.0)), ["mag"])
    table = read_table(source, ["mag"], on_globe=None)
    assert (table.on_globe, table.points.tolist()) == (False, [[5.0], [6.0]])


def test_a_feature_without_place_is_a_missing_value(opened):
    source = opened(collection(point(1, 2), {"type": "Feature", "geometry": None}))
    with pytest.raises(FileError, match=r"row 2, column 'latitude'"):
        read_table(source, on_globe=None)
    assert read_table(source, missing="drop", on_globe=None).n_dropped == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"type": "FeatureCollection", "features": [', "no valid JSON .* line 1, column .* com"),
        ("[1, 2]", r"no GeoJSON with points \(it is a list\)"),
        ({"type": "Topology"}, "its type is 'Topology'"),
        (collection(), "has no features"),
        ({"type": "FeatureCollection"}, "no list of features"),
        (collection(point(1, 2), crs={"properties": {"name": "EPSG:3857"}}), "WGS 84"),
        (
            collection(
                {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0]]]}}
            ),
            "feature 1 of .* is a Polygon; only points",
        ),
        (collection(point(1, "2")), r"feature 1 of .* coordinates \[1, '2'\]; .*two numbers"),
        (collection({"type": "Feature", "geometry": 7}), "feature 1 of .* is a int"),
    ],
)
def test_other_json_is_refused_in_one_line(content, words, opened):
    with pytest.raises(FileError, match=words) as caught:
        opened(content)
    assert "\n" not in str(caught.value)


def test_rows_become_features():
    frame = pl.DataFrame(
        {"lat": ["1.5", None], "lon": ["2", "3"], "zip": ["007", "12"], "n": ["1", "2"]}
    )
    first, second = features_of(frame, "lat", "lon")
    assert first == point(2.0, 1.5, zip="007", n=1)
    assert second == {"type": "Feature", "geometry": None, "properties": {"zip": "12", "n": 2}}


def test_what_is_written_can_be_read_again(opened):
    features = [point(1, 2, 30, name="é"), point(3, 4)]
    file = io.BytesIO()
    write_geojson(file, with_property(features, "cluster", [0, -1]))
    source = opened(file.getvalue().decode())
    assert [each["properties"] for each in source.features] == [
        {"name": "é", "cluster": 0},
        {"cluster": -1},
    ]
    assert [each["geometry"] for each in source.features] == [each["geometry"] for each in features]
    assert len(re.findall("\n", file.getvalue().decode())) == 4  # a feature on a line
