"""The deterministic climb equals its twin to the last unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, climbed, holes_in, in_grid, prepared, units_of
from twins import image as twin


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("holes", [False, True])
def test_equals_the_twin(name, holes):
    image, parameters = PICTURES[name]
    plan, block = prepared(image, holes_in(name) if holes else None, **parameters)
    places, colours, steps = in_grid(plan, block, climbed(plan, block))
    settings, valid = plan.settings, block.valid
    wanted = twin.climb(
        units_of(plan, block), valid, settings.unit, np.array(settings.radius),
        settings.reach, settings.quiet, settings.max_iter,
    )  # fmt: skip
    assert_array_equal(places[valid], wanted[0][valid])
    assert_array_equal(colours[valid], wanted[1][valid])
    assert_array_equal(steps[valid], wanted[2][valid])


def test_threads_change_nothing():
    image, parameters = PICTURES["photo"]
    plan, block = prepared(image, **parameters)
    for alone, together in zip(climbed(plan, block), climbed(plan, block, 3), strict=True):
        assert_array_equal(alone, together)
