"""How kernels are compiled: one decorator, with a cache on disk that can be trusted."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit


def _package_stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source file of the package."""
    root = Path(__file__).parent
    stats = ((path.relative_to(root).as_posix(), path.stat()) for path in root.rglob("*.py"))
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats))


_STAMP = _package_stamp()


def bare_kernel(function: Callable, **options: Any) -> Any:
    """Compile a kernel that makes no arrays and counts no references to those it is given.

    Counting is what a short step on a state of many arrays would spend most of its time on.
    """
    return kernel(function, _nrt=False, **options)


def fast_sums(function: Callable) -> Any:
    """Compile a bare kernel whose sums may be taken in any order, which is several times faster.

    Only for functions that add up and decide nothing: no comparison may depend on rounding.
    """
    return bare_kernel(function, fastmath={"reassoc", "nsz"})


def kernel(function: Callable, **options: Any) -> Any:
    """Compile a function with Numba on its first call, and keep the machine code on disk.

    The GIL is released, so that kernels run side by side in threads. Division by zero follows
    NumPy (no exception), which also lets loops vectorise. Where no place is writable the kernel
    is compiled anew in each process.
    """
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no place to write to
        return njit(**options)(function)
    _mend_cache(compiled)
    return compiled


def _mend_cache(compiled: Any) -> None:
    """Let any change in the package make cached code stale, and a full disk be no error.

    Numba looks only at the file of the function itself. A schedule contains the code of the field
    that it runs on, which lives in another file.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if not hasattr(cache, "_cache_file"):
        return  # the JIT is switched off
    cache._cache_file._source_stamp = (cache._cache_file._source_stamp, _STAMP)
    save = cache.save_overload

    def save_if_possible(signature: Any, data: Any) -> None:
        with suppress(OSError):
            save(signature, data)

    cache.save_overload = save_if_possible
