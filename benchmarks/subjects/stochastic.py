"""StochasticMeanShift to convergence against its own brute-force field."""

from brute import NOTE, brute_seconds
from measure import measure
from modeshift import StochasticMeanShift
from peers import row_of
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "stochastic"
OURS = "StochasticMeanShift"
WHAT = f"{OURS} to convergence"
BARS = {45_000: 100, 450_000: 600}


def rows(quick):
    sizes = (450, 4_500) if quick else (4_500, 45_000, 450_000)
    per_step = []
    for n in sizes:
        X, y = gaussians(n)
        timing = measure(_fit("auto"), X)
        per_step.append(timing.seconds / timing.result.n_steps_)
        row = _against_brute(row_of(NAME, OURS, timing, y, "own brute force", WHAT), X, timing)
        yield row.at_least(BARS[n]) if n in BARS else row
    growth = _growth(sizes, per_step)
    yield growth if quick else growth.at_most(4)


def _fit(algorithm):
    return StochasticMeanShift(
        bandwidth=BANDWIDTH, algorithm=algorithm, random_state=0, n_jobs=1
    ).fit


def _against_brute(row, X, timing):
    if len(X) <= 4_500:
        brute = measure(_fit("brute"), X)
        row.set_peer(brute.seconds, brute.note)
    else:
        row.set_peer(brute_seconds(timing.result, X), NOTE)
    return row


def _growth(sizes, per_step):
    return Row(
        NAME,
        f"growth of the time per step from n = {sizes[0]:,}",
        sizes[-1],
        ratio=per_step[-1] / per_step[0],
        notes=[" → ".join(f"{1e6 * seconds:.2f}" for seconds in per_step) + " µs a step"],
    )
