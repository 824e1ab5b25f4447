"""Small pictures of all kinds, and what the tests of images share."""

import numpy as np

from modeshift.image.block import make_block
from modeshift.image.climb import climb
from modeshift.image.layout import find_layout
from modeshift.image.plan import Request, make_plan, survey_of


def noise(shape, dtype, seed=0):
    """Return two halves with stripes, and noise."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(60, 200, shape[-1:]) + 40 * (np.indices(shape)[0] > shape[0] // 2)
    values = base + rng.normal(scale=12, size=shape)
    return values.astype(dtype)


PICTURES = {
    "grey": (noise((9, 13), np.uint8), {"range": 15}),
    "two bands": (noise((8, 9, 2), np.uint16), {"channel_axis": -1, "range": (20, 33.3)}),
    "photo": (noise((7, 20, 3), np.uint8), {}),
    "RGB": (noise((3, 10, 9), np.uint8), {"channel_axis": 0, "range": 25, "convert2lab": False}),
    "four bands": (noise((7, 8, 4), np.float32), {"channel_axis": -1}),
    "six bands": (noise((9, 8, 6), np.float64), {"channel_axis": -1, "range": 40.0}),
    "volume": (noise((4, 6, 7), np.int16), {"channel_axis": None, "spatial": 2.2, "range": 17}),
    "uneven": (
        noise((4, 6, 7), float),
        {"channel_axis": None, "spatial": (1.5, 4, 3), "spacing": (2, 1, 1), "range": 20},
    ),
    "row": (noise((1, 40), np.uint8), {"range": 15, "spatial": 20.3}),
    "one pixel": (noise((1, 1), np.uint8), {}),
}


def holes_in(name, seed=1):
    """Return a mask for a picture, with a fifth of the pixels left out."""
    image, parameters = PICTURES[name]
    layout = find_layout(image, parameters.get("channel_axis", "auto"))
    mask = np.random.default_rng(seed).random(layout.shape) > 0.2
    mask.reshape(-1)[0] = True
    return mask


def prepared(image, mask=None, **parameters):
    """Return the plan and the block of a picture."""
    request = Request(**parameters)
    layout = find_layout(image, request.channel_axis)
    pixels = layout.bands_last(image)
    valid = np.ones(pixels.shape[:3], bool) if mask is None else mask.reshape(pixels.shape[:3])
    plan = make_plan(request, layout, lambda: survey_of(pixels, valid))
    return plan, make_block(plan, pixels, mask)


def climbed(plan, block, n_threads=1):
    """Return the ends of all climbs."""
    return climb(block, plan.settings, np.flatnonzero(block.valid), n_threads)


def in_grid(plan, block, ends):
    """Return places, colours and steps in the axes of the twin."""
    n_bands, shape = plan.layout.n_bands, block.shape
    return (
        np.moveaxis(ends.places.reshape(3, *shape), 0, -1),
        np.moveaxis(ends.colours[:n_bands].reshape(n_bands, *shape), 0, -1),
        ends.steps.reshape(shape),
    )


def units_of(plan, block):
    """Return the colours of a block in whole units; 0 where there are no data."""
    inside = block.planes[: plan.layout.n_bands, ..., block.pad : block.pad + block.shape[2]]
    return np.where(block.valid, inside, 0).transpose(1, 2, 3, 0).astype(np.int64)
