"""The globe: latitude and longitude in degrees, unit vectors, and kilometres.

Places on a sphere become unit vectors in space, so the date line and the poles are no special case.
The great-circle distance D of two places and the chord c between their vectors belong together:
c = 2 sin(D / 2R). So a ball of great-circle distance is a ball of chords.
"""

from collections.abc import Sequence
from math import pi

import numpy as np

RADIUS = 6371.0088
"""Mean radius of the earth in kilometres (International Union of Geodesy and Geophysics)."""

HALF_WAY = pi * RADIUS
"""Largest distance of two places in kilometres: half the circumference."""

LATITUDE = ("lat", "latitude")
LONGITUDE = ("lon", "lng", "long", "longitude")
"""Names of columns, in any case."""

_EVERYWHERE = 2.0 * (1.0 + 2.0**-40)  # a chord that none exceeds, rounding included
_SLACK = 1e-5  # degrees beyond a pole that rounding of float32 explains


def to_vectors(places: np.ndarray, name: str) -> np.ndarray:
    """Return the unit vectors of latitudes and longitudes in degrees; any longitude is one.

    Parameters
    ----------
    places : ndarray of shape (n, 2)
    name : str
        Name of the places in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.globe import to_vectors
    >>> to_vectors(np.array([[0.0, 0.0], [0.0, 90.0], [90.0, 0.0]]), "places")
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    if places.shape[1] != 2:
        raise ValueError(
            f"{name} must have two columns with metric='haversine', latitude and longitude, got "
            f"{places.shape[1]}."
        )
    latitude, longitude = places.astype(np.float64, copy=False).T
    _check_latitudes(latitude, longitude, name)
    sine, cosine = _sine_and_cosine(np.clip(latitude, -90.0, 90.0))
    east, north = _sine_and_cosine(longitude)
    return np.column_stack([cosine * north, cosine * east, sine])


def to_places(vectors: np.ndarray) -> np.ndarray:
    """Return latitudes and longitudes in degrees, the latter from -180 to 180.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.globe import to_places
    >>> to_places(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    array([[ 0.,  0.],
           [ 0., 90.]])
    """
    x, y, z = vectors.T
    return np.degrees(np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]))


def chords_of(distances: np.ndarray | float) -> np.ndarray:
    """Return the chords of distances in kilometres; that of ``HALF_WAY`` and more covers all."""
    distances = np.asarray(distances, dtype=np.float64)
    chords = 2.0 * np.sin(np.minimum(distances / RADIUS, pi) / 2.0)
    chords = np.where(distances >= HALF_WAY, _EVERYWHERE, chords)
    return np.where(np.isinf(distances), np.inf, chords)


def distance_of(chord: float) -> float:
    """Return the distance in kilometres of the ends of a chord, the inverse of ``chords_of``."""
    return float(2.0 * RADIUS * np.arcsin(min(chord / 2.0, 1.0)))


def distances(places: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return great-circle distances in kilometres, row by row.

    With the unit vectors u and v a distance is ``2 R arctan(|u - v| / |u + v|)``, which is exact to
    rounding for places that are close and for places that are opposite.

    Parameters
    ----------
    places, others : array-like of shape (n, 2)
        Latitudes and longitudes in degrees. One of the two may have a single row.

    Examples
    --------
    >>> from modeshift.globe import distances
    >>> distances([[52.52, 13.41]], [[48.86, 2.35], [40.71, -74.01]]).round()  # from Berlin
    array([ 878., 6386.])
    """
    u = to_vectors(np.asarray(places, dtype=np.float64), "places")
    v = to_vectors(np.asarray(others, dtype=np.float64), "others")
    near, far = np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
    return 2.0 * RADIUS * np.arctan2(near, far)


def find_columns(names: Sequence[str]) -> list[str] | None:
    """Return the names of the columns of latitude and longitude; None if there are no such names.

    Raises
    ------
    ValueError
        If there is only one of the two, or several columns for one.
    """
    found = [[each for each in names if _is_one_of(each, known)] for known in (LATITUDE, LONGITUDE)]
    if not any(found):
        return None
    for what, columns, known in zip(
        ("latitude", "longitude"), found, (LATITUDE, LONGITUDE), strict=True
    ):
        if len(columns) != 1:
            there = f"{len(columns)} columns ({', '.join(columns)})" if columns else "no column"
            raise ValueError(
                f"there is {there} of {what}; name one column {' or '.join(known)}, and no other."
            )
    return [columns[0] for columns in found]


def _is_one_of(name: object, known: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name.strip().lower() in known


def _check_latitudes(latitude: np.ndarray, longitude: np.ndarray, name: str) -> None:
    beyond = np.flatnonzero(np.abs(latitude) > 90.0 + _SLACK)
    if beyond.size == 0:
        return
    swapped = np.abs(longitude).max() <= 90.0
    raise ValueError(
        f"{name} has the latitude {latitude[beyond[0]]:g} in row {beyond[0]}, and latitudes are "
        "between -90 and 90 degrees. The columns are latitude and longitude, in this order"
        f"{'; they seem to be swapped.' if swapped else '.'}"
    )


def _sine_and_cosine(degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sine and cosine, exact at multiples of 90 degrees, and the same after a full turn."""
    degrees = np.fmod(degrees, 360.0)  # exact
    quarters = np.rint(degrees / 90.0)
    rest = np.radians(degrees - 90.0 * quarters)
    sine, cosine = np.sin(rest), np.cos(rest)
    quarter = quarters.astype(np.int64) & 3
    odd, turned = quarter % 2 == 1, quarter >= 2
    sines = np.where(odd, cosine, sine)
    cosines = np.where(odd, -sine, cosine)
    return np.where(turned, -sines, sines) + 0.0, np.where(turned, -cosines, cosines) + 0.0
