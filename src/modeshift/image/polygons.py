"""Regions as polygons, for GeoJSON (RFC 7946)."""

from typing import Any

import numpy as np

from modeshift.image.geo import Place

_STEPS = {0: (1, 0), 1: (0, 1), 2: (-1, 0), 3: (0, -1)}
"""Directions along the edges of pixels, as (column, row): right, down, left, up."""

Ring = np.ndarray
"""Corners (column, row) of a closed line; the last one is the first."""


def polygons(labels: np.ndarray) -> dict[int, list[Ring]]:
    """Return the rings of each region: first the outer one, then the holes.

    The lines run along the edges of pixels, so neighbours share them exactly. Regions must be
    connected through the sides of pixels, as those of ``segment`` are.
    """
    leaving = _edges(labels)
    rings: dict[int, list[Ring]] = {}
    for region, edges in leaving.items():
        found = []
        while edges:
            corner = next(iter(edges))
            found.append(_follow(edges, corner, next(iter(edges[corner]))))
        rings[region] = sorted(found, key=signed_area, reverse=True)
    return dict(sorted(rings.items()))


def signed_area(ring: Ring) -> float:
    """Return the area in a ring; below 0 if it runs clockwise, where y points up."""
    x, y = ring[:, 0], ring[:, 1]
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2)


def _edges(labels: np.ndarray) -> dict[int, dict[tuple[int, int], set[int]]]:
    """Return, for each region, the directions of border edges that leave each corner.

    The region is to the right of its edges, as one looks at the picture.
    """
    framed = np.pad(labels, 1)
    inner = framed[1:-1, 1:-1]
    sides = [
        (framed[:-2, 1:-1], (0, 0), 0),
        (framed[1:-1, 2:], (1, 0), 1),
        (framed[2:, 1:-1], (1, 1), 2),
        (framed[1:-1, :-2], (0, 1), 3),
    ]
    found: dict[int, dict[tuple[int, int], set[int]]] = {}
    for beyond, (right, down), direction in sides:
        rows, columns = np.nonzero((inner != beyond) & (inner > 0))
        regions = inner[rows, columns].tolist()
        corners = zip((columns + right).tolist(), (rows + down).tolist(), strict=True)
        for region, corner in zip(regions, corners, strict=True):
            found.setdefault(region, {}).setdefault(corner, set()).add(direction)
    return found


def _follow(edges: dict[tuple[int, int], set[int]], start: tuple[int, int], direction: int) -> Ring:
    """Take one ring out of the edges.

    Where two lines cross it turns left. So it touches no corner twice: holes that share only a
    corner get a ring each.
    """
    ring, corner = [start], start
    while True:
        edges[corner].discard(direction)
        if not edges[corner]:
            del edges[corner]
        corner = (corner[0] + _STEPS[direction][0], corner[1] + _STEPS[direction][1])
        choices = edges.get(corner, set())
        if corner == start and (direction + 3) % 4 not in choices:
            return np.array([*ring, start])
        turned = next(
            (direction + turn) % 4 for turn in (3, 0, 1) if (direction + turn) % 4 in choices
        )
        if turned != direction:
            ring.append(corner)
        direction = turned


def geojson(labels: np.ndarray, colors: np.ndarray, place: Place | None) -> dict[str, Any]:
    """Return regions as a FeatureCollection, with sizes and mean colours as properties.

    Coordinates are those of the coordinate system of the picture (member "crs"), or columns and
    rows from the upper left corner.

    Parameters
    ----------
    labels : ndarray of shape (rows, columns)
    colors : ndarray of shape (regions, bands)
        Mean colour of each region.
    place : Place or None
    """
    sizes = np.bincount(labels.ravel())
    features = [
        {
            "type": "Feature",
            "id": region,
            "properties": {
                "region": region,
                "pixels": int(sizes[region]),
                "color": [round(float(value), 4) for value in colors[region - 1]],
            },
            "geometry": {"type": "Polygon", "coordinates": _coordinates(rings, place)},
        }
        for region, rings in polygons(labels).items()
    ]
    collection: dict[str, Any] = {"type": "FeatureCollection", "features": features}
    if place is not None and place.epsg is not None:
        name = f"urn:ogc:def:crs:EPSG::{place.epsg}"
        collection["crs"] = {"type": "name", "properties": {"name": name}}
    return collection


def _coordinates(rings: list[Ring], place: Place | None) -> list[list[list[float]]]:
    """Return the rings in coordinates; the outer one runs counterclockwise, holes clockwise."""
    placed = []
    for i, ring in enumerate(rings):
        corners = ring if place is None else place.coordinates(ring)
        is_outer = i == 0
        if (signed_area(corners) > 0) != is_outer:
            corners = corners[::-1]
        placed.append(corners.tolist())
    return placed
