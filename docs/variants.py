"""Draw docs/images/variants.png: every variant on the same data. Run: python docs/variants.py."""

import warnings
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.plots import draw_clusters

H = 0.9
VARIANTS = {
    "MeanShift": MeanShift(bandwidth=H),
    "seeding=30": MeanShift(bandwidth=H, seeding=30, random_state=0),
    'kernel="gaussian", h/2': MeanShift(bandwidth=H / 2, kernel="gaussian"),
    'metric="cosine", 0.2': MeanShift(bandwidth=0.2, metric="cosine"),
    "StochasticMeanShift": StochasticMeanShift(bandwidth=H, random_state=0),
    "bandwidth=(0.7, 1.1)": StochasticMeanShift(bandwidth=(0.7, 1.1), random_state=0),
    "batch_size=15": StochasticMeanShift(bandwidth=H, batch_size=15, random_state=0),
    "n_neighbors=15": StochasticMeanShift(bandwidth=H, n_neighbors=15, random_state=0),
    "BlurringMeanShift": BlurringMeanShift(bandwidth=H),
    'kernel="gaussian", stop="entropy", h/2': BlurringMeanShift(
        bandwidth=H / 2, kernel="gaussian", stop="entropy"
    ),
    'feature_weights="learned", h/√2': BlurringMeanShift(
        bandwidth=H / 2**0.5, feature_weights="learned"
    ),
}


def main() -> None:
    """Fit all variants and draw them side by side."""
    X, y = make_paper_set(3, random_state=0)
    figure = Figure(figsize=(15, 11), layout="constrained")
    axes = figure.subplots(3, 4, sharex=True, sharey=True)
    figure.suptitle(f"Set 3 of the paper, 150 points, h = {H}", fontsize=14)
    # The first two rows have four variants each, the last one three and the classes.
    panels = [*axes.flat]
    for ax, (name, model) in zip(panels, VARIANTS.items(), strict=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit_predict(X)
        draw_clusters(ax, X, y, labels)
        ari = adjusted_rand_score(y, labels)
        ax.set_title(f"{name}\n{labels.max() + 1} clusters, ARI {ari:.2f}", fontsize=11)
    draw_clusters(panels[-1], X, y, y)
    panels[-1].set_title("True classes", fontsize=11)
    for ax in panels:
        ax.set_aspect("equal")
    figure.savefig(Path(__file__).parent / "images" / "variants.png", dpi=100)


if __name__ == "__main__":
    main()
