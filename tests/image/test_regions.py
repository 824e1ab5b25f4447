"""Regions, textures, contrasts and the hierarchy equal their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from image.pictures import PICTURES, climbed, holes_in, in_grid, prepared, units_of
from modeshift.image.descriptors import describe, sides_of
from modeshift.image.merging import absorb_small, merge_all
from modeshift.image.segmenting import regions_of
from twins import image as twin

NAMES = ["grey", "photo", "six bands", "volume", "row", "one pixel"]


def found(name, holes=False):
    image, parameters = PICTURES[name]
    plan, block = prepared(image, holes_in(name) if holes else None, **parameters)
    ends = climbed(plan, block)
    return plan, block, in_grid(plan, block, ends), regions_of(plan, block, ends)[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("holes", [False, True])
def test_regions_touch_and_have_close_modes(name, holes):
    plan, block, (places, colours, _), regions = found(name, holes)
    settings = plan.settings
    wanted = twin.regions(
        block.valid, places, colours.astype(int), np.array(settings.radius), settings.reach
    )
    assert_array_equal(regions.labels + 1, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_threads_change_no_region_and_no_descriptor(name):
    image, parameters = PICTURES[name]
    plan, block = prepared(image, holes_in(name), **parameters)
    for alone, together in zip(describe(plan, block), describe(plan, block, 3), strict=True):
        assert_array_equal(alone, together)
    ends = climbed(plan, block)
    alone, _ = regions_of(plan, block, ends)
    together, _ = regions_of(plan, block, ends, n_threads=3)
    assert_array_equal(alone.labels, together.labels)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("holes", [False, True])
def test_the_graph_adds_up_pixels(name, holes):
    plan, block, (_, colours, _), regions = found(name, holes)
    graph, labels = regions.graph, regions.labels
    textures, _ = describe(plan, block)
    for region in range(len(graph.sizes)):
        inside = labels == region
        assert graph.sizes[region] == inside.sum()
        assert graph.firsts[region] == np.flatnonzero(inside)[0]
        wanted = np.concatenate([colours[inside].sum(axis=0), textures[:, inside].sum(axis=1)])
        assert_array_equal(graph.sums[region], wanted)
    boxes = [max(1, round(3 / 7 * r)) for r in plan.radii]
    wider = [max(1, round(5 / 7 * r)) for r in plan.radii]
    boxes, wider = (
        [side * (n > 1) for side, n in zip(sides, block.shape, strict=True)]
        for sides in (boxes, wider)
    )
    units = units_of(plan, block)
    textures_there, contrasts = twin.textures_and_contrasts(
        units, block.valid, plan.colours.range_units, boxes, wider
    )
    assert sides_of(plan) == tuple(boxes)
    for texture, wanted in zip(textures, textures_there, strict=True):
        assert_array_equal(texture[block.valid], wanted[block.valid])
    borders = {}
    for (pixel, axis), contrast in contrasts.items():
        other = list(pixel)
        other[axis] += 1
        pair = sorted((labels[pixel], labels[tuple(other)]))
        if pair[0] >= 0 and pair[0] != pair[1]:
            length, total = borders.get(tuple(pair), (0, 0))
            borders[tuple(pair)] = (length + 1, total + contrast)
    measured = zip(graph.lengths.tolist(), graph.contrasts.tolist(), strict=True)
    there = dict(zip(map(tuple, graph.edges.tolist()), measured, strict=True))
    assert there == {(int(a), int(b)): value for (a, b), value in borders.items()}


@pytest.mark.parametrize("name", ["grey", "photo", "volume", "row"])
@pytest.mark.parametrize("min_size", [0, 4, 30, 10**6])
@pytest.mark.parametrize("holes", [False, True])
def test_small_regions_join_the_nearest_colour(name, min_size, holes):
    plan, _, (_, colours, _), regions = found(name, holes)
    owners = absorb_small(regions.graph, plan.layout.n_bands, min_size)
    labels = np.append(owners + 1, 0)[regions.labels]
    wanted = twin.absorb_small(regions.labels + 1, colours.astype(float), min_size)
    assert_array_equal(labels, wanted)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("holes", [False, True])
def test_the_cheapest_pair_joins_first(name, holes):
    plan, _, _, regions = found(name, holes)
    graph, units = regions.graph, plan.colours.range_units
    merges = merge_all(graph, units, plan.window)
    measured = zip(graph.lengths, graph.contrasts / units, strict=True)
    pairs, heights = twin.merge_all(
        dict(enumerate(graph.sizes)),
        dict(enumerate(graph.sums / units)),
        dict(zip(map(tuple, graph.edges.tolist()), measured, strict=True)),
        plan.window,
    )
    assert merges.pairs.tolist() == [list(pair) for pair in pairs]
    assert_allclose(merges.heights, heights, rtol=1e-12)
