"""``python -m load [NAME ...] --minutes 2 --seed 0``, in the folder ``tests``."""

import argparse
import importlib
import time

KINDS = ("threads", "processes", "interrupts", "leaks")


def main() -> int:
    parser = argparse.ArgumentParser(prog="load", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="NAME", help=f"{', '.join(KINDS)} (all)")
    parser.add_argument("--minutes", type=float, default=2.0, help="for each kind")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    n_failures = 0
    for kind in chosen.kinds or KINDS:
        started = time.monotonic()
        found = importlib.import_module(f"load.{kind}").run(60 * chosen.minutes, chosen.seed)
        for failure in found:
            print(f"  {failure}")
        print(f"{kind}: {len(found)} failures, {time.monotonic() - started:.0f} s", flush=True)
        n_failures += len(found)
    return min(n_failures, 1)


if __name__ == "__main__":
    raise SystemExit(main())
