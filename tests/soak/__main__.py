"""``python -m soak --minutes 30 --seed 0 --out FOLDER``, in the folder ``tests``."""

import argparse
import collections
import pprint
import time
from contextlib import suppress
from pathlib import Path

from soak.shrink import shrink
from soak.workers import Worker, kind_of, try_seed

SCRIPT = '''"""A failure of the soak test, made smaller. Run it in the folder tests.

{failure}
"""

from soak.promises import check

case = {case}

print(check(case))
'''


def main():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="first seed; each case has the next")
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    chosen = parser.parse_args()
    end = time.monotonic() + 60 * chosen.minutes
    worker, tried, failures, seed = Worker(), collections.Counter(), 0, chosen.seed
    with suppress(KeyboardInterrupt):  # Ctrl-C ends it early
        while time.monotonic() < end:
            case, names, failure = try_seed(worker, seed)
            tried.update(names)
            if failure:
                failures += 1
                report(worker, case, failure, chosen.out)
            seed += 1
    worker.stop()
    n_fits = seed - chosen.seed
    print(f"{n_fits} cases (seeds {chosen.seed} to {seed - 1}), {failures} failed")
    for name, count in tried.most_common():
        print(f"{count:8d}  {name.replace('_', ' ')}")
    return min(failures, 1)


def report(worker, case, failure, folder):
    """Shrink a failing case, write its script and say where it is."""
    kind = kind_of(failure)

    def fails(candidate):
        _, again = worker.check(candidate)
        return again is not None and kind_of(again) == kind

    hangs = kind.startswith("deadline")
    small = case if hangs else shrink(case, fails)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed_{case['seed']}.py"
    quoted = failure.replace("\\", "/").replace('"""', "'''")
    path.write_text(SCRIPT.format(failure=quoted, case=pprint.pformat(small)))
    print(
        f"seed {case['seed']} failed: {failure.strip().splitlines()[-1][:150]}; see {path}",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
