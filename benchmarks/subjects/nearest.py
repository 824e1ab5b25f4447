"""StochasticMeanShift by the ten nearest, against one matrix-vector product a step."""

from measure import measure
from modeshift import StochasticMeanShift
from peers import row_of
from subjects.vectors import PRODUCTS, product_seconds
from workloads import unit_vectors

NAME = "nearest"
BANDWIDTHS = (0.6, float("inf"))


def rows(quick):
    X, y = unit_vectors(600 if quick else 6_000)
    for bandwidth in BANDWIDTHS:
        model = StochasticMeanShift(
            metric="cosine", n_neighbors=10, bandwidth=bandwidth, random_state=0
        )
        timing = measure(model.fit, X)
        what = f"n_neighbors=10, cosine, {X.shape[1]}-D, bandwidth={bandwidth:g}"
        row = row_of(NAME, "StochasticMeanShift", timing, y, "one X @ x a step, BLAS", what)
        row.set_peer(timing.result.n_steps_ * product_seconds(X), f"{PRODUCTS:,} products, scaled")
        yield row if quick else row.at_least(5)
