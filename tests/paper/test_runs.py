"""Runs on several processes, and what becomes of these."""

import subprocess
import sys

import psutil
import pytest

RUN = """
from modeshift.paper.runs import Task, run_tasks
tasks = [Task("none", 3, 0.2, seed, "S", 0.9, 0.02, None, (0.25,)) for seed in range(100_000)]
for task, records in run_tasks(tasks, jobs=2):
    print(task.seed, flush=True)
"""


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell that a parent is gone")
def test_processes_end_when_the_one_that_gave_them_work_is_killed():
    """They stayed for five minutes, each with 300 MB."""
    with subprocess.Popen([sys.executable, "-c", RUN], stdout=subprocess.PIPE) as process:
        for _ in range(10):
            process.stdout.readline()
        others = psutil.Process(process.pid).children()
        process.kill()
    _, alive = psutil.wait_procs(others, timeout=20)
    for orphan in alive:
        orphan.kill()
    assert len(others) >= 2
    assert alive == []
