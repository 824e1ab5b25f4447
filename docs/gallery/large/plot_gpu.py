"""
Times on a GPU
==============

Seconds of a fit on a GPU and on the CPU of the same machine. They were measured once and kept in
``benchmarks/gpu.json``; this page draws them and measures nothing. :doc:`/gpu` says how.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

kept = json.loads(Path("../../../benchmarks/gpu.json").read_text())
machine, rows = kept["machine"], kept["rows"]
fits = [row for row in rows["cores"] if "array" in row["what"]]
sweeps = [row for row in rows["sweep"] if "grouped" in row["what"] and row["d"] == 256]
PARTS = {
    "a fit of 1,000,000 points in the plane; the peer is this library on the CPU": fits,
    "a sweep of 131,072 points in 256 dimensions; the peer is PyTorch, float32": sweeps,
}

# Picture: Bars of milliseconds on a logarithmic axis, GPU above and peer below it. MeanShift takes
# 2 seconds instead of 45, BlurringMeanShift 0.3 instead of 6.5. A sweep takes 106 milliseconds
# exact and 29 fast, instead of 526.
figure, axes = plt.subplots(2, 1, figsize=(9, 5.6), layout="constrained")
for ax, (title, some) in zip(axes, PARTS.items(), strict=True):
    places = np.arange(len(some))
    for offset, key, name in [(-0.2, "ours_ms", "GPU"), (0.2, "peer_ms", "peer")]:
        bars = ax.barh(places + offset, [row[key] for row in some], height=0.38, label=name)
        ax.bar_label(bars, fmt="{:,.0f} ms", padding=3)
    ax.set_yticks(places, [row["what"].removeprefix("sweep, ") for row in some])
    ax.set(xscale="log", xlim=(10, 200_000), title=title)
    ax.set_xticks([], [])  # the bars have their numbers
    ax.minorticks_off()
    ax.invert_yaxis()
    ax.legend()
figure.supxlabel(f"milliseconds; {machine['gpu']}, {machine['cores']} CPU cores, {machine['date']}")

# %%
# **What to do with it.** A GPU pays from about 100,000 points or many dimensions on. Fits of a few
# thousand points are faster on the CPU.
