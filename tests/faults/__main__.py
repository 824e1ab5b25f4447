"""``python -m faults [NAME ...] --seed 0 --kills 200 --rounds 10``, in the folder ``tests``."""

import argparse
import importlib
import tempfile
import time
from pathlib import Path

KINDS = ("kills", "places", "memory", "clock", "models", "network")


def main() -> int:
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="NAME", help=f"{', '.join(KINDS)} (all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=200, help="kills of commands, in all")
    parser.add_argument("--rounds", type=int, default=10, help="tries of each other fault")
    chosen = parser.parse_args()
    n_failures = 0
    for kind in chosen.kinds or KINDS:
        started = time.monotonic()
        count = chosen.kills if kind == "kills" else chosen.rounds
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            found = importlib.import_module(f"faults.{kind}").run(Path(folder), chosen.seed, count)
        print(f"{kind}: {len(found)} failures, {time.monotonic() - started:.0f} s", flush=True)
        n_failures += len(found)
    return min(n_failures, 1)


if __name__ == "__main__":
    raise SystemExit(main())
