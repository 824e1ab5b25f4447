"""Flat maps of places on the globe, with the land of Natural Earth.

A map is equirectangular and true to scale at its middle latitude, or, for places all around a pole,
azimuthal and equidistant: seen from above the pole. It is cut where there are fewest places, so
that places on both sides of the date line are in one piece.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

SOURCE = "Natural Earth 1:110 million"
"""Source of the land; it is in the public domain. ``tools/land.py`` made the file from it."""

_LEAST_SPAN_OF_LAND = 2.0  # degrees; on smaller maps the land, exact to some 10 km, is wrong
_GAP = 40.0  # degrees without a place; a map of places with a smaller gap shows the whole globe
_BIN = 5  # degrees of longitude
_FEW = 0.01  # share of the places in the bins at the date line with which the map is cut there
_POLAR = 50.0  # latitude; places all around and beyond it are seen from above the pole
_MOST_UNEQUAL = 2.5  # sides of a map
_LEAST_SPAN = 0.01  # degrees of a map
_MARGIN = 0.04  # around the places, as a share of the map


class Map(NamedTuple):
    """A way to draw places, which are latitudes and longitudes in degrees.

    Attributes
    ----------
    pole : int
        1 and -1: seen from above the north and the south pole. 0: equirectangular.
    meridian : float
        Longitude in the middle (at a pole: downwards).
    middle : float
        Latitude at which an equirectangular map is true to scale.
    """

    pole: int
    meridian: float
    middle: float

    @property
    def stretch(self) -> float:
        """Length of a degree of longitude on an equirectangular map, in degrees of latitude."""
        return float(np.cos(np.radians(self.middle)))

    @property
    def period(self) -> float:
        """Width of the whole globe on an equirectangular map; 0 at a pole."""
        return 0.0 if self.pole else 360.0 * self.stretch

    def place(self, places: np.ndarray) -> np.ndarray:
        """Return where places are on the map, in degrees of latitude: across and up."""
        latitude, longitude = places[..., 0], places[..., 1] - self.meridian
        if self.pole:
            return self._from_above(latitude, longitude)
        turned = np.mod(longitude + 180.0, 360.0) - 180.0
        return np.stack([(turned + self.meridian) * self.stretch, latitude], axis=-1)

    def land(self) -> list[np.ndarray]:
        """Return the outlines of the land on the map; equirectangular ones repeat by a period."""
        if not self.pole:
            return [np.stack([r[:, 1] * self.stretch, r[:, 0]], axis=1) for r in _rings()]
        near = [ring for ring in _rings() if (ring[:, 0] * self.pole).max() > 0.0]
        return [self.place(ring) for ring in near]

    def describe(self) -> str:
        """Return the projection in words."""
        if self.pole:
            which = "north" if self.pole > 0 else "south"
            return f"The map is seen from above the {which} pole."
        where = f"{abs(self.middle):.3g}° {'N' if self.middle > 0 else 'S'}"
        return f"The map is true to scale at {where if self.middle else 'the equator'}."

    def _from_above(self, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
        radius, turn = 90.0 - self.pole * latitude, np.radians(longitude)
        return np.stack([radius * np.sin(turn), -self.pole * radius * np.cos(turn)], axis=-1)


class MapAxis(NamedTuple):
    """One axis of a map, for positions in the units of the user.

    Attributes
    ----------
    name : str
        "" where the axis has no meaning of its own.
    map : Map
    k : int
        0: across; 1: up.
    feature_scale : tuple of float
        Length of a degree in the units of the user.
    """

    name: str
    map: Map
    k: int
    feature_scale: tuple[float, ...] = (1.0, 1.0)

    def place(self, positions: np.ndarray) -> np.ndarray:
        """Return the coordinates of positions on this axis."""
        return self.map.place(positions / np.array(self.feature_scale))[..., self.k]


def map_of(places: np.ndarray) -> Map:
    """Return the map that suits places."""
    latitude, longitude = places.T
    cut, span = _cut_of(longitude)
    pole = int(np.sign(latitude.sum()))
    if span > 180.0 and (latitude * pole).min() >= _POLAR:
        return Map(pole, 0.0, 90.0 * pole)
    middle = float(0.5 * (latitude.min() + latitude.max()))
    if span == 360.0 and abs(middle) < 30.0:
        middle = 0.0  # the usual map of the world
    return Map(0, cut % 360.0 - 180.0, middle)


def _cut_of(longitude: np.ndarray) -> tuple[float, float]:
    """Return a meridian at which to cut the map, and the degrees that the places span.

    It is the middle of the widest gap between places. Places without a wide gap span the whole
    globe; they are cut at the date line, or where there are fewest if there are many.
    """
    degrees = np.sort(np.mod(longitude, 360.0))
    gaps = np.diff(np.append(degrees, degrees[0] + 360.0))
    widest = int(np.argmax(gaps))
    if gaps[widest] > _GAP:
        return float(degrees[widest] + gaps[widest] / 2), float(360.0 - gaps[widest])
    counts = np.histogram(degrees, bins=np.arange(0, 361, _BIN))[0]
    around = counts + np.roll(counts, 1)  # on both sides of each edge
    if around[180 // _BIN] <= _FEW * len(degrees):
        return 180.0, 360.0
    return float(_BIN * np.argmin(around)), 360.0


def window(on_map: Map, places: np.ndarray) -> np.ndarray:
    """Return the ends of the axes of a map of places: ((low, high), (low, high)).

    The shorter side is at least two fifths of the longer one, and the map ends at the poles.
    """
    found = on_map.place(places)
    middle = 0.5 * (found.min(axis=0) + found.max(axis=0))
    spans = (1.0 + 2.0 * _MARGIN) * np.ptp(found, axis=0)
    spans = np.maximum(spans, max(spans.max() / _MOST_UNEQUAL, _LEAST_SPAN))
    ends = np.stack([middle - spans / 2, middle + spans / 2], axis=1)
    if on_map.period:
        width = min(spans[0], on_map.period)
        center = middle[0] if width < on_map.period else on_map.meridian * on_map.stretch
        ends[0] = center - width / 2, center + width / 2
        ends[1] = ends[1].clip(-90.0, 90.0)
    return ends


def has_land(ends: np.ndarray) -> bool:
    """Return whether a map with these ends of its axes is wide enough to show land."""
    return bool(np.ptp(ends, axis=1).max() >= _LEAST_SPAN_OF_LAND)


def parallels_and_meridians(on_map: Map, ends: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the lines of a map around a pole, with their names."""
    reach = float(np.abs(ends).max())
    step = next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if 5 * step >= reach)
    side = "N" if on_map.pole > 0 else "S"
    turn = np.linspace(-180.0, 180.0, 181)
    radii = np.arange(step, 1.5 * reach, step)
    lines = [
        (
            f"{90 - radius:g}° {side}",
            on_map.place(np.stack([np.full(181, on_map.pole * (90 - radius)), turn], axis=1)),
        )
        for radius in radii
    ]
    for longitude in range(-180, 180, 30):
        side = "" if longitude in (0, -180) else " W" if longitude < 0 else " E"
        name = f"{abs(longitude)}°{side}"
        ends_of_line = np.array([[90.0 * on_map.pole, longitude]] * 2, dtype=float)
        ends_of_line[1, 0] = on_map.pole * (90.0 - 1.5 * reach)
        lines.append((name, on_map.place(ends_of_line)))
    return lines


@cache
def _rings() -> list[np.ndarray]:
    """Return the outlines of the land: latitudes and longitudes, without jumps."""
    with np.load(Path(__file__).with_name("land.npz"), allow_pickle=False) as file:
        points, ends = file["points"][:, ::-1] / 100.0, file["ends"]
    return np.split(points, ends[:-1])
