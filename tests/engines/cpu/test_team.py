"""Threads that share the jobs of one loop."""

from threading import Event

import numpy as np
import pytest

from modeshift.engines.cpu import parallel
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.team import (
    finish_share,
    make_team,
    open_job,
    run_team,
    take_share,
    wait_for_all,
    wait_for_share,
)

JOBS = 200


@bare_kernel
def serve(team, number, n_shares, done, seen):
    """Every job looks at what the one before has done, and adds 1 to each of its shares."""
    job = 0
    while True:
        share = take_share(team) if number == 0 else wait_for_share(team)
        if share >= 0:
            before = done[team.job[0] - 1, (share + 1) % done.shape[1]]
            seen[number] += 1
            done[team.job[0], share] += before
            finish_share(team)
        elif number > 0:
            break
        else:
            wait_for_all(team)
            job += 1
            if job == done.shape[0]:
                break
            open_job(team, job, n_shares[job])


def run(size, n_shares):
    done, seen = np.zeros((JOBS, 6), dtype=np.int64), np.zeros(size, dtype=np.int64)
    done[0] = 1
    team = make_team(size)
    run_team(team, lambda number: serve(team, number, n_shares, done, seen))
    return done, seen


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_every_share_is_done_once_after_the_job_before(size):
    done, seen = run(size, np.full(JOBS, 6))
    assert (done == 1).all()
    assert seen.sum() == 6 * (JOBS - 1)


def test_a_job_may_have_no_share():
    n_shares = np.full(JOBS, 6)
    n_shares[1::2] = 0
    done, seen = run(2, n_shares)
    assert (done[1::2] == 0).all()
    assert seen.sum() == n_shares[1:].sum()


def test_the_leader_goes_on_without_helpers():
    """The threads may be busy with other fits; then the leader does all."""
    release, pool = Event(), parallel._pool(1)
    busy = pool.submit(release.wait)
    try:
        done, seen = run(2, np.full(JOBS, 6))
    finally:
        release.set()
    assert busy.result()
    assert (done == 1).all()
    assert seen[1] == 0


def test_an_error_of_a_helper_is_raised():
    team, came = make_team(2), Event()

    def fail(number):
        if number > 0:
            came.set()
            raise ArithmeticError("of the helper")
        assert came.wait(10)

    with pytest.raises(ArithmeticError, match="of the helper"):
        run_team(team, fail)
