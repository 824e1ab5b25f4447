"""How much memory this process may still take."""

import os
from pathlib import Path
from typing import NamedTuple

_LIBRARIES = 2 << 30  # address space that libraries and the compiler take beside the data

OWN_GROUPS = Path("/proc/self/cgroup")


class Groups(NamedTuple):
    """Where a version of cgroups says what a group may take and has taken."""

    root: Path
    limit: str
    taken: str
    prefix: str


GROUPS = {
    "": Groups(Path("/sys/fs/cgroup"), "memory.max", "memory.current", ""),
    "memory": Groups(
        Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
    ),
}
"""Versions 2 and 1, by the controllers that a line of `OWN_GROUPS` names."""


def available() -> float:
    """Return the number of bytes that this process may still take; inf if nothing says so."""
    return min(_free_in_machine(), _free_address_space(), free_in_groups())


def _free_in_machine() -> float:
    found = _numbers("/proc/meminfo").get("MemAvailable")
    return float("inf") if found is None else 1024.0 * found


def _free_address_space() -> float:
    """Return what a limit such as ``ulimit -v`` leaves."""
    try:
        import resource
    except ImportError:  # not on Windows
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    taken = _numbers("/proc/self/status").get("VmSize")
    if limit == resource.RLIM_INFINITY or taken is None:
        return float("inf")
    return max(0.0, float(limit) - 1024.0 * taken - _LIBRARIES)


def free_in_groups() -> float:
    """Return what the limits of the groups of this process leave (cgroups, as of containers)."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:  # not on Linux
        return float("inf")
    free = [float("inf")]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if kind := GROUPS.get(controllers):
            group = kind.root / path.lstrip("/")
            inner = (each for each in (group, *group.parents) if each.is_relative_to(kind.root))
            free += [_free_in_group(each, kind) for each in inner]
    return min(free)


def _free_in_group(group: Path, kind: Groups) -> float:
    """Return what the limit of one group leaves; the memory of cached files can be had."""
    try:
        limit, taken = ((group / name).read_text() for name in (kind.limit, kind.taken))
        stat = _numbers(str(group / "memory.stat"))
        cached = sum(stat.get(f"{kind.prefix}{age}_file", 0) for age in ("active", "inactive"))
        return max(0.0, float(limit) - float(taken) + cached)
    except (OSError, ValueError):  # there is no limit here, or it is "max"
        return float("inf")


def _numbers(path: str) -> dict[str, int]:
    """Return the first number of each line ``name: number unit``; nothing if there is no file."""
    if not os.path.exists(path):
        return {}
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {
        words[0].rstrip(":"): int(words[1]) for words in lines if words[1:] and words[1].isdigit()
    }
