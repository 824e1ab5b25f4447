"""Fitted estimators in a notebook: scikit-learn's diagram, and a table of the clusters below it."""

from html import escape
from typing import Any

import numpy as np

from modeshift.engines.kinds import in_memory, is_dask

_CLUSTERS_SHOWN = 8
_CELL = 'style="text-align: right; padding: 0.1em 0.8em"'


class ShowsClusters:
    """Adds a table of the clusters to the representation of fitted estimators in notebooks.

    scikit-learn's ``BaseEstimator`` must come later in the order of classes. All its versions from
    1.6 on build both representations of an estimator in the two methods below.
    """

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + cluster_table(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:  # scikit-learn can be set to show text only
            bundle["text/html"] += cluster_table(self)
        return bundle


def cluster_table(model: Any) -> str:
    """Return the clusters of a fitted model as an HTML table; "" for an unfitted one."""
    if not hasattr(model, "labels_"):
        return ""
    facts = [_count(len(model.cluster_centers_), "cluster")]
    rows: list[list[str]] = []
    if hasattr(model, "n_samples_seen_"):  # labels are those of the last batch
        facts[0] += f" of {_count(model.n_samples_seen_, 'point')}"
    elif not is_dask(model.labels_):  # to count lazy labels would compute them
        labels = in_memory(model.labels_)
        sizes = np.bincount(labels[labels >= 0], minlength=len(model.cluster_centers_))
        n_noise = len(labels) - int(sizes.sum())
        facts[0] += f" of {_count(len(labels), 'point')}"
        facts += [f"{_count(n_noise, 'point')} in none (label -1)"] if n_noise else []
        rows = _rows(sizes, len(labels))
    if hasattr(model, "bandwidth_"):
        facts.append(f"bandwidth {model.bandwidth_:.4g}")
    if getattr(model, "converged_", True) is False:
        facts.append("not converged")
    return f'<div class="modeshift-clusters"><p>{escape("; ".join(facts))}</p>{_table(rows)}</div>'


def _rows(sizes: np.ndarray, n: int) -> list[list[str]]:
    """Return label, size and share of the largest clusters, and of the rest together."""
    rows = [[str(k), f"{size:,}", f"{size / n:.1%}"] for k, size in enumerate(sizes)]
    if len(rows) <= _CLUSTERS_SHOWN:
        return rows
    rest = int(sizes[_CLUSTERS_SHOWN:].sum())
    n_more = len(rows) - _CLUSTERS_SHOWN
    return [*rows[:_CLUSTERS_SHOWN], [f"{n_more:,} more", f"{rest:,}", f"{rest / n:.1%}"]]


def _table(rows: list[list[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th {_CELL}>{name}</th>" for name in ("cluster", "points", "share"))
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{cell}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
