"""The kernel of a sweep in few dimensions: registers, no tensor cores, most tiles skipped."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "n", "n_tiles", "n_flocks"])
def sweep_few(
    q, x, weights, q_lows, q_highs,
    tile_lows, tile_highs, tile_means, tile_masses,
    group_lows, group_highs, group_means, group_masses,
    sums, masses, limits, m, n, n_tiles, n_flocks,
    D: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, FAN: tl.constexpr,
    GAUSSIAN: tl.constexpr,
):  # fmt: skip
    """Add up the offsets to the points near each place, weighted, and their weights.

    Places, points and boxes are stored by columns: coordinate k of point i is x[k * n + i]. FAN
    tiles are a group, FAN groups a flock. The boxes of a flock's groups, and then of a group's
    tiles, are compared with the box of the block. Boxes beyond ``outer_reach`` are skipped; boxes
    within ``inner_reach`` count by their mean and mass (not for a Gaussian). ``limits`` begins with
    these two and the squared reach of a place.
    """
    block = tl.program_id(0)
    share = tl.program_id(1)
    n_shares = tl.num_programs(1)
    places = block * BLOCK + tl.arange(0, BLOCK)
    fan = tl.arange(0, FAN)
    n_blocks = m // BLOCK
    n_groups = n_tiles // FAN
    dtype = q.dtype.element_ty
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
        at = at + (tl.load(q + k * m + places)[:, None],)
        low = low + (tl.load(q_lows + k * n_blocks + block),)
        high = high + (tl.load(q_highs + k * n_blocks + block),)
        total = total + (tl.zeros((BLOCK, TILE), dtype),)
        whole = whole + (tl.zeros((FAN,), dtype),)
    mass = tl.zeros((BLOCK, TILE), dtype)
    whole_mass = tl.zeros((FAN,), dtype)
    for flock in range((n_flocks * share) // n_shares, (n_flocks * (share + 1)) // n_shares):
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
    out = share * m + places
    inside_mass = tl.sum(whole_mass, axis=0)
    for k in tl.static_range(D):
        column = tl.sum(total[k], axis=1)
        offset = tl.reshape(at[k], (BLOCK,)) - low[k]
        column += tl.sum(whole[k], axis=0) - inside_mass * offset
        tl.store(sums + k * n_shares * m + out, column)
    tl.store(masses + out, tl.sum(mass, axis=1) + inside_mass)


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
