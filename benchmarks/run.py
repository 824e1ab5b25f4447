"""Side by side with other programs, in one run: ``python benchmarks/run.py [--quick]``.

Prints one table, writes the same numbers with the machine's facts as JSON, and draws how the times
grow with n. Only a run of everything at full size writes to the places that are kept under version
control; other runs write to build/bench.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from growth import draw_growth
from machine import facts
from subjects import (
    batches,
    bins,
    blurring,
    climbs,
    compression,
    dimensions,
    gaussian,
    memory,
    nearest,
    stochastic,
    threads,
    vectors,
)
from table import markdown

ROOT = Path(__file__).parent.parent
SUBJECTS = (
    stochastic,
    climbs,
    bins,
    dimensions,
    compression,
    blurring,
    gaussian,
    batches,
    vectors,
    nearest,
    threads,
    memory,
)


def main():
    arguments = parse()
    subjects = [subject for subject in SUBJECTS if arguments.only in (None, subject.NAME)]
    machine = facts()
    rows = []
    for subject in subjects:
        started = perf_counter()
        rows += subject.rows(arguments.quick)
        print(f"{subject.NAME}: {perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    print(title(machine), markdown(rows), sep="\n\n")
    write(rows, machine, arguments)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small n, under a minute, no bars")
    names = [subject.NAME for subject in SUBJECTS]
    parser.add_argument("--only", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the JSON goes")
    return parser.parse_args()


def title(machine):
    memory = f", {machine['memory_gib']} GiB" if machine["memory_gib"] else ""
    return (
        f"{machine['date']}: {machine['cpu']}, {machine['cores']} cores{memory}; means of 3 runs "
        "after a warm-up unless the row says otherwise; clusters and ARI: ours / the peer's"
    )


def write(rows, machine, arguments):
    record = not arguments.quick and arguments.only is None
    scratch = ROOT / "build" / "bench"
    out = arguments.out or (ROOT / "benchmarks" if record else scratch) / "results.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine, "quick": arguments.quick, "rows": [asdict(row) for row in rows]}
    out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    picture = (ROOT / "docs" / "images" if record else scratch) / "growth.png"
    try:
        draw_growth(rows, picture)
    except ImportError:
        print("no picture: pip install 'modeshift[plots]'", file=sys.stderr)


if __name__ == "__main__":
    main()
