"""Make n points in 3-D, fit StochasticMeanShift for two sweeps; print peak bytes and seconds."""

import sys
import warnings
from time import perf_counter

import numpy as np

from modeshift import StochasticMeanShift
from peak import peak_bytes

NEIGHBOURS = 30
"""Points that a ball at the centre of the data holds: the bandwidth is chosen so, to be quick."""


def main():
    n = int(sys.argv[1])
    X = np.random.RandomState(0).standard_normal((n, 3))
    density = n / (2 * np.pi) ** 1.5  # of the normal law at its centre
    bandwidth = (NEIGHBOURS / (density * 4 / 3 * np.pi)) ** (1 / 3)
    warnings.simplefilter("ignore")  # two sweeps are not enough to converge, and are not meant to
    started = perf_counter()
    StochasticMeanShift(bandwidth=bandwidth, resolution=None, max_iter=2, random_state=0).fit(X)
    print(peak_bytes(), perf_counter() - started)


main()
