"""``modeshift info``: versions, threads, GPU and caches, for bug reports."""

import argparse
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_OPTIONAL = {
    "cli": ("polars", "pyarrow", "rich", "shtab"),
    "excel": ("fastexcel", "xlsxwriter"),
    "plots": ("matplotlib",),
    "gpu": ("torch", "triton"),
}


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "show versions, threads, GPU and caches"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "info",
        help=text,
        description="Show versions, threads, GPU and caches. Add the output to a bug report.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (default: a table)")
    return parser


def run(options: argparse.Namespace) -> None:
    """Collect and print."""
    facts = collect()
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        width = max(len(name) for name in facts)
        for name, value in facts.items():
            print(f"{name:{width}s}  {value}")


def collect() -> dict[str, Any]:
    """Return all facts, by name."""
    from modeshift.report.summary import versions

    files = _kernel_files()
    size = sum(file.stat().st_size for file in files)
    return {
        **versions(),
        **{
            package: _version(package) or f"not installed (pip install 'modeshift[{extra}]')"
            for extra, packages in _OPTIONAL.items()
            for package in packages
        },
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": os.cpu_count(),
        "cores for this process": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "compiled kernels": "switched off (NUMBA_DISABLE_JIT)"
        if _numba_setting("DISABLE_JIT")
        else f"{len(files)} files, {size / 2**20:.1f} MiB",
        "kept in": str(files[0].parent) if files else "no folder yet",
        "GPU": _gpu(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _kernel_files() -> list[Path]:
    """Return the files of machine code that Numba keeps for this package."""
    place = _numba_setting("CACHE_DIR") or Path(__file__).parents[1]
    return sorted(Path(place).rglob("*.nbc"))


def _numba_setting(name: str) -> Any:
    from numba import config

    return getattr(config, name)


def _gpu() -> str:
    """Return the name of the GPU, by Numba: PyTorch takes long to import."""
    from numba import cuda

    try:
        if cuda.is_available():
            name = cuda.get_current_device().name
            return name.decode() if isinstance(name, bytes) else str(name)
    except Exception as error:  # a driver can fail in many ways; this command must not fail
        return f"not usable ({type(error).__name__})"
    return "none found"
