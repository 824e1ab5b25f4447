"""Draw docs/images/bandwidth.png and tree.png: ``python docs/bandwidth.py``."""

from pathlib import Path

import numpy as np

from modeshift import MeanShift, bandwidth_profile, plots

CENTERS = np.array([[0.0, 0.0], [3.0, 0.0], [12.0, 0.0], [15.0, 0.0]])


def main():
    """Profile four crowds in two pairs."""
    rng = np.random.default_rng(0)
    X = np.concatenate([center + 0.6 * rng.normal(size=(150, 2)) for center in CENTERS])
    profile = bandwidth_profile(X, MeanShift())
    images = Path(__file__).parent / "images"
    title = "Four crowds in pairs"
    plots.bandwidth_profile(profile, title=title).savefig(images / "bandwidth.png", dpi=110)
    plots.cluster_tree(profile, title=title).savefig(images / "tree.png", dpi=110)


if __name__ == "__main__":
    main()
