"""How kernels are compiled: one decorator, with a cache on disk that can be trusted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit


def _package_stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source file of the package."""
    root = Path(__file__).parent
    stats = ((path.relative_to(root).as_posix(), path.stat()) for path in root.rglob("*.py"))
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats))


_STAMP = _package_stamp()


def kernel(function: Callable) -> Any:
    """Compile a function with Numba on its first call, and keep the machine code on disk.

    The GIL is released, so that kernels run side by side in threads. Division by zero follows
    NumPy (no exception), which also lets loops vectorise. Where no place is writable the kernel
    is compiled anew in each process.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no place to write to
        return njit(**options)(function)
    _refresh_with_package(compiled)
    return compiled


def _refresh_with_package(compiled: Any) -> None:
    """Let a change in any file of the package make the cached machine code stale.

    Numba looks only at the file of the function itself. A schedule contains the code of the field
    that it runs on, which lives in another file.
    """
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
