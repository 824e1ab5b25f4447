"""What our own brute-force field would take where a whole run with it would take hours."""

import warnings
from time import perf_counter

import numpy as np
from sklearn.base import clone

from modeshift.engines.cpu.fields import make_field

QUESTIONS = 20_000
NOTE = f"{QUESTIONS:,} steps, scaled"


def brute_seconds(fitted, X):
    """Seconds of as many brute-force steps as a fitted estimator has taken.

    A step asks for the mean near a point and moves the point there. The move writes d numbers, the
    question reads n d: only questions are timed, for random points, in one compiled loop. How long
    a question takes depends on how far the points have gathered (the branch on "is it near?" is
    guessed better later on), so half of them are asked at the initial positions and half at those
    that the run has after half of its sweeps. The stochastic tests for convergence, n questions
    each, are left out, in favour of brute force.
    """
    positions = (X, _halfway(fitted, X))
    question = sum(_question_seconds(Y, fitted.bandwidth_) for Y in positions) / len(positions)
    return fitted.n_steps_ * question


def _halfway(fitted, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is meant not to converge
        return clone(fitted).set_params(max_iter=max(1, fitted.n_iter_ // 2)).fit(X).modes_


def _question_seconds(positions, bandwidth):
    field = make_field(positions, np.ones(len(positions)), bandwidth, "brute")
    places = positions[np.random.RandomState(0).randint(len(positions), size=QUESTIONS // 2)]
    field.means_near(places[:10], bandwidth)  # compiles
    started = perf_counter()
    field.means_near(places, bandwidth)
    return (perf_counter() - started) / len(places)
