"""Answers of patches: means near many places, from polynomials and lists."""

from math import exp
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.expansion import evaluate
from modeshift.engines.cpu.fields.pulls import find_pulls, in_lanes
from modeshift.engines.cpu.fields.sums import total_of, weighted_offsets
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel

_NOWHERE = 2.0**1020  # coordinate of an unused slot


class Patched(NamedTuple):
    """The patches of boxes; C boxes.

    Attributes
    ----------
    floors, errors : (C,)
        Lower bound of the polynomial, and the error of the means.
    terms_at : (C,)
        Where its coefficients begin: those of the polynomial, then those of its derivatives.
    lists_at, lengths : (C,)
        Where its list begins, and how long it is.
    terms, lists : array
        Coefficients and lists of all patches.
    """

    floors: np.ndarray
    errors: np.ndarray
    terms_at: np.ndarray
    lists_at: np.ndarray
    lengths: np.ndarray
    terms: np.ndarray
    lists: np.ndarray


class Desk(NamedTuple):
    """Scratch space of a thread.

    Attributes
    ----------
    block : (1, d, L)
        The points of a list.
    weights, pulls : (L,)
    values : (m,)
    y : (d,)
    sums : (1 + d,)
    """

    block: np.ndarray
    weights: np.ndarray
    pulls: np.ndarray
    values: np.ndarray
    y: np.ndarray
    sums: np.ndarray


def make_desk(d: int, longest: int, n_terms: int) -> Desk:
    """Return scratch space for lists of a length and polynomials of some terms."""
    length = in_lanes(longest)
    return Desk(
        block=np.empty((1, d, length)),
        weights=np.empty(length),
        pulls=np.empty(length),
        values=np.empty(n_terms),
        y=np.empty(d),
        sums=np.empty(1 + d),
    )


@bare_kernel
def answer_patched(
    made, boxes, sources, basis, dims, reach, places, order, found, desk, averages, masses
):  # fmt: skip
    """Compute the averages near the places in ``order``, and their masses."""
    loaded, width = -1, 0
    for i in order:
        x, patch = places[i], found[i]
        if patch != loaded:
            width = _load(made, sources, patch, desk)
            loaded = patch
        masses[i] = _average(made, boxes, basis, dims, reach, x, patch, width, desk, averages[i])


@inlined_kernel
def _load(made, sources, patch, desk):
    """Copy the points of the list of a patch; return the number of slots that are used."""
    lists, start, length = made.lists, made.lists_at[patch], made.lengths[patch]
    width = in_lanes(length)
    for k in range(sources.columns.shape[0]):
        for e in range(length):
            desk.block[0, k, e] = sources.columns[k, lists[start + e]]
        for e in range(length, width):
            desk.block[0, k, e] = _NOWHERE
    for e in range(length):
        desk.weights[e] = sources.weights[lists[start + e]]
    for e in range(length, width):
        desk.weights[e] = 0.0
    return width


@inlined_kernel
def _average(made, boxes, basis, dims, reach, x, patch, width, desk, out):
    """Write the mean near a place of a patch to ``out``; return the mass."""
    y, sums, root = desk.y, desk.sums, boxes.roots[patch]
    d, tables, degree = x.shape[0], basis.monomials, boxes.states[patch]
    for k in range(d):
        y[k] = (x[k] - boxes.centers[patch, k]) / basis.radius
    m, start, terms = tables.ends[degree], made.terms_at[patch], made.terms
    coefs = terms[start : start + m]
    slopes = terms[start + m : start + m + d * tables.ends[degree - 1]]
    evaluate(coefs, slopes, basis, degree, y, desk.values, sums)
    square = 0.0
    for k in range(d):
        y[k] = (x[k] - boxes.centers[root, k]) / basis.radius
        square += y[k] * y[k]
    factor = exp(-0.5 * square)
    mass = factor * sums[0]
    for k in range(d):
        out[k] = factor * basis.radius * (sums[1 + k] - sums[0] * y[k])
    if width > 0:
        pulls = desk.pulls[:width]
        find_pulls(desk.block, 0, dims, x, basis.radius, reach, pulls)
        for e in range(width):
            pulls[e] *= desk.weights[e]
        mass += total_of(pulls)
        for k in range(d):
            out[k] += weighted_offsets(desk.block, 0, k, x[k], pulls)
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass
