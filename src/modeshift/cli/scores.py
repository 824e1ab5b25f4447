"""The scores that the command reports."""

from typing import Any

from modeshift.cli.errors import UserError

_MORE_MEANINGS = {
    "K by size": "K, with clusters and classes weighted by their size",
    "ARI": "adjusted Rand index",
    "NMI": "normalised mutual information",
}


def score_labels(truth: Any, predicted: Any) -> dict[str, float]:
    """Return the paper's seven columns, K weighted by size, ARI and NMI.

    Parameters
    ----------
    truth : polars.Series
        Classes.
    predicted : polars.Series or ndarray
        Clusters. -1 is noise: each such point counts as a cluster of its own.
    """
    import numpy as np
    import polars as pl
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from modeshift.metrics import k_score, purity_report

    classes, clusters = _labels(truth), _labels(pl.Series("cluster", predicted))
    report = purity_report(classes, clusters)
    apart = clusters.copy()
    if clusters.dtype.kind == "i":  # each point of noise is its own cluster, here too
        noise = np.flatnonzero(clusters == -1)
        apart[noise] = clusters.max() + 1 + np.arange(len(noise))
    return {
        "ACP": report.acp,
        "ASP": report.asp,
        "K": report.k,
        "Pur_C": report.pur_c,
        "Pur_D": report.pur_d,
        "G": report.g,
        "clusters": report.n_clusters,
        "K by size": k_score(classes, clusters, weighted=True),
        "ARI": float(adjusted_rand_score(classes, apart)),
        "NMI": float(normalized_mutual_info_score(classes, apart)),
    }


def spelled_out(scores: dict[str, float]) -> list[str]:
    """Return a line for each score: name, value, meaning."""
    from modeshift.metrics import MEANINGS

    meanings = MEANINGS | _MORE_MEANINGS
    return [
        f"{name:9s} {f'{value:,}' if isinstance(value, int) else f'{value:.4f}':>7s}  "
        f"{meanings[name]}"
        for name, value in scores.items()
    ]


def _labels(series: Any) -> Any:
    """Return the labels as whole numbers if all of them are, else as text."""
    import polars as pl

    missing = series.is_null()
    if missing.any():
        raise UserError(
            f"column {series.name!r} has no label in row {missing.arg_max() + 1}; "
            "give every point a label, or drop it"
        )
    whole = series.cast(pl.Int64, strict=False)
    return whole.to_numpy() if not whole.is_null().any() else series.cast(pl.String).to_numpy()
