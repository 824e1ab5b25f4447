"""StochasticMeanShift in many dimensions against one matrix-vector product a step."""

from time import perf_counter

from measure import measure
from modeshift import StochasticMeanShift
from peers import row_of
from workloads import unit_vectors

NAME = "vectors"
BANDWIDTH = 1.02
PRODUCTS = 2_000


def rows(quick):
    X, y = unit_vectors(600 if quick else 6_000)
    timing = measure(StochasticMeanShift(bandwidth=BANDWIDTH, random_state=0).fit, X)
    what = f"StochasticMeanShift, unit vectors in {X.shape[1]}-D"
    row = row_of(NAME, "StochasticMeanShift", timing, y, "one X @ x a step, BLAS", what)
    # The product alone is not a step: it would still have to pick the near points and add them up.
    row.set_peer(timing.result.n_steps_ * product_seconds(X), f"{PRODUCTS:,} products, scaled")
    yield row if quick else row.at_least(5)


def product_seconds(X):
    for j in range(100):
        X @ X[j]
    started = perf_counter()
    for j in range(PRODUCTS):
        X @ X[j % len(X)]
    return (perf_counter() - started) / PRODUCTS
