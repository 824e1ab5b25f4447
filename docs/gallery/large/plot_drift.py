"""
Drift: forget with a half-life
==============================

A source moves slowly around another one that rests (made data). All points with the same weight
smear the path, and the cluster stays behind. With ``half_life=2000`` a point counts half after
2,000 others, so the clusters follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift import MeanShift

rng = np.random.default_rng(0)
angles = np.linspace(0, 1.5 * np.pi, 40)
settings = {"bandwidth": 1.0, "resolution": 8}
models = {"nothing forgotten": None, "half_life=2000": 2_000}
paths = {name: [] for name in models}
for name, half_life in models.items():
    model = MeanShift(**settings)
    for angle in angles:
        middles = np.array([[0, 0], [4 * np.cos(angle), 4 * np.sin(angle)]])
        batch = middles[rng.integers(2, size=1_000)] + 0.4 * rng.normal(size=(1_000, 2))
        model.partial_fit(batch, half_life=half_life)
        centres = model.cluster_centers_
        far = centres[np.linalg.norm(centres, axis=1) > 2]
        paths[name].append(far[0] if len(far) else [np.nan, np.nan])

# Picture: The way of the source as a grey arc, and the centre that was found after each batch.
# Without forgetting the centres stay behind; with a half-life they follow.
figure, axes = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
truth = 4 * np.array([np.cos(angles), np.sin(angles)])
for ax, (name, path) in zip(axes, paths.items(), strict=True):
    ax.plot(*truth, color="0.8", lw=8, solid_capstyle="round", label="the source")
    ax.plot(*np.array(path).T, "o-", ms=4, label="the cluster found")
    behind = np.nanmean(np.linalg.norm(np.array(path) - truth.T, axis=1))
    ax.set(title=f"{name}: {behind:.1f} behind", aspect="equal")
    ax.legend(loc="lower left")
