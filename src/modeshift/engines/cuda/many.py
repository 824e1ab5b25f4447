"""The kernel of a sweep in many dimensions, similar to FlashAttention.

Scores are squared distances, weights are 0 or 1 (or a Gaussian), values are the positions. A block
of places visits one tile of points after the other; no quadratic array is stored.
"""

import triton
import triton.language as tl

SCALE = tl.constexpr(16384.0)
"""Factor of Gaussian weights before they are rounded to 16 bits.

They lie between exp(-18) and 1. float16 can hold them only with this factor.
"""
ROUGH_WIDTH = tl.constexpr(256)
"""Columns from which on the upper parts are worth a product of their own (64 are too few)."""


@triton.jit(do_not_specialize=["room"])
def sweep_many(
    q_high, q_low, q_edge, q_slack, x_high, x_low, x_half, x_slack, v_high, v_low, weights,
    starts, counts, visits, doubts, bits, n_doubts, sums, masses,
    room, reach, sharpness, most_slack, roughness,
    WIDTH: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr,
    EXACT: tl.constexpr, GAUSSIAN: tl.constexpr, WEIGHTED: tl.constexpr, LISTED: tl.constexpr,
):  # fmt: skip
    """Add up the values of the points near each place, and their weights.

    A program has a block of places, a part of the features of the sums, and a share of the tiles.
    The margin of a pair is q.x - |x|^2/2 - edge with edge = |q|^2/2 - reach, which is
    (h^2 - |q - x|^2) / 2. The pair counts if the margin is not negative. A pair is in doubt if its
    margin is less than its slack (Gaussian: if it counts and its slack exceeds ``most_slack``).
    With EXACT and 256 columns, the product of the upper parts alone gives the margin with an error
    of at most ``roughness`` slacks; the lower parts are taken where that is not enough.
    EXACT leaves pairs in doubt out. It writes the number of the tile, and a bit for each such
    point, to the lists of the place, ``doubts`` and ``bits``.
    """
    block = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    share = tl.program_id(2)
    n_shares = tl.num_programs(2)
    n_places = tl.num_programs(0).to(tl.int64) * BLOCK
    places = block * BLOCK + tl.arange(0, BLOCK)
    out = share * n_places + places
    columns = tl.arange(0, TILE)
    in_block = tl.arange(0, BLOCK)[:, None] * (PARTS * WIDTH) + tl.arange(0, WIDTH)[None, :]
    in_tile = columns[:, None] * (PARTS * WIDTH) + tl.arange(0, WIDTH)[None, :]
    listing = tl.load(starts + block)
    n_here = tl.load(counts + block)
    begin = (n_here * share) // n_shares
    end = (n_here * (share + 1)) // n_shares

    edge = tl.load(q_edge + places)[:, None]
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    mass = tl.zeros((BLOCK,), tl.float32)
    q_high += block * BLOCK * PARTS * WIDTH
    q_low += block * BLOCK * PARTS * WIDTH
    if PARTS == 1:
        q1 = tl.load(q_high + in_block)
        if EXACT:
            q2 = tl.load(q_low + in_block)
    if EXACT:
        block_slack = tl.load(q_slack + block)
        n_listed = tl.zeros((BLOCK,), tl.int32)
        lists = out * room
        ones = tl.full((TILE,), 1, bits.dtype.element_ty) << columns
    for visit in range(begin, end):
        tile = visit
        if LISTED:
            tile = tl.load(visits + listing + visit)
        first = tile.to(tl.int64) * TILE
        row = first * (PARTS * WIDTH)
        if PARTS == 1:
            x1 = tl.load(x_high + row + in_tile)
            score = tl.dot(q1, tl.trans(x1))
            if EXACT:
                x2 = tl.load(x_low + row + in_tile)
                if GAUSSIAN or WIDTH < ROUGH_WIDTH:
                    rest = tl.dot(q1, tl.trans(x2))
                    score += tl.dot(q2, tl.trans(x1), rest)
        else:
            score = tl.zeros((BLOCK, TILE), tl.float32)
            rest = tl.zeros((BLOCK, TILE), tl.float32)
            for k in range(PARTS):
                q1 = tl.load(q_high + k * WIDTH + in_block)
                x1 = tl.load(x_high + row + k * WIDTH + in_tile)
                score = tl.dot(q1, tl.trans(x1), score)
                if EXACT:
                    q2 = tl.load(q_low + k * WIDTH + in_block)
                    x2 = tl.load(x_low + row + k * WIDTH + in_tile)
                    rest = tl.dot(q1, tl.trans(x2), rest)
                    rest = tl.dot(q2, tl.trans(x1), rest)
            score += rest
        margin = (score - tl.load(x_half + first + columns)[None, :]) - edge
        near = margin >= 0.0
        if EXACT:
            slack = block_slack + tl.load(x_slack + tile)
            if GAUSSIAN:
                limit = tl.where(slack > most_slack, -slack, float("inf"))
                doubtful = margin >= limit
                near = near & (margin < limit)
                n_listed = note_doubts(
                    doubtful, tile, ones, doubts + lists, bits + lists, n_listed, room
                )
            elif PARTS > 1 or WIDTH < ROUGH_WIDTH:
                doubtful = tl.abs(margin) <= slack
                near = margin > slack
                n_listed = note_doubts(
                    doubtful, tile, ones, doubts + lists, bits + lists, n_listed, room
                )
            else:
                unclear = (tl.abs(margin) <= roughness * slack).to(tl.int32)
                if tl.max(tl.max(unclear, axis=1), axis=0) > 0:
                    rest = tl.dot(q1, tl.trans(x2))
                    margin += tl.dot(q2, tl.trans(x1), rest)
                    doubtful = tl.abs(margin) <= slack
                    near = margin > slack
                    n_listed = note_doubts(
                        doubtful, tile, ones, doubts + lists, bits + lists, n_listed, room
                    )
        if WEIGHTED:
            y1 = tl.load(v_high + row + part * WIDTH + in_tile)
            if EXACT:
                y2 = tl.load(v_low + row + part * WIDTH + in_tile)
        elif PARTS == 1:
            y1 = x1
            if EXACT:
                y2 = x2
        else:
            y1 = tl.load(x_high + row + part * WIDTH + in_tile)
            if EXACT:
                y2 = tl.load(x_low + row + part * WIDTH + in_tile)
        if GAUSSIAN:
            # margin - reach is -|q - x|^2 / 2
            worth = tl.exp2(tl.minimum(margin - reach, 0.0) * sharpness)
            worth = tl.where(near, SCALE * worth, 0.0)
            p1 = worth.to(y1.dtype)
            if EXACT:
                p2 = (worth - p1.to(tl.float32)).to(y1.dtype)
                total = tl.dot(p2, y1, total)
            else:
                worth = p1.to(tl.float32)
        else:
            worth = near.to(tl.float32)
            p1 = near.to(y1.dtype)
        total = tl.dot(p1, y1, total)
        if EXACT:
            total = tl.dot(p1, y2, total)
        if WEIGHTED:
            worth = worth * tl.load(weights + first + columns)[None, :]
        mass += tl.sum(worth, axis=1)

    if GAUSSIAN:
        total = total / SCALE
        mass = mass / SCALE
    sums += (share * n_places + block * BLOCK) * (PARTS * WIDTH) + part * WIDTH
    tl.store(sums + in_block, total)
    if part == 0:
        tl.store(masses + out, mass)
        if EXACT:
            tl.store(n_doubts + out, n_listed)


@triton.jit
def note_doubts(doubtful, tile, ones, doubts, bits, n_listed, room):
    """Write the number of a tile and the bits of its points in doubt to the lists of the places."""
    found = tl.sum(tl.where(doubtful, ones[None, :], 0), axis=1)
    fits = (found != 0) & (n_listed < room)
    tl.store(doubts + n_listed, tile + tl.zeros_like(n_listed), mask=fits)
    tl.store(bits + n_listed, found, mask=fits)
    return n_listed + (found != 0).to(tl.int32)


@triton.jit(do_not_specialize=["n_places", "n_shares", "room", "group", "stride"])
def settle_doubts(
    q, x, centres, weights, doubts, bits, n_doubts, sums, masses,
    limits, n_places, n_shares, room, d, unit, group, stride,
    WIDTH: tl.constexpr, PARTS: tl.constexpr, TILE: tl.constexpr, GAUSSIAN: tl.constexpr,
):  # fmt: skip
    """Compute the distances of the pairs in doubt by differences of coordinates in float64.

    A program has one place. Points that count are added to its sums and mass, in the first share.
    Sums are relative to the centre of all places (``stride`` 0), or of the group of the place.
    """
    place = tl.program_id(0).to(tl.int64)
    centre = centres + (place // group) * stride
    reach = tl.load(limits)  # an array, to be float64; Triton makes Python numbers float32
    sharpness = tl.load(limits + 1)
    mass = 0.0
    for share in range(n_shares):
        listed = (share * n_places + place) * room
        for i in range(tl.load(n_doubts + share * n_places + place)):
            tile = tl.load(doubts + listed + i).to(tl.int64)
            here = tl.load(bits + listed + i)
            for column in range(TILE):
                if (here >> column) & 1:
                    point = tile * TILE + column
                    square = _square(q + place * d, x + point * d, d, WIDTH, PARTS)
                    if square <= reach:
                        worth = tl.load(weights + point)
                        if GAUSSIAN:
                            worth = worth * tl.exp2((square * sharpness).to(tl.float32))
                        mass += worth
                        for part in range(PARTS):
                            k = part * WIDTH + tl.arange(0, WIDTH)
                            value = tl.load(x + point * d + k, mask=k < d, other=0.0)
                            value -= tl.load(centre + k, mask=k < d, other=0.0)
                            at = sums + place * (PARTS * WIDTH) + k
                            tl.store(at, tl.load(at) + worth * (value * unit).to(tl.float32))
    tl.store(masses + place, tl.load(masses + place) + mass)


@triton.jit
def _square(q, x, d, WIDTH: tl.constexpr, PARTS: tl.constexpr):
    """Return the squared distance of two rows, in float64."""
    square = tl.zeros((WIDTH,), tl.float64)
    for part in range(PARTS):
        k = part * WIDTH + tl.arange(0, WIDTH)
        gap = tl.load(q + k, mask=k < d, other=0.0).to(tl.float64)
        gap -= tl.load(x + k, mask=k < d, other=0.0).to(tl.float64)
        square += gap * gap
    return tl.sum(square, axis=0)
