"""Kernels around a sweep in many dimensions: rows for tensor cores, lists of tiles, means."""

import triton
import triton.language as tl

from modeshift.engines.cuda.few import NO_DIRECTION


@triton.jit(do_not_specialize=["n"])
def split_tiles(
    rows, weights, centre, numbers, high, low, halves, centres, centre_squares, radii, largest,
    n, d, width,
    SIZE: tl.constexpr, STEP: tl.constexpr, FAR: tl.constexpr, FAST: tl.constexpr,
    WEIGHTED: tl.constexpr,
):  # fmt: skip
    """Centre and scale the rows of a tile, round them to 16 bits, and put a ball around them.

    ``numbers`` holds the factor of coordinates. With WEIGHTED, rows are multiplied by weights. Rows
    from the n-th on, which repeat row n - 1, and rows with a coordinate of FAR or more get an
    infinite half square: they are near nothing.

    Of a tile it writes the centre of the ball, the square of its length, the radius, and the
    largest squared length of the rows.
    """
    tile = tl.program_id(0).to(tl.int64)
    numbered = tile * SIZE + tl.arange(0, SIZE)
    here = tl.minimum(numbered, n - 1)
    factor = tl.load(numbers)
    if WEIGHTED:
        factor = (tl.load(weights + here).to(factor.dtype) * factor)[:, None]
    square = tl.zeros((SIZE,), tl.float64)
    gap_square = tl.zeros((SIZE,), tl.float32)
    centre_square = tl.zeros((STEP,), tl.float64)
    far = tl.zeros((SIZE,), tl.int32)
    for begin in range(0, width, STEP):
        k = begin + tl.arange(0, STEP)
        value = tl.load(rows + here[:, None] * d + k[None, :], mask=(k < d)[None, :], other=0.0)
        value = (value - tl.load(centre + k, mask=k < d, other=0.0)[None, :]) * factor
        fits = tl.abs(value) < FAR
        far = tl.maximum(far, 1 - tl.min(fits.to(tl.int32), axis=1))
        value = tl.where(fits, value, 0.0)
        if FAST:  # lengths of the rounded rows: the distance of a point to itself must be 0
            value = value.to(tl.float32).to(tl.bfloat16).to(tl.float32).to(value.dtype)
        first = value.to(high.dtype.element_ty)
        at = numbered[:, None] * width + k[None, :]
        tl.store(high + at, first)
        square += tl.sum((value * value).to(tl.float64), axis=1)
        if not FAST:
            tl.store(low + at, (value - first.to(value.dtype)).to(low.dtype.element_ty))
        middle = (tl.sum(value, axis=0) / SIZE).to(tl.float32)
        tl.store(centres + tile * width + k, middle)
        centre_square += middle.to(tl.float64) * middle.to(tl.float64)
        gap = (value - middle.to(value.dtype)[None, :]).to(tl.float32)
        gap_square += tl.sum(gap * gap, axis=1)
    half = (0.5 * square).to(tl.float32)
    half = tl.where((far == 0) & (numbered < n), half, float("inf"))
    tl.store(halves + numbered, half)
    tl.store(centre_squares + tile, tl.sum(centre_square, axis=0))
    tl.store(radii + tile, tl.sqrt(tl.max(gap_square, axis=0)))
    tl.store(largest + tile, tl.max(tl.where(half < float("inf"), 2.0 * half, 0.0), axis=0))


@triton.jit(do_not_specialize=["n_tiles"])
def list_tiles(
    products, block_squares, tile_squares, block_radii, tile_radii, limits, counts, listed, n_tiles,
    ROUNDING: tl.constexpr, CANCELLED: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """List the tiles whose ball comes within reach of the ball of a block.

    ``products`` are those of the centres. What overflows counts as near.
    """
    block = tl.program_id(0).to(tl.int64)
    ours = tl.load(block_squares + block)
    radius = tl.load(block_radii + block) + tl.load(limits)
    found = 0
    for begin in range(0, n_tiles, STEP):
        tile = begin + tl.arange(0, STEP)
        real = tile < n_tiles
        squares = ours + tl.load(tile_squares + tile, mask=real, other=0.0)
        product = tl.load(products + block * n_tiles + tile, mask=real, other=0.0)
        limit = (1.0 + ROUNDING) * (radius + tl.load(tile_radii + tile, mask=real, other=0.0))
        beyond = squares - 2.0 * product > limit * limit + CANCELLED * squares
        near = (real & (beyond == 0)).to(tl.int32)
        place = found + tl.cumsum(near, axis=0) - near
        tl.store(listed + block * n_tiles + place, tile, mask=near > 0)
        found += tl.sum(near, axis=0)
    tl.store(counts + block, found)


@triton.jit(do_not_specialize=["m", "n_places", "n_shares", "group", "stride"])
def finish_many(
    q, centres, sums, masses, ends, totals, squares, m, n_places, n_shares, d, width, unit, group,
    stride, SIZE: tl.constexpr, STEP: tl.constexpr, SPHERE: tl.constexpr,
):  # fmt: skip
    """Join the shares of a sweep: means, masses and squared shifts.

    Sums are relative to a centre: one for all places (``stride`` 0), or one for each group of
    places. Without mass a place stays where it is.
    """
    rows = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    here = tl.minimum(rows, m - 1).to(tl.int64)
    real = (rows < m)[:, None]
    dtype = q.dtype.element_ty
    mass = tl.zeros((SIZE,), tl.float32)
    for share in range(n_shares):
        mass += tl.load(masses + share * n_places + here)
    tl.store(totals + here, mass, mask=rows < m)
    alone = mass <= 0.0
    centre = centres + (here // group) * stride
    worth = (1.0 / (unit * tl.where(alone, 1.0, mass))).to(dtype)
    if SPHERE:
        square = tl.zeros((SIZE,), dtype)
        for begin in range(0, d, STEP):
            k = begin + tl.arange(0, STEP)
            mean = _means(q, centre, sums, here, k, alone, worth, n_places, n_shares, d, width)
            square += tl.sum(mean * mean, axis=1)
        length = tl.sqrt(square)
        clear = length > NO_DIRECTION
        length = tl.where(clear, length, 1.0)
    shift = tl.zeros((SIZE,), dtype)
    for begin in range(0, d, STEP):
        k = begin + tl.arange(0, STEP)
        at = here[:, None] * d + k[None, :]
        mean = _means(q, centre, sums, here, k, alone, worth, n_places, n_shares, d, width)
        place = tl.load(q + at, mask=(k < d)[None, :], other=0.0)
        if SPHERE:
            mean = tl.where(clear[:, None], mean / length[:, None], place)
        tl.store(ends + at, mean, mask=real & (k < d)[None, :])
        shift += tl.sum((mean - place) * (mean - place), axis=1)
    tl.store(squares + here, shift, mask=rows < m)


@triton.jit
def _means(q, centre, sums, here, k, alone, worth, n_places, n_shares, d, width):
    """Return some columns of the means."""
    inside = (k < d)[None, :]
    offset = tl.zeros((here.shape[0], k.shape[0]), tl.float32)
    for share in range(n_shares):
        at = (share * n_places + here)[:, None] * width + k[None, :]
        offset += tl.load(sums + at, mask=inside, other=0.0)
    middle = tl.load(centre[:, None] + k[None, :], mask=inside, other=0.0)
    mean = middle + offset.to(worth.dtype) * worth[:, None]
    place = tl.load(q + here[:, None] * d + k[None, :], mask=inside, other=0.0)
    return tl.where(alone[:, None], place, mean)
