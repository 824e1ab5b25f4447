"""Peak resident memory of a whole process that clusters many points."""

import subprocess
import sys
from pathlib import Path

from table import Row

NAME = "memory"
PROCESS = Path(__file__).parent.parent / "memory_process.py"


def rows(quick):
    n = 100_000 if quick else 3_000_000
    answer = subprocess.run(
        [sys.executable, str(PROCESS), str(n)], check=True, capture_output=True, text=True
    )
    peak, seconds = map(float, answer.stdout.split())
    row = Row(NAME, "peak resident memory, GiB: n points in 3-D, 2 sweeps", n, ratio=peak / 2**30)
    row.ours_s, row.notes = seconds, ["1 run"]
    yield row if quick else row.at_most(2)
