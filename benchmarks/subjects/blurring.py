"""BlurringMeanShift against its own brute-force field."""

from brute import NOTE, brute_seconds
from measure import measure
from modeshift import BlurringMeanShift
from peers import row_of
from workloads import BANDWIDTH, gaussians

NAME = "blurring"


def rows(quick):
    X, y = gaussians(4_500 if quick else 45_000)
    timing = measure(BlurringMeanShift(bandwidth=BANDWIDTH, n_jobs=1).fit, X)
    row = row_of(NAME, "BlurringMeanShift", timing, y, "own brute force")
    row.set_peer(brute_seconds(timing.result, X), NOTE)
    yield row if quick else row.at_least(50)
