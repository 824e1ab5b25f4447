"""Make ``src/modeshift/plots/land.npz``, the land on the maps, from a TopoJSON file.

The file is ``land-110m.json`` of the npm package world-atlas 2 (ISC licence), which holds the land
of Natural Earth 4.1 at 1:110 million (public domain, naturalearthdata.com).

    npm pack world-atlas && tar xzf world-atlas-*.tgz
    python tools/land.py package/land-110m.json

Rings are written one after another, as whole hundredths of a degree: longitude and latitude.
Longitudes go on beyond 180 degrees where a ring crosses the date line. A ring around a pole is
closed through the pole.
"""

import json
import sys
from itertools import accumulate
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "modeshift" / "plots" / "land.npz"
HUNDREDTHS = 100


def arcs_of(topology):
    """Return the arcs in degrees: they are stored as differences of whole numbers."""
    scale, offset = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    return [np.cumsum(arc, axis=0) * scale + offset for arc in topology["arcs"]]


def ring_of(numbers, arcs):
    """Join arcs into a ring; ``~k`` is arc k backwards. The first point is not repeated."""
    parts = [arcs[k] if k >= 0 else arcs[~k][::-1] for k in numbers]
    return np.concatenate([part[:-1] for part in parts])


def unrolled(ring):
    """Return a ring with longitudes that do not jump; one around a pole ends at the pole."""
    longitude = np.degrees(np.unwrap(np.radians(np.append(ring[:, 0], ring[0, 0]))))
    longitude -= 360.0 * np.rint((longitude.min() + longitude.max()) / 720.0)
    ring = np.column_stack([longitude, np.append(ring[:, 1], ring[0, 1])])
    if abs(ring[-1, 0] - ring[0, 0]) < 1:
        return ring[:-1]
    pole = 90.0 * np.sign(ring[:, 1].mean())
    return np.concatenate([ring, [[ring[-1, 0], pole], [ring[0, 0], pole]]])


def main(path):
    """Convert the file."""
    topology = json.loads(Path(path).read_text())
    arcs = arcs_of(topology)
    (land,) = topology["objects"]["land"]["geometries"]
    rings = [unrolled(ring_of(each, arcs)) for polygon in land["arcs"] for each in polygon]
    points = np.rint(np.concatenate(rings) * HUNDREDTHS).astype(np.int16)
    ends = np.array(list(accumulate(map(len, rings))), dtype=np.int32)
    np.savez_compressed(TARGET, points=points, ends=ends)
    print(f"{len(rings)} rings, {len(points)} points, {TARGET.stat().st_size:,} bytes: {TARGET}")


if __name__ == "__main__":
    main(sys.argv[1])
