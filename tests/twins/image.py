"""Twins of ``modeshift.image``: whole pictures compared at every step, in whole numbers."""

import numpy as np


def climb(colours, valid, unit, radius, squared_range, quiet, max_iter):
    """Climb from every valid pixel; return places, colours and numbers of steps.

    A pixel is near a place if it lies in the ellipsoid around it and its colour within the range.
    The place moves to the mean, rounded to whole units (halves up).

    colours: whole numbers, shape (depth, height, width, bands); radius: three whole numbers.
    """
    grid = np.stack(np.indices(valid.shape), axis=-1) * unit
    places, ends = grid.copy(), colours.astype(np.int64)
    steps = np.zeros(valid.shape, dtype=int)
    for pixel in zip(*np.nonzero(valid), strict=True):
        place, colour = places[pixel].copy(), ends[pixel].copy()
        for _ in range(max_iter):
            near = valid & in_ellipsoid(grid - place, radius)
            near &= ((colours - colour) ** 2).sum(axis=-1) <= squared_range
            if not near.any():
                break
            move = _rounded_mean(grid[near] - place)
            change = _rounded_mean(colours[near] - colour)
            place, colour = place + move, colour + change
            steps[pixel] += 1
            if ((move / radius) ** 2).sum() + (change**2).sum() / squared_range <= quiet:
                break
        places[pixel], ends[pixel] = place, colour
    return places, ends, steps


def to_units(colours, middle, factor):
    """Return colours, bands last, in whole units."""
    return np.rint((colours - middle) * factor).astype(np.int64)


def from_units(units, middle, factor):
    """Return colours of whole units."""
    return units / factor + middle


def to_dtype(values, dtype):
    """Return the nearest values that a dtype has."""
    if dtype.kind == "f":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.rint(np.clip(values, limits.min, limits.max)).astype(dtype)


TO_XYZ = np.array(
    [[0.412453, 0.35758, 0.180423], [0.212671, 0.71516, 0.072169], [0.019334, 0.119193, 0.950227]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def to_lab(rgb):
    """Return CIELAB of sRGB in whole numbers (IEC 61966-2-1, CIE 15:2004)."""
    rgb = rgb / np.iinfo(rgb.dtype).max
    light = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    share = light @ TO_XYZ.T / WHITE
    bent = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    x, y, z = np.moveaxis(bent, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def from_lab(lab):
    """Return sRGB from 0 to 255 of CIELAB."""
    y = (lab[..., 0] + 16) / 116
    bent = np.stack([y + lab[..., 1] / 500, y, y - lab[..., 2] / 200], axis=-1)
    share = np.where(bent > np.cbrt(0.008856), bent**3, (bent - 16 / 116) / 7.787)
    light = np.clip(share * WHITE @ np.linalg.inv(TO_XYZ).T, 0, 1)
    return 255 * np.where(light > 0.0031308, 1.055 * light ** (1 / 2.4) - 0.055, 12.92 * light)


def in_ellipsoid(offsets, radius):
    """Return whether x^2 + (z X/Z)^2 + (y X/Y)^2 <= X^2, rounded down for whole x."""
    z, y, x = (offsets[..., k] for k in range(3))
    high, long = z * (radius[2] / radius[0]), y * (radius[2] / radius[1])
    return x**2 <= np.floor(radius[2] ** 2 - high * high - long * long)


def wander(points, units, tol, max_iter, random_state):
    """Move one random point at a time to the mean near it (the paper's Algorithm 2).

    points: whole numbers, shape (n, 3 + bands); units: those of the radius along each axis, and of
    the range for each band. Returns the points at the end, and whether they converged.
    """
    points, n, quiet = points.astype(np.int64), len(points), 0
    for _ in range(max_iter):
        for j in random_state.randint(n, size=n):
            mean = _joint_mean(points, points[j], units)
            quiet = quiet + 1 if _shift(mean, points[j], units) <= tol**2 else 0
            points[j] = mean
            if quiet == n:
                if all(_shift(_joint_mean(points, x, units), x, units) <= tol**2 for x in points):
                    return points, True
                quiet = 0
    return points, False


def blur(points, units, tol, max_iter):
    """Move all points at once to the means near them (Cheng 1995)."""
    points = points.astype(np.int64)
    for _ in range(max_iter):
        means = np.array([_joint_mean(points, x, units) for x in points])
        shifts = [_shift(a, b, units) for a, b in zip(means, points, strict=True)]
        points = means
        if max(shifts) <= tol**2:
            return points, True
    return points, False


def _joint_mean(points, x, units):
    near = in_ellipsoid(points[:, :3] - x[:3], units[:3])
    near &= ((points[:, 3:] - x[3:]) ** 2).sum(axis=1) <= units[3] ** 2
    return x + _rounded_mean(points[near] - x)


def _shift(a, b, units):
    """Squared length in radii and ranges, added up in the order of the coordinates."""
    return sum(difference**2 for difference in (a / units - b / units).tolist())


def _rounded_mean(offsets):
    """Return floor(mean + 1/2), by whole numbers alone."""
    total, n = offsets.sum(axis=0), len(offsets)
    return (2 * total + n) // (2 * n)


def regions(valid, places, colours, radius, squared_range):
    """Label regions from 1 by first pixel: pixels that touch, with modes half a radius apart."""
    labels = np.zeros(valid.shape, dtype=int)
    for start in zip(*np.nonzero(valid), strict=True):
        if labels[start]:
            continue
        labels[start] = labels.max() + 1
        waiting = [start]
        while waiting:
            pixel = waiting.pop()
            for other in neighbours(pixel, valid.shape):
                if not valid[other] or labels[other]:
                    continue
                apart = (places[pixel] - places[other]) / radius
                change = colours[pixel] - colours[other]
                if (apart**2).sum() <= 1 / 4 and (change**2).sum() <= squared_range / 4:
                    labels[other] = labels[start]
                    waiting.append(other)
    return labels


def neighbours(pixel, shape):
    """Return the pixels that touch a pixel."""
    for axis in range(3):
        for step in (-1, 1):
            other = list(pixel)
            other[axis] += step
            if 0 <= other[axis] < shape[axis]:
                yield tuple(other)


def absorb_small(labels, colours, min_size):
    """Let the smallest region below min_size join the neighbour nearest in mean colour; repeat."""
    labels = labels.copy()
    while True:
        sizes = {k: int((labels == k).sum()) for k in np.unique(labels[labels > 0]).tolist()}
        small = sorted(
            (size, k) for k, size in sizes.items() if size < min_size and touching(labels, k)
        )
        if not small:
            return labels
        _, region = small[0]
        means = {k: colours[labels == k].mean(axis=0) for k in sizes}
        best = min(
            touching(labels, region),
            key=lambda k: (round(((means[k] - means[region]) ** 2).sum(), 6), k),
        )
        labels[labels == region] = best


def touching(labels, region):
    """Return the regions that touch a region."""
    found = set()
    for pixel in zip(*np.nonzero(labels == region), strict=True):
        found |= {int(labels[other]) for other in neighbours(pixel, labels.shape)}
    return found - {0, region}


def merge_all(sizes, sums, borders, window):
    """Join the cheapest pair of regions again and again; return pairs and costs.

    borders: {(a, b): (length, contrast)} with a < b; all in ranges.
    """
    sizes, sums, borders = dict(sizes), dict(sums), dict(borders)
    pairs, heights = [], []
    while borders:
        costs = {pair: _cost(sizes, sums, *borders[pair], window, *pair) for pair in borders}
        a, b = min(costs, key=costs.get)
        if (sizes[a], -a) < (sizes[b], -b):
            a, b = b, a
        pairs.append((a, b))
        heights.append(max([costs[min(a, b), max(a, b)], *heights[-1:]]))
        sizes[a] += sizes.pop(b)
        sums[a] = sums[a] + sums.pop(b)
        merged = {}
        for (i, j), (length, contrast) in borders.items():
            i, j = sorted((a if i == b else i, a if j == b else j))
            if i != j:
                before = merged.get((i, j), (0, 0))
                merged[i, j] = (before[0] + length, before[1] + contrast)
        borders = merged
    return pairs, heights


def _cost(sizes, sums, length, contrast, window, a, b):
    size = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    apart = ((sums[a] / sizes[a] - sums[b] / sizes[b]) ** 2).sum()
    return (size / window) ** 0.2 * np.sqrt(apart + 1.5 * (contrast / length) ** 2)


def textures_and_contrasts(colours, valid, range_units, boxes, texture_boxes):
    """Return textures (one for each axis), and contrasts with the next pixel along each axis.

    Boxes are cut off at the border of the image and leave out pixels without data.
    """
    axes = [axis for axis in range(3) if valid.shape[axis] > 1]
    colours = np.where(valid[..., None], colours, 0).astype(float)

    def box_mean(values, sides):
        means = np.full(values.shape, np.nan)
        for pixel in np.ndindex(valid.shape):
            box = tuple(slice(max(p - s, 0), p + s + 1) for p, s in zip(pixel, sides, strict=True))
            if valid[box].any():
                means[pixel] = values[box][valid[box]].mean(axis=0)
        return means

    def clipped(pixel, axis, step):
        other = list(pixel)
        other[axis] = min(max(other[axis] + step, 0), valid.shape[axis] - 1)
        return tuple(other)

    textures = []
    for axis in axes:
        across = [int(other in axes and other != axis) for other in range(3)]
        smooth = box_mean(colours, across)
        energy = np.zeros(valid.shape)
        for pixel in zip(*np.nonzero(valid), strict=True):
            low, high = clipped(pixel, axis, -1), clipped(pixel, axis, 1)
            if valid[low] and valid[high]:
                energy[pixel] = (((smooth[high] - smooth[low]) / 2) ** 2).sum()
        gradient = np.sqrt(box_mean(np.rint(energy), texture_boxes)) / range_units
        textures.append(np.rint(4.6 * range_units * np.log(1 + 6.5 * gradient)))
    descriptors = [np.rint(box_mean(colours, boxes)), *(t[..., None] for t in textures)]
    descriptors = np.concatenate(descriptors, axis=-1)
    contrasts = {}
    for pixel in np.ndindex(valid.shape):
        for axis in axes:
            if pixel[axis] + 1 < valid.shape[axis]:
                low, high = (
                    clipped(pixel, axis, -boxes[axis]),
                    clipped(pixel, axis, boxes[axis] + 1),
                )
                change = descriptors[high] - descriptors[low]
                length = np.sqrt((change**2).sum())
                contrasts[pixel, axis] = 0 if np.isnan(length) else int(np.floor(length + 0.5))
    return textures, contrasts
