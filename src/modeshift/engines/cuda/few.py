"""The kernels in few dimensions: registers, no tensor cores, most tiles skipped."""

import triton
import triton.language as tl

from modeshift.engines.rule import NO_DIRECTION as _NO_DIRECTION

NO_DIRECTION = tl.constexpr(_NO_DIRECTION)


@triton.jit(do_not_specialize=["n", "n_places", "n_tiles"])
def box_tiles(
    points, weights, x, worths, lows, highs, means, masses, n, n_places, n_tiles,
    D: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write a tile of points by columns, and its box, mean and mass.

    Rows from the n-th on are padding without weight.
    """
    tile = tl.program_id(0)
    rows = tile * TILE + tl.arange(0, TILE)
    dtype = x.dtype.element_ty
    here = tl.minimum(rows, n - 1).to(tl.int64)
    worth = tl.load(weights + here, mask=rows < n, other=0.0).to(dtype)
    mass = tl.sum(worth, axis=0)
    for k in tl.static_range(D):
        value = tl.load(points + here * D + k).to(dtype)
        tl.store(x + k * n_places + rows, value)
        low = tl.min(value, axis=0)
        offset = tl.sum((value - low) * worth, axis=0) / tl.where(mass > 0.0, mass, 1.0)
        at = k * n_tiles + tile
        tl.store(lows + at, low)
        tl.store(highs + at, tl.max(value, axis=0))
        tl.store(means + at, low + offset)
    tl.store(worths + rows, worth)
    tl.store(masses + tile, mass)


@triton.jit(do_not_specialize=["n_tiles", "n_groups"])
def box_groups(
    tile_lows, tile_highs, tile_means, tile_masses, lows, highs, means, masses, n_tiles, n_groups,
    D: tl.constexpr, FAN: tl.constexpr,
):  # fmt: skip
    """Write the box, mean and mass of a group of tiles."""
    group = tl.program_id(0)
    tiles = group * FAN + tl.arange(0, FAN)
    worth = tl.load(tile_masses + tiles)
    mass = tl.sum(worth, axis=0)
    for k in tl.static_range(D):
        low = tl.min(tl.load(tile_lows + k * n_tiles + tiles), axis=0)
        # Tiles that only fill up the group are nowhere: their means must not be the corner.
        corner = tl.where(mass > 0.0, low, 0.0)
        mean = tl.where(worth > 0.0, tl.load(tile_means + k * n_tiles + tiles), corner)
        offset = tl.sum((mean - corner) * worth, axis=0) / tl.where(mass > 0.0, mass, 1.0)
        at = k * n_groups + group
        tl.store(lows + at, low)
        tl.store(highs + at, tl.max(tl.load(tile_highs + k * n_tiles + tiles), axis=0))
        tl.store(means + at, corner + offset)
    tl.store(masses + group, mass)


@triton.jit(do_not_specialize=["m", "n", "n_tiles", "n_flocks", "most"])
def climb_few(
    q, x, weights,
    tile_lows, tile_highs, tile_means, tile_masses,
    group_lows, group_highs, group_means, group_masses,
    ends, masses, squares, steps, limits, m, n, n_tiles, n_flocks, most,
    D: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, FAN: tl.constexpr,
    GAUSSIAN: tl.constexpr, SPHERE: tl.constexpr,
):  # fmt: skip
    """Take up to ``most`` steps of each place, until a step is at most ``limits[4]`` (squared).

    Writes the end, and of the last step the mass and the squared shift; and the number of steps.
    """
    block = tl.program_id(0)
    rows = block * BLOCK + tl.arange(0, BLOCK)
    here = tl.minimum(rows, m - 1).to(tl.int64)
    quiet = tl.load(limits + 4)
    spot = ()
    for k in tl.static_range(D):
        spot = spot + (tl.load(q + here * D + k),)
    moving = rows < m
    n_steps = tl.zeros((BLOCK,), tl.int32)
    last_mass = tl.zeros((BLOCK,), x.dtype.element_ty)
    last_square = tl.zeros((BLOCK,), q.dtype.element_ty)
    step = 0
    while (step < most) & (tl.max(moving.to(tl.int32), axis=0) > 0):
        sums, mass = _sums_near(
            spot, moving, x, weights, tile_lows, tile_highs, tile_means, tile_masses,
            group_lows, group_highs, group_means, group_masses, limits, n, n_tiles, 0, n_flocks,
            D, BLOCK, TILE, FAN, GAUSSIAN,
        )  # fmt: skip
        mean = _means_of(spot, sums, mass, D, SPHERE)
        square = _square_of(spot, mean, D)
        new = ()
        for k in tl.static_range(D):
            new = new + (tl.where(moving, mean[k], spot[k]),)
        spot = new
        last_mass = tl.where(moving, mass, last_mass)
        last_square = tl.where(moving, square, last_square)
        n_steps += moving.to(tl.int32)
        moving = moving & (square > quiet)
        step += 1
    for k in tl.static_range(D):
        tl.store(ends + here * D + k, spot[k], mask=rows < m)
    tl.store(masses + here, last_mass, mask=rows < m)
    tl.store(squares + here, last_square, mask=rows < m)
    tl.store(steps + here, n_steps, mask=rows < m)


@triton.jit(do_not_specialize=["m", "n", "n_tiles", "n_flocks"])
def sweep_few(
    q, x, weights,
    tile_lows, tile_highs, tile_means, tile_masses,
    group_lows, group_highs, group_means, group_masses,
    sums, masses, limits, m, n, n_tiles, n_flocks,
    D: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, FAN: tl.constexpr,
    GAUSSIAN: tl.constexpr,
):  # fmt: skip
    """Add up the offsets to the points near each place, in a share of the flocks."""
    block = tl.program_id(0)
    share = tl.program_id(1)
    n_shares = tl.num_programs(1)
    rows = block * BLOCK + tl.arange(0, BLOCK)
    here = tl.minimum(rows, m - 1).to(tl.int64)
    spot = ()
    for k in tl.static_range(D):
        spot = spot + (tl.load(q + here * D + k),)
    total, mass = _sums_near(
        spot, rows < m, x, weights, tile_lows, tile_highs, tile_means, tile_masses,
        group_lows, group_highs, group_means, group_masses, limits, n, n_tiles,
        (n_flocks * share) // n_shares, (n_flocks * (share + 1)) // n_shares,
        D, BLOCK, TILE, FAN, GAUSSIAN,
    )  # fmt: skip
    out = share * m + here
    for k in tl.static_range(D):
        tl.store(sums + out * D + k, total[k], mask=rows < m)
    tl.store(masses + out, mass, mask=rows < m)


@triton.jit(do_not_specialize=["m", "n_shares"])
def finish_few(
    q, sums, masses, ends, total_masses, squares, m, n_shares,
    D: tl.constexpr, BLOCK: tl.constexpr, SPHERE: tl.constexpr,
):  # fmt: skip
    """Join the shares of a sweep: means, masses and squared shifts."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.minimum(rows, m - 1).to(tl.int64)
    spot = ()
    total = ()
    for k in tl.static_range(D):
        spot = spot + (tl.load(q + here * D + k),)
        total = total + (tl.zeros((BLOCK,), sums.dtype.element_ty),)
    mass = tl.zeros((BLOCK,), sums.dtype.element_ty)
    for share in range(n_shares):
        out = share * m + here
        mass += tl.load(masses + out)
        new = ()
        for k in tl.static_range(D):
            new = new + (total[k] + tl.load(sums + out * D + k),)
        total = new
    mean = _means_of(spot, total, mass, D, SPHERE)
    for k in tl.static_range(D):
        tl.store(ends + here * D + k, mean[k], mask=rows < m)
    tl.store(total_masses + here, mass, mask=rows < m)
    tl.store(squares + here, _square_of(spot, mean, D), mask=rows < m)


@triton.jit
def _sums_near(
    spot, wanted, x, weights, tile_lows, tile_highs, tile_means, tile_masses,
    group_lows, group_highs, group_means, group_masses, limits, n, n_tiles, begin, end,
    D: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, FAN: tl.constexpr,
    GAUSSIAN: tl.constexpr,
):  # fmt: skip
    """Add up the offsets to the points near each wanted place, weighted, and their weights.

    Points and boxes are stored by columns: coordinate k of point i is x[k * n + i]. FAN tiles are a
    group, FAN groups a flock. The boxes of a flock's groups, and then of a group's tiles, are
    compared with the box of the wanted places. Boxes beyond ``outer_reach`` are skipped; boxes
    within ``inner_reach`` count by their mean and mass (not for a Gaussian).
    """
    fan = tl.arange(0, FAN)
    n_groups = n_tiles // FAN
    dtype = x.dtype.element_ty
    # Numbers are passed as arrays, because Triton would make them float32.
    reach = tl.load(limits)
    inner_reach = tl.load(limits + 1)
    outer_reach = tl.load(limits + 2)
    sharpness = tl.load(limits + 3)
    at = ()
    low = ()
    high = ()
    total = ()
    whole = ()
    for k in tl.static_range(D):
        here = spot[k].to(dtype)
        at = at + (here[:, None],)
        low = low + (tl.min(tl.where(wanted, here, float("inf")), axis=0),)
        high = high + (tl.max(tl.where(wanted, here, float("-inf")), axis=0),)
        total = total + (tl.zeros((BLOCK, TILE), dtype),)
        whole = whole + (tl.zeros((FAN,), dtype),)
    mass = tl.zeros((BLOCK, TILE), dtype)
    whole_mass = tl.zeros((FAN,), dtype)
    for flock in range(begin, end):
        groups = flock * FAN + fan
        near, far = _box_squares(low, high, group_lows, group_highs, n_groups, groups, D)
        inside = far <= inner_reach
        whole, whole_mass = _take_whole(
            whole, whole_mass, low, inside, group_means, group_masses, n_groups, groups, D
        )
        group_bits = tl.sum(
            ((near <= outer_reach) & (far > inner_reach)).to(tl.int32) << fan, axis=0
        )
        for group in range(FAN):
            if (group_bits >> group) & 1:
                tiles = (flock * FAN + group) * FAN + fan
                near, far = _box_squares(low, high, tile_lows, tile_highs, n_tiles, tiles, D)
                inside = far <= inner_reach
                whole, whole_mass = _take_whole(
                    whole, whole_mass, low, inside, tile_means, tile_masses, n_tiles, tiles, D
                )
                bits = tl.sum(
                    ((near <= outer_reach) & (far > inner_reach)).to(tl.int32) << fan, axis=0
                )
                for tile in range(FAN):
                    if (bits >> tile) & 1:
                        points = ((flock * FAN + group) * FAN + tile) * TILE + tl.arange(0, TILE)
                        square = tl.zeros((BLOCK, TILE), dtype)
                        gaps = ()
                        for k in tl.static_range(D):
                            gap = tl.load(x + k * n + points)[None, :] - at[k]
                            gaps = gaps + (gap,)
                            square += gap * gap
                        worth = tl.load(weights + points)[None, :]
                        if GAUSSIAN:
                            worth = worth * tl.exp2(square * sharpness)
                        worth = tl.where(square <= reach, worth, 0.0)
                        mass += worth
                        new = ()
                        for k in tl.static_range(D):
                            new = new + (total[k] + worth * gaps[k],)
                        total = new
    inside_mass = tl.sum(whole_mass, axis=0)
    sums = ()
    for k in tl.static_range(D):
        offset = tl.reshape(at[k], (BLOCK,)) - low[k]
        sums = sums + (tl.sum(total[k], axis=1) + tl.sum(whole[k], axis=0) - inside_mass * offset,)
    return sums, tl.sum(mass, axis=1) + inside_mass


@triton.jit
def _means_of(spot, sums, mass, D: tl.constexpr, SPHERE: tl.constexpr):
    """Return the means of the offsets from places. Without mass a place stays where it is."""
    alone = mass <= 0.0
    share = 1.0 / tl.where(alone, 1.0, mass)
    means = ()
    for k in tl.static_range(D):
        means = means + (spot[k] + tl.where(alone, 0.0, sums[k] * share).to(spot[k].dtype),)
    if SPHERE:
        square = tl.zeros_like(spot[0])
        for k in tl.static_range(D):
            square += means[k] * means[k]
        length = tl.sqrt(square)
        clear = length > NO_DIRECTION
        back = ()
        for k in tl.static_range(D):
            back = back + (tl.where(clear, means[k] / tl.where(clear, length, 1.0), spot[k]),)
        means = back
    return means


@triton.jit
def _square_of(spot, means, D: tl.constexpr):
    """Return the squared distances of two lists of places."""
    square = tl.zeros_like(spot[0])
    for k in tl.static_range(D):
        gap = means[k] - spot[k]
        square += gap * gap
    return square


@triton.jit
def _box_squares(low, high, lows, highs, n_boxes, boxes, D: tl.constexpr):
    """Return the smallest and the largest squared distance between a box and other boxes."""
    near = (boxes * 0).to(lows.dtype.element_ty)
    far = near
    for k in tl.static_range(D):
        other_low = tl.load(lows + k * n_boxes + boxes)
        other_high = tl.load(highs + k * n_boxes + boxes)
        gap = tl.maximum(tl.maximum(other_low - high[k], low[k] - other_high), 0.0)
        span = tl.maximum(other_high - low[k], high[k] - other_low)
        near += gap * gap
        far += span * span
    return near, far


@triton.jit
def _take_whole(whole, whole_mass, low, inside, means, masses, n_boxes, boxes, D: tl.constexpr):
    """Add mass and moment (from the corner ``low``) of boxes that count as a whole."""
    taken = tl.where(inside, tl.load(masses + boxes), 0.0)
    new = ()
    for k in tl.static_range(D):
        new = new + (whole[k] + taken * (tl.load(means + k * n_boxes + boxes) - low[k]),)
    return new, whole_mass + taken
