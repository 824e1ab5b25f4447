"""Diarization errors by counting whole seconds, and by trying every pairing of speakers."""

from itertools import permutations

import numpy as np


def errors(reference, found, *, evaluated=None, collar=0, skip_overlap=False):
    """DER's parts, JER, ACP, ASP and the numbers of speakers; all times are whole numbers."""
    times = [t for start, end, _ in [*reference, *found] for t in (start, end)]
    regions = [(min(times), max(times))] if evaluated is None else evaluated
    scored = []
    for second in range(min(min(r) for r in regions), max(max(r) for r in regions)):
        true = {s for start, end, s in reference if start <= second < end}
        ours = {s for start, end, s in found if start <= second < end}
        inside = any(start <= second < end for start, end in regions)
        near = any(
            b - collar <= second < b + collar
            for start, end, _ in reference if start < end for b in (start, end)
        )  # fmt: skip
        if inside and not near and not (skip_overlap and len(true) > 1):
            scored.append((true, ours))
    names = sorted({s for true, _ in scored for s in true})
    others = sorted({s for _, ours in scored for s in ours})
    shared = np.array([[sum(r in t and q in f for t, f in scored) for q in others] for r in names])
    shared = shared.reshape(len(names), len(others)).astype(float)
    times = np.array([sum(r in t for t, _ in scored) for r in names], dtype=float)
    heard = np.array([sum(q in f for _, f in scored) for q in others], dtype=float)
    ratios = shared / (times[:, None] + heard - shared)
    correct = _best(shared)
    return {
        "speech": sum(len(t) for t, _ in scored),
        "missed": sum(max(len(t) - len(f), 0) for t, f in scored),
        "false_alarm": sum(max(len(f) - len(t), 0) for t, f in scored),
        "confusion": sum(min(len(t), len(f)) for t, f in scored) - correct,
        "jer": 1.0 - _best(ratios) / len(names) if names else np.nan,
        "acp": _purity(shared.T),
        "asp": _purity(shared),
        "n_speakers": len(names),
        "n_found": len(others),
    }


def _best(table):
    """The largest sum over all pairings."""
    if table.shape[0] > table.shape[1]:
        table = table.T
    rows, columns = table.shape
    return max(
        (sum(table[i, j] for i, j in enumerate(p)) for p in permutations(range(columns), rows)),
        default=0.0,
    )


def _purity(table):
    shares = [row / row.sum() if row.sum() else row for row in table]
    return np.mean([(row**2).sum() for row in shares]) if len(shares) else np.nan
