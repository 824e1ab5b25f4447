"""The kernel of the climb on a GPU: a pixel for each lane, its window read row by row."""

import triton
import triton.language as tl

_COUNTS = (
    "n", "n_all", "n_rows", "n_long", "height", "row_length", "plane_length", "home", "n_steps",
)  # fmt: skip


@triton.jit(do_not_specialize=_COUNTS)
def climb_pixels(
    planes, pixels, places, colours, steps, unfinished, rows, chords, share_z, share_y, share_x,
    limits, n, n_all, n_rows, n_long, height, row_length, plane_length, home, n_steps,
    UNIT: tl.constexpr, B: tl.constexpr, TOTAL: tl.constexpr, SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Take up to ``n_steps`` more steps from the places of n pixels; see ``window.py``.

    ``planes`` has ``FAR`` around the picture, so no load needs a mask; ``home`` is the place of
    the first pixel in a plane. ``rows`` are the rows of pixels that a window can reach: distance
    along the first two axes in units, first column, number of columns, and place in the planes, all
    counted from the pixel that holds the place. ``chords`` holds, for distances along the first two
    axes, how far the window reaches along a row, and -1 beyond it.

    As in ``window.py`` all sums are sums of whole numbers, and exact: those of a row in float32,
    those of a window in ``TOTAL``. Squares that would have to be rounded come from the tables
    ``share_...``, (d / R)^2, so that no multiplication can be fused with an addition. ``limits``
    holds the squared range and the squared length of the last step.
    """
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = lane < n
    pixel = tl.load(pixels + lane, mask=real, other=0)
    reach, quiet = tl.load(limits).to(tl.float32), tl.load(limits + 1)
    z = tl.load(places + pixel)
    y = tl.load(places + (n_all + pixel))
    x = tl.load(places + (n_all + (n_all + pixel)))
    at = ()
    colour = pixel
    for _ in tl.static_range(B):
        at = at + (tl.load(colours + colour),)
        colour += n_all
    taken = tl.zeros((BLOCK,), tl.int32)
    going = real
    step = 0
    while (step < n_steps) & (tl.sum(going.to(tl.int32), axis=0) > 0):
        place_z, place_y, place_x = z // UNIT, y // UNIT, x // UNIT
        centre = (place_z * height + place_y).to(tl.int64) * row_length + place_x + home
        rest_z, rest_y, rest_x = z % UNIT, y % UNIT, x % UNIT
        count = tl.zeros((BLOCK,), TOTAL)
        sum_z = tl.zeros((BLOCK,), TOTAL)
        sum_y = tl.zeros((BLOCK,), TOTAL)
        sum_x = tl.zeros((BLOCK,), TOTAL)
        total = ()
        for _ in tl.static_range(B):
            total = total + (tl.zeros((BLOCK,), TOTAL),)
        for i in range(n_rows):
            row = rows + 5 * i
            dz = tl.load(row).to(tl.int32) - rest_z
            dy = tl.load(row + 1).to(tl.int32) - rest_y
            first = tl.load(row + 2).to(tl.int32)
            n_columns = tl.load(row + 3).to(tl.int32)
            chord = tl.load(chords + tl.abs(dz) * n_long + tl.abs(dy))
            dx_first = (first * UNIT - rest_x).to(tl.float32)
            start = planes + (centre + tl.load(row + 4))
            starts = ()
            for band in tl.static_range(B):
                starts = starts + (start + band * plane_length,)
            near_count = tl.zeros((BLOCK,), tl.float32)
            near_x = tl.zeros((BLOCK,), tl.float32)
            near_sum = ()
            for _ in tl.static_range(B):
                near_sum = near_sum + (tl.zeros((BLOCK,), tl.float32),)
            for column in range(0, n_columns, SPAN):
                for k in tl.static_range(SPAN):
                    dx = dx_first + k * UNIT
                    square = tl.zeros((BLOCK,), tl.float32)
                    gaps = ()
                    for band in tl.static_range(B):
                        gap = tl.load(starts[band] + k) - at[band]
                        gaps = gaps + (gap,)
                        square += gap * gap
                    near = (square <= reach) & (tl.abs(dx) <= chord)
                    worth = near.to(tl.float32)
                    near_count += worth
                    near_x += worth * dx
                    added = ()
                    for band in tl.static_range(B):
                        added = added + (near_sum[band] + worth * gaps[band],)
                    near_sum = added
                dx_first += SPAN * UNIT
                moved = ()
                for band in tl.static_range(B):
                    moved = moved + (starts[band] + SPAN,)
                starts = moved
            count += near_count.to(TOTAL)
            sum_z += (near_count * dz.to(tl.float32)).to(TOTAL)
            sum_y += (near_count * dy.to(tl.float32)).to(TOTAL)
            sum_x += near_x.to(TOTAL)
            added = ()
            for band in tl.static_range(B):
                added = added + (total[band] + near_sum[band].to(TOTAL),)
            total = added
        going = going & (count > 0)
        # floor(total / count + 1/2) is floor(total * inverse + half): the quotient is a multiple of
        # 1 / (2 count), and half of such a part more than 1/2 outweighs the rounding of inverse.
        inverse = 1.0 / tl.where(going, count, 1.0).to(tl.float64)
        half = 0.5 + 0.25 * inverse
        move_z = tl.where(going, tl.floor(sum_z.to(tl.float64) * inverse + half), 0.0).to(tl.int32)
        move_y = tl.where(going, tl.floor(sum_y.to(tl.float64) * inverse + half), 0.0).to(tl.int32)
        move_x = tl.where(going, tl.floor(sum_x.to(tl.float64) * inverse + half), 0.0).to(tl.int32)
        change = tl.zeros((BLOCK,), tl.float32)
        moved = ()
        for band in tl.static_range(B):
            shift = tl.floor(total[band].to(tl.float64) * inverse + half)
            shift = tl.where(going, shift, 0.0).to(tl.float32)
            change += shift * shift
            moved = moved + (at[band] + shift,)
        at = moved
        x, y, z = x + move_x, y + move_y, z + move_z
        taken += going.to(tl.int32)
        length = tl.load(share_z + tl.abs(move_z)) + tl.load(share_y + tl.abs(move_y))
        length = length + tl.load(share_x + tl.abs(move_x)) + change.to(tl.float64) / reach
        going = going & (length > quiet)
        step += 1
    tl.store(places + pixel, z, mask=real)
    tl.store(places + (n_all + pixel), y, mask=real)
    tl.store(places + (n_all + (n_all + pixel)), x, mask=real)
    tl.store(steps + pixel, tl.load(steps + pixel) + taken, mask=real)
    tl.store(unfinished + lane, going, mask=real)
    colour = pixel
    for band in tl.static_range(B):
        tl.store(colours + colour, at[band], mask=real)
        colour += n_all
