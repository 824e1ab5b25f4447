"""Where a GeoTIFF lies on the earth (GeoTIFF 1.1, OGC 19-008)."""

from typing import Any, NamedTuple

import numpy as np

_SCALE, _TIEPOINT, _MATRIX, _KEYS = 33550, 33922, 34264, 34735
_TAGS = (_SCALE, _TIEPOINT, _MATRIX, _KEYS, 34736, 34737)
_PROJECTED, _GEOGRAPHIC, _RASTER_TYPE = 3072, 2048, 1025
_PIXEL_IS_POINT = 2
_USER_DEFINED = 32767


class Place(NamedTuple):
    """The map from pixels to coordinates: (x, y) = offset + matrix (column, row).

    Attributes
    ----------
    matrix : ndarray of shape (2, 2)
    offset : ndarray of shape (2,)
        Coordinates of the upper left corner of the first pixel.
    epsg : int or None
        Number of the coordinate system, if it has one.
    """

    matrix: np.ndarray
    offset: np.ndarray
    epsg: int | None

    def coordinates(self, corners: np.ndarray) -> np.ndarray:
        """Return the coordinates of corners of pixels, given as (column, row)."""
        return corners @ self.matrix.T + self.offset


def place_of(page: Any) -> Place | None:
    """Return the place of a page of tifffile; None if the file does not say it."""
    tags = page.tags
    keys = _keys_of(tags)
    if _MATRIX in tags:
        whole = np.array(tags[_MATRIX].value, dtype=float).reshape(4, 4)
        matrix, offset = whole[:2, :2], whole[:2, 3]
    elif _SCALE in tags and _TIEPOINT in tags:
        width, height = tags[_SCALE].value[:2]
        column, row, _, x, y = tags[_TIEPOINT].value[:5]
        matrix = np.array([[width, 0.0], [0.0, -height]])
        offset = np.array([x, y]) - matrix @ np.array([column, row])
    else:
        return None
    if keys.get(_RASTER_TYPE) == _PIXEL_IS_POINT:
        offset = offset - matrix @ np.array([0.5, 0.5])
    epsg = keys.get(_PROJECTED, keys.get(_GEOGRAPHIC))
    return Place(matrix, offset, None if epsg in (None, 0, _USER_DEFINED) else epsg)


def _keys_of(tags: Any) -> dict[int, int]:
    """Return the keys of the GeoKeyDirectory whose values are in it."""
    if _KEYS not in tags:
        return {}
    entries = np.array(tags[_KEYS].value, dtype=int).reshape(-1, 4)[1:]
    return {int(key): int(value) for key, where, _, value in entries if where == 0}


def place_tags(page: Any) -> list[tuple]:
    """Return the tags of the place, for another file of the same pixels."""
    return [
        (tag.code, int(tag.dtype), tag.count, tag.value, True)
        for tag in (page.tags.get(code) for code in _TAGS)
        if tag is not None
    ]
