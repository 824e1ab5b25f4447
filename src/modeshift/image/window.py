"""The climb of a pixel: kernels that read the window around a place straight from the pixels.

A place has whole coordinates, in the units of ``lattice.py``. So all sums are sums of whole
numbers. Floats hold them exactly, so the order of the additions does not matter, and threads, tiles
and GPUs get the same places to the last bit. In detail:

- Pixels that count lie within the radii, which are below 2^12 units. So their squares are below
  2^24 and exact in float32. Rounding is monotonic, so the squares of other pixels stay too large.
- ``LANES`` pixels of a row are added up in float32: the sums are below LANES * 2^12 = 2^16. Rows
  are added up in float64.
"""

from functools import cache
from typing import Any

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel, kernel

LANES = 16
"""Pixels of a row that are compared at once."""

LEFT = -1
"""In place of a number of steps: the climb has left the block."""

FEW = 4
"""Up to this number of bands, the bands of a pixel are in registers."""

FEWEST = 2
"""A picture of one band gets a second plane of zeros: the compiler then finds its best code."""

_EXACT = {"reassoc", "nsz", "contract"}
"""Freedoms that change no sum of whole numbers."""

_ONE = np.float32(1.0)
_NONE = np.float32(0.0)


def kernel_for(n_bands: int) -> Any:
    """Return the kernel that climbs over pictures with this number of bands."""
    return _few_bands(n_bands) if n_bands <= FEW else _climb_many


@bare_kernel
def rounded(total, count):
    """Return floor(total / count + 1/2).

    The quotient is a multiple of 1 / count, far coarser than its rounding, so halves are found
    exactly.
    """
    return np.floor(total / count + 0.5)


@bare_kernel
def reach_along(axis, place, radius, unit, length):
    """Return the first and the last pixel of an axis within the radius of a place."""
    first = -((radius[axis] - place) // unit)
    last = (place + radius[axis]) // unit
    return max(first, 0), min(last, length - 1)


@bare_kernel
def leaves(axis, place, radius, unit, length, goes_on):
    """Return whether a window reaches pixels that the picture has, but not this block of it."""
    below = goes_on[axis, 0] and place - radius[axis] < 0
    above = goes_on[axis, 1] and place + radius[axis] > (length - 1) * unit
    return below or above


@cache
def _few_bands(n_bands: int) -> Any:
    """Return the kernel for up to four bands. ``n_bands`` is a constant in the compiled code."""
    B = n_bands

    def climb(block, pixels, settings, places, colours, steps):
        """Climb from each of the pixels; write the ends and the numbers of steps.

        The number of steps is ``LEFT`` if a window needs pixels outside the block.
        """
        planes, pad, goes_on = block.planes, block.pad, block.goes_on
        depth, height, width = block.shape
        unit, radius = settings.unit, settings.radius
        in_width = np.float32(radius[2]) * np.float32(radius[2])
        reach = np.float32(settings.reach)
        flat = planes.reshape(-1)
        row_length = planes.shape[3]
        plane_length = planes.shape[1] * planes.shape[2] * row_length
        n_spans = (2 * (radius[2] // unit) + LANES) // LANES
        for i in range(pixels.shape[0]):
            pixel = pixels[i]
            x = pixel % width
            y = (pixel // width) % height
            z = pixel // (width * height)
            home = (z * planes.shape[2] + y) * row_length + x + pad
            c0 = flat[home]
            c1 = flat[home + plane_length] if B > 1 else _NONE
            c2 = flat[home + 2 * plane_length] if B > 2 else _NONE
            c3 = flat[home + 3 * plane_length] if B > 3 else _NONE
            x, y, z = x * unit, y * unit, z * unit
            taken = 0
            for _ in range(settings.max_iter):
                if (
                    leaves(2, x, radius, unit, width, goes_on)
                    or leaves(1, y, radius, unit, height, goes_on)
                    or leaves(0, z, radius, unit, depth, goes_on)
                ):
                    taken = LEFT
                    break
                first_z, last_z = reach_along(0, z, radius, unit, depth)
                first_y, last_y = reach_along(1, y, radius, unit, height)
                first_x = -((radius[2] - x) // unit)
                count, sum_z, sum_y, sum_x = 0.0, 0.0, 0.0, 0.0
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                for row_z in range(first_z, last_z + 1):
                    dz = row_z * unit - z
                    for row_y in range(first_y, last_y + 1):
                        dy = row_y * unit - y
                        limit = row_limit(in_width, dz, dy, settings.stretch)
                        if limit < _NONE:
                            continue
                        start = (row_z * planes.shape[2] + row_y) * row_length + first_x + pad
                        for span in range(n_spans):
                            dx_first = np.float32((first_x + span * LANES) * unit - x)
                            base0 = np.uint64(start + span * LANES)
                            base1 = base0 + np.uint64(plane_length)
                            base2 = base1 + np.uint64(plane_length)
                            base3 = base2 + np.uint64(plane_length)
                            r, rx, r0, r1, r2, r3 = _NONE, _NONE, _NONE, _NONE, _NONE, _NONE
                            for lane in range(LANES):
                                at = np.uint64(lane)
                                dx = dx_first + np.float32(lane * unit)
                                d0 = flat[base0 + at] - c0
                                square = d0 * d0
                                if B > 1:
                                    d1 = flat[base1 + at] - c1
                                    square += d1 * d1
                                if B > 2:
                                    d2 = flat[base2 + at] - c2
                                    square += d2 * d2
                                if B > 3:
                                    d3 = flat[base3 + at] - c3
                                    square += d3 * d3
                                near = np.float32((square <= reach) & (dx * dx <= limit))
                                r += near
                                rx += near * dx
                                r0 += near * d0
                                if B > 1:
                                    r1 += near * d1
                                if B > 2:
                                    r2 += near * d2
                                if B > 3:
                                    r3 += near * d3
                            count += r
                            sum_z += r * dz
                            sum_y += r * dy
                            sum_x += rx
                            s0 += r0
                            s1 += r1
                            s2 += r2
                            s3 += r3
                if count == 0.0:
                    break  # no pixel is near in space and in colour
                dz, dy, dx = rounded(sum_z, count), rounded(sum_y, count), rounded(sum_x, count)
                m0, m1 = rounded(s0, count), rounded(s1, count)
                m2, m3 = rounded(s2, count), rounded(s3, count)
                x, y, z = x + np.int64(dx), y + np.int64(dy), z + np.int64(dz)
                c0 += np.float32(m0)
                c1 += np.float32(m1)
                c2 += np.float32(m2)
                c3 += np.float32(m3)
                taken += 1
                shift = shift_in_space(dz, dy, dx, radius)
                shift += (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3) / settings.reach
                if shift <= settings.quiet:
                    break
            steps[pixel] = taken
            places[0, pixel] = z
            places[1, pixel] = y
            places[2, pixel] = x
            colours[0, pixel] = c0
            if B > 1:
                colours[1, pixel] = c1
            if B > 2:
                colours[2, pixel] = c2
            if B > 3:
                colours[3, pixel] = c3

    return bare_kernel(climb, fastmath=_EXACT)


@kernel
def _climb_many(block, pixels, settings, places, colours, steps):
    """Do the same for any number of bands, whose distances are added up band by band."""
    planes, pad, goes_on = block.planes, block.pad, block.goes_on
    depth, height, width = block.shape
    unit, radius = settings.unit, settings.radius
    in_width = np.float32(radius[2]) * np.float32(radius[2])
    n_bands = planes.shape[0]
    flat = planes.reshape(-1)
    row_length = planes.shape[3]
    plane_length = planes.shape[1] * planes.shape[2] * row_length
    n_lanes = 2 * (radius[2] // unit) + 1
    near = np.empty(n_lanes, dtype=np.float32)
    centre = np.empty(n_bands, dtype=np.float32)
    sums = np.empty(n_bands)
    for i in range(pixels.shape[0]):
        pixel = pixels[i]
        x = pixel % width
        y = (pixel // width) % height
        z = pixel // (width * height)
        for band in range(n_bands):
            centre[band] = planes[band, z, y, x + pad]
        x, y, z = x * unit, y * unit, z * unit
        taken = 0
        for _ in range(settings.max_iter):
            if (
                leaves(2, x, radius, unit, width, goes_on)
                or leaves(1, y, radius, unit, height, goes_on)
                or leaves(0, z, radius, unit, depth, goes_on)
            ):
                taken = LEFT
                break
            first_z, last_z = reach_along(0, z, radius, unit, depth)
            first_y, last_y = reach_along(1, y, radius, unit, height)
            first_x = -((radius[2] - x) // unit)
            count, sum_z, sum_y, sum_x = 0.0, 0.0, 0.0, 0.0
            sums[:] = 0.0
            for row_z in range(first_z, last_z + 1):
                dz = row_z * unit - z
                for row_y in range(first_y, last_y + 1):
                    dy = row_y * unit - y
                    limit = row_limit(in_width, dz, dy, settings.stretch)
                    if limit < _NONE:
                        continue
                    start = (row_z * planes.shape[2] + row_y) * row_length + first_x + pad
                    r, rx = _near_in_row(
                        flat, start, plane_length, centre, first_x * unit - x, unit,
                        settings.reach, limit, near,
                    )  # fmt: skip
                    count += r
                    sum_z += r * dz
                    sum_y += r * dy
                    sum_x += rx
                    if r > 0.0:
                        _add_bands(flat, start, plane_length, centre, near, sums)
            if count == 0.0:
                break
            dz, dy, dx = rounded(sum_z, count), rounded(sum_y, count), rounded(sum_x, count)
            x, y, z = x + np.int64(dx), y + np.int64(dy), z + np.int64(dz)
            colour_shift = 0.0
            for band in range(n_bands):
                move = rounded(sums[band], count)
                centre[band] += np.float32(move)
                colour_shift += move * move
            taken += 1
            shift = shift_in_space(dz, dy, dx, radius) + colour_shift / settings.reach
            if shift <= settings.quiet:
                break
        steps[pixel] = taken
        places[0, pixel] = z
        places[1, pixel] = y
        places[2, pixel] = x
        for band in range(n_bands):
            colours[band, pixel] = centre[band]


def _near_in_row(flat, start, plane_length, centre, dx_first, unit, reach, limit, near):
    """Mark the pixels of a row that count with 1; return their number and sum of offsets."""
    near[:] = _NONE
    for band in range(centre.shape[0]):
        base = np.uint64(start + band * plane_length)
        colour = centre[band]
        for lane in range(near.shape[0]):
            difference = flat[base + np.uint64(lane)] - colour
            near[lane] += difference * difference
    count, total = _NONE, _NONE
    reach = np.float32(reach)
    for lane in range(near.shape[0]):
        dx = np.float32(dx_first + lane * unit)
        counts = np.float32((near[lane] <= reach) & (dx * dx <= limit))
        near[lane] = counts
        count += counts
        total += counts * dx
    return count, total


def _add_bands(flat, start, plane_length, centre, near, sums):
    """Add the differences of the marked pixels to the sums of the bands."""
    for band in range(centre.shape[0]):
        base = np.uint64(start + band * plane_length)
        colour, total = centre[band], _NONE
        for lane in range(near.shape[0]):
            total += near[lane] * (flat[base + np.uint64(lane)] - colour)
        sums[band] += total


_near_in_row = bare_kernel(_near_in_row, fastmath=_EXACT)
_add_bands = bare_kernel(_add_bands, fastmath=_EXACT)


@bare_kernel
def row_limit(in_width, dz, dy, stretch):
    """Return the squared distance along a row up to which its pixels are in the window.

    x^2 <= R_x^2 - (z R_x / R_z)^2 - (y R_x / R_y)^2, in whole numbers.
    """
    high = dz * stretch[0]
    long = dy * stretch[1]
    return np.float32(np.floor(np.float64(in_width) - high * high - long * long))


@bare_kernel
def shift_in_space(dz, dy, dx, radius):
    """Return the squared shift of a place, in units of the radii."""
    high, long, wide = dz / radius[0], dy / radius[1], dx / radius[2]
    return high * high + long * long + wide * wide
