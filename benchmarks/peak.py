"""The peak of memory of this process."""

import resource
from pathlib import Path


def peak_bytes():
    """Peak of this process alone.

    Linux hands a process its parent's peak as the start of its own ``ru_maxrss``; VmHWM begins
    anew. Elsewhere (macOS) ``ru_maxrss`` is right, and in bytes.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
