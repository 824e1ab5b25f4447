"""A few faults of Dask clusters, and ends of fits that the program of faults must find.

``make faults`` tries as many as one likes; `engines/dask/test_lookout.py` has short ones.
"""

import random
import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

from faults import network

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals"),
]


def test_wrong_labels_and_long_errors_are_found(tmp_path):
    out = tmp_path / "out.npz"
    fitted = network.KINDS["blur"].fit(network.points())
    right = {"labels": fitted.labels_, "predicted": fitted.predict(network.points()[:50])}
    np.savez(out, **right)
    assert network.judged("blur, merge", 0, "", "", out) == "same labels"
    np.savez(out, **right | {"labels": np.roll(fitted.labels_, 1)})
    with pytest.raises(AssertionError, match="blur, merge: other labels"):
        network.judged("blur, merge", 0, "", "", out)
    assert network.judged("blur, merge", 1, "ConnectionError: lost\n", "", out) == "one error"
    with pytest.raises(AssertionError, match="not one line"):
        network.judged("blur, merge", 1, "one\ntwo\n", "", out)
    with pytest.raises(AssertionError, match="ended with -9: noise"):
        network.judged("blur, merge", -9, "", "noise", out)


SOME_KILLS = [
    f"{victim} in {phase}"
    for victim in ("scheduler_killed", "worker_killed")
    for phase in ("cells, compress", "wander, round-move", "wander, predict-nearest")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SOME_KILLS, *network.LINES])
def test_a_cluster_that_loses_parts(name, tmp_path):
    {**network.KILLS, **network.LINES}[name](tmp_path, random.Random(0))
