"""Decorators that compile kernels with Numba, with a reliable cache on disk."""

import re
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.event import Listener, register

from modeshift.watching.compiling import COMPILATION

_MARK_OF_KERNELS = re.compile(
    rb"^(?:from|import) (?:numba|modeshift\.engines\.cpu\.jit)\b|^@implements\b", re.MULTILINE
)
"""Matches every file that holds kernels: such a file imports Numba or the decorators below, or
implements an operation of fields."""


def kernel_sources() -> dict[str, bytes]:
    """Return the source of every file of the package that holds kernels, by its path there."""
    root = Path(__file__).parents[2]
    sources = ((path, path.read_bytes()) for path in sorted(root.rglob("*.py")))
    return {
        path.relative_to(root).as_posix(): source
        for path, source in sources
        if _MARK_OF_KERNELS.search(source)
    }


def kernel_stamp() -> str:
    """Return a digest of all files that hold kernels."""
    digest = sha256()
    for name, source in kernel_sources().items():
        digest.update(f"{name}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()


_STAMP = kernel_stamp()


class _Ear(Listener):
    """Tells ``COMPILATION`` when Numba compiles one of our kernels."""

    def on_start(self, event: Any) -> None:
        """Hear that Numba begins to compile."""
        kernel = event.data["dispatcher"]
        if _is_ours(kernel):
            COMPILATION.begin(kept=kernel.stats.cache_path is not None)

    def on_end(self, event: Any) -> None:
        """Hear that Numba has compiled, or failed to."""
        if _is_ours(event.data["dispatcher"]):
            COMPILATION.end()


def _is_ours(kernel: Any) -> bool:
    return str(kernel.py_func.__module__).startswith("modeshift.")


register("numba:compile", _Ear())


def bare_kernel(function: Callable, **options: Any) -> Any:
    """Compile a kernel that makes no arrays and does not count references to its arguments.

    Otherwise a short step on a state of many arrays would spend most of its time on counting.
    """
    return kernel(function, _nrt=False, **options)


def inlined_kernel(function: Callable) -> Any:
    """Compile a bare kernel that becomes a part of its callers.

    Otherwise each call copies its arguments, and a state has many arrays.
    """
    return bare_kernel(function, forceinline=True)


def merged_kernel(function: Callable) -> Any:
    """Make a function a part of its only caller, which is then compiled as one.

    A kernel of its own would be compiled twice: alone, and again in its caller.
    """
    return bare_kernel(function, inline="always")


def fast_sums(function: Callable) -> Any:
    """Compile a bare kernel whose sums may be taken in any order, which is several times faster.

    Use it only for sums: no comparison may depend on the rounding.
    """
    return bare_kernel(function, fastmath={"reassoc", "nsz"})


def kernel(function: Callable, **options: Any) -> Any:
    """Compile a function with Numba on its first call, and keep the machine code on disk.

    The GIL is released, so that kernels run side by side in threads. Division by zero follows
    NumPy (no exception); this also lets loops vectorise. If no place is writable, every process
    compiles the kernel for itself.
    """
    # Nothing calls kernels from C, and a wrapper for that is a tenth of the time to compile.
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no place to write to
        return njit(**options)(function)
    _mend_cache(compiled)
    return compiled


def _mend_cache(compiled: Any) -> None:
    """Recompile all kernels when one of them changes, and ignore a full disk and old files.

    Numba looks only at the file of the function itself. But a compiled loop contains the code of
    the field that it runs on, and that code is in another file.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if not hasattr(cache, "_cache_file"):
        return  # the JIT is switched off
    cache._cache_file._source_stamp = (cache._cache_file._source_stamp, _STAMP)
    load = cache._cache_file._load_index

    def load_if_known() -> dict:
        try:
            return load()
        except (AttributeError, ImportError):  # an older version, with classes that are gone
            return {}

    cache._cache_file._load_index = load_if_known
    save = cache.save_overload

    def save_if_possible(signature: Any, data: Any) -> None:
        with suppress(OSError):
            save(signature, data)

    cache.save_overload = save_if_possible
