"""The kernel of the climb on a GPU: a pixel for each lane, its window read row by row."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "depth", "height", "width", "row_length", "pad", "max_iter"])
def climb_pixels(
    planes, pixels, places, colours, steps, across_z, across_y, share_z, share_y, share_x, limits,
    n, n_all, depth, height, width, row_length, pad, max_iter,
    UNIT: tl.constexpr, RZ: tl.constexpr, RY: tl.constexpr, RX: tl.constexpr,
    HALF_Z: tl.constexpr, HALF_Y: tl.constexpr, HALF_X: tl.constexpr,
    B: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Climb from n pixels; see ``window.py`` for the definition.

    Squares that would have to be rounded come from tables, so that no multiplication can be fused
    with an addition: ``across_z`` and ``across_y`` hold (d R_x / R)^2 for d from -R to R, and
    ``share_...`` hold (d / R)^2. ``limits`` holds R_x^2, the squared range and the squared length
    of the last step.
    """
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = lane < n
    pixel = tl.load(pixels + lane, mask=real, other=0)
    x = pixel % width
    y = (pixel // width) % height
    z = pixel // (width * height)
    in_width, reach, quiet = tl.load(limits), tl.load(limits + 1), tl.load(limits + 2)
    plane_length = depth * height * row_length
    home = (z * height + y) * row_length + x + pad
    at = ()
    for k in tl.static_range(B):
        at = at + (tl.load(planes + k * plane_length + home, mask=real, other=0.0),)
    x, y, z = x * UNIT, y * UNIT, z * UNIT
    taken = tl.zeros((BLOCK,), tl.int32)
    going = real
    step = 0
    while (step < max_iter) & (tl.sum(going.to(tl.int32), axis=0) > 0):
        count = tl.zeros((BLOCK,), tl.float64)
        sum_z = tl.zeros((BLOCK,), tl.float64)
        sum_y = tl.zeros((BLOCK,), tl.float64)
        sum_x = tl.zeros((BLOCK,), tl.float64)
        total = ()
        for k in tl.static_range(B):
            total = total + (tl.zeros((BLOCK,), tl.float64),)
        for offset_z in range(-HALF_Z, HALF_Z + 1):
            row_z = z // UNIT + offset_z
            dz = row_z * UNIT - z
            in_z = going & (row_z >= 0) & (row_z < depth) & (dz >= -RZ) & (dz <= RZ)
            high = tl.load(across_z + dz + RZ, mask=in_z, other=0.0)
            for offset_y in range(-HALF_Y, HALF_Y + 1):
                row_y = y // UNIT + offset_y
                dy = row_y * UNIT - y
                in_row = in_z & (row_y >= 0) & (row_y < height) & (dy >= -RY) & (dy <= RY)
                long = tl.load(across_y + dy + RY, mask=in_row, other=0.0)
                limit = tl.floor((in_width - high) - long)
                start = (row_z * height + row_y) * row_length + pad
                for offset_x in range(-HALF_X, HALF_X + 1):
                    column = x // UNIT + offset_x
                    dx = column * UNIT - x
                    near = in_row & (column >= 0) & (column < width)
                    near = near & ((dx * dx).to(tl.float64) <= limit)
                    square = tl.zeros((BLOCK,), tl.float64)
                    gaps = ()
                    for k in tl.static_range(B):
                        value = tl.load(
                            planes + k * plane_length + start + column, mask=near, other=0.0
                        )
                        gap = (value - at[k]).to(tl.float64)
                        gaps = gaps + (gap,)
                        square += gap * gap
                    near = near & (square <= reach)
                    worth = near.to(tl.float64)
                    count += worth
                    sum_z += worth * dz
                    sum_y += worth * dy
                    sum_x += worth * dx
                    added = ()
                    for k in tl.static_range(B):
                        added = added + (total[k] + tl.where(near, gaps[k], 0.0),)
                    total = added
        going = going & (count > 0)
        count = tl.where(going, count, 1.0)
        move_z = tl.where(going, tl.floor(sum_z / count + 0.5), 0.0).to(tl.int64)
        move_y = tl.where(going, tl.floor(sum_y / count + 0.5), 0.0).to(tl.int64)
        move_x = tl.where(going, tl.floor(sum_x / count + 0.5), 0.0).to(tl.int64)
        change = tl.zeros((BLOCK,), tl.float64)
        moved = ()
        for k in tl.static_range(B):
            shift = tl.where(going, tl.floor(total[k] / count + 0.5), 0.0)
            change += shift * shift
            moved = moved + (at[k] + shift.to(tl.float32),)
        at = moved
        x, y, z = x + move_x, y + move_y, z + move_z
        taken += going.to(tl.int32)
        length = tl.load(share_z + tl.abs(move_z)) + tl.load(share_y + tl.abs(move_y))
        length = length + tl.load(share_x + tl.abs(move_x)) + change / reach
        going = going & (length > quiet)
        step += 1
    tl.store(places + pixel, z.to(tl.int32), mask=real)
    tl.store(places + n_all + pixel, y.to(tl.int32), mask=real)
    tl.store(places + 2 * n_all + pixel, x.to(tl.int32), mask=real)
    tl.store(steps + pixel, taken, mask=real)
    for k in tl.static_range(B):
        tl.store(colours + k * n_all + pixel, at[k], mask=real)
