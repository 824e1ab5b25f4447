"""Install built files into bare environments, and try them there as a user would.

Each environment has one Python, one of the built files (the wheel or the sdist), and either the
lowest versions of all dependencies that pyproject.toml allows or the newest that exist. In each of
them ``pip check`` must find nothing, ten lines of Python and the command must work, and every extra
must bring what it names.

    python tools/try_dist.py dist/*.whl dist/*.tar.gz --python python3.11 --python python3.13
"""

import argparse
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

EXTRAS = {
    "plots": ["matplotlib"],
    "cli": ["polars", "pyarrow", "rich", "shtab"],
    "excel": ["fastexcel", "xlsxwriter"],
    "dask": ["dask.array", "dask.dataframe", "distributed"],
    "image": ["PIL", "tifffile"],
    "widget": ["anywidget"],
}
"""What each extra of a user brings. ``gpu`` and ``speech`` are left out: PyTorch is gigabytes."""

TEN_LINES = """
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, datasets, metrics
X, y = datasets.make_paper_set(1, random_state=0)
for make in (MeanShift, StochasticMeanShift, BlurringMeanShift):
    model = make(bandwidth=0.85)
    if make is StochasticMeanShift:
        model.set_params(random_state=0)
    model.fit(X)
    assert (model.predict(X) == model.labels_).all()
    print(make.__name__, len(model.cluster_centers_), round(metrics.k_score(y, model.labels_), 3))
"""


def requirements(extras: list[str]) -> list[str]:
    """Return the requirements of the package and some extras, those of nested extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = list(project["dependencies"])
    for extra in extras:
        for line in project["optional-dependencies"][extra]:
            if line.startswith("modeshift["):
                found += requirements(line[len("modeshift[") : -1].split(","))
            else:
                found.append(line)
    return sorted(set(found))


def lowest(extras: list[str]) -> list[str]:
    """Return the requirements with each lower bound as the only version."""
    return [line.replace(">=", "==") for line in requirements(extras)]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder and return what it printed; show that and stop if it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def try_one(built: Path, python: str, versions: str, extras: list[str]) -> None:
    """Install one file with one set of versions, and use it."""
    with tempfile.TemporaryDirectory(prefix="modeshift-") as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "env", folder=folder)
        inside = folder / "env" / "bin" / "python"
        what = f"modeshift[{','.join(extras)}] @ {built.resolve().as_uri()}"
        pins = lowest(extras) if versions == "lowest" else []
        run(inside, "-m", "pip", "install", "--quiet", what, *pins, folder=folder)
        run(inside, "-m", "pip", "check", folder=folder)
        started = time.perf_counter()
        print(run(inside, "-W", "error", "-c", TEN_LINES, folder=folder))
        print(f"ten lines, kernels compiled: {time.perf_counter() - started:.1f} s")
        for extra in extras:
            run(inside, "-c", f"import {', '.join(EXTRAS[extra])}", folder=folder)
        if "cli" in extras:
            try_command(folder)


def try_command(folder: Path) -> None:
    """Cluster 750 rows with the command, twice; the second time no kernel is compiled."""
    python, command = (folder / "env" / "bin" / name for name in ("python", "modeshift"))
    write = (
        "import numpy as np; from modeshift import datasets; "
        "np.savetxt('points.csv', datasets.make_paper_set(1, random_state=0)[0], delimiter=',', "
        "header='x,y', comments='')"
    )
    run(python, "-c", write, folder=folder)
    cluster = (command, "cluster", "points.csv", "--bandwidth", "0.85", "--seed", "0", "--force")
    run(*cluster, folder=folder)
    started = time.perf_counter()
    print(run(*cluster, folder=folder))
    print(f"modeshift cluster, 750 rows: {time.perf_counter() - started:.2f} s")
    print(run(command, "info", folder=folder))


def main() -> None:
    """Try every file with every Python, with the lowest and the newest versions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("built", nargs="+", type=Path, help="wheels and sdists")
    parser.add_argument("--python", action="append", help="default: the one that runs this")
    parser.add_argument("--versions", action="append", choices=("lowest", "newest"))
    chosen = parser.parse_args()
    for python in chosen.python or [sys.executable]:
        for built in chosen.built:
            for versions in chosen.versions or ("lowest", "newest"):
                for extras in ([], list(EXTRAS)):
                    print(f"--- {built.name}, {python}, {versions}, extras: {extras}", flush=True)
                    try_one(built, python, versions, extras)


if __name__ == "__main__":
    main()
