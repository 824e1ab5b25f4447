"""Tiles give the same regions as the image in one piece, to the pixel."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, climbed, holes_in, noise, prepared
from modeshift.image import tiles
from modeshift.image.layout import find_layout
from modeshift.image.segmenting import regions_of


def solver(plan, pixels, mask, seen):
    def solve(asked):
        seen.append(len(asked))
        return [
            tiles.solve_tile(plan, pixels[box], None if mask is None else mask[box], core, box)
            for core, box in asked
        ]

    return solve


@pytest.mark.parametrize("name", ["grey", "photo", "six bands", "volume", "uneven", "row"])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("margin", [0.4, 12])
def test_tiles_change_nothing(name, holes, margin, monkeypatch):
    monkeypatch.setattr(tiles, "_MARGIN", margin)
    image, parameters = PICTURES[name]
    mask = holes_in(name) if holes else None
    parameters = {"spatial": 2.0, **parameters}
    plan, block = prepared(image, mask, **parameters)
    whole, _ = regions_of(plan, block, climbed(plan, block))
    pixels = find_layout(image, parameters.get("channel_axis", "auto")).bands_last(image)
    tiling = tiles.even_tiling(block.shape, 3)
    seen = []
    mask = None if mask is None else mask.reshape(block.shape)
    solved = tiles.solve_all(plan, tiling, solver(plan, pixels, mask, seen))
    graph, owners = tiles.stitch(solved)
    for part, wanted in zip(graph, whole.graph, strict=True):
        assert_array_equal(part, wanted)
    for at, core in tiling.cores():
        shape = tuple(part.stop - part.start for part in core)
        table = np.append(owners[at], -1)
        assert_array_equal(table[tiles.unpack(solved[at].packed, shape)], whole.labels[core])
    if name == "row" and margin < 1:
        assert len(seen) > 1  # climbs have left the first blocks


def test_a_tile_that_travels_holds_no_labels_but_those_of_its_sides():
    picture = noise((60, 70), np.uint8)
    plan, _ = prepared(picture, spatial=2.0)
    core = (slice(0, 1), slice(20, 40), slice(30, 60))
    whole = (slice(0, 1), slice(0, 60), slice(0, 70))
    tile = tiles.solve_tile(plan, find_layout(picture, None).bands_last(picture), None, core, whole)
    assert tile.faces[0] is None
    assert [tile.faces[axis].size for axis in (1, 2)] == [30, 20]
    assert [None if seam is None else seam.labels.size for seam in tile.seams] == [None, 30, 20]
