"""The content of the page, as plain values: that of the explorer, and what stands around it."""

from typing import Any

from modeshift.estimators.mean_shift import MeanShift
from modeshift.report.fits import DescribedFit
from modeshift.report.repeat import python_code


def make_content(fit: DescribedFit, explorer: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the page around that of the explorer."""
    summary, climb = fit.summary, fit.climb
    return {
        "title": _title(summary),
        "lead": _lead(summary),
        "explorer": explorer,
        "moving": climb.all_moving if explorer["climb"] and climb else [],
        "movingNote": _moving_note(fit.model),
        "command": summary["command"],
        "python": python_code(summary),
        "facts": _facts(summary),
    }


def _moving_note(fitted: Any) -> str:
    fitted = getattr(fitted, "estimator_", fitted)  # of a Consensus one of its runs
    if isinstance(fitted, MeanShift):
        return "Climbs that are still going. Climbs that have met count once."
    what = "points" if fitted.resolution is None else "cells of points (see resolution)"
    return f"Number of {what} that moved further than the tolerance."


def _title(summary: dict[str, Any]) -> str:
    data = summary["data"]
    return f"Clusters of {data['file'] or _count(data['points'], 'point')}"


def _lead(summary: dict[str, Any]) -> str:
    data, seconds = summary["data"], summary["seconds"]
    scaled = ", standardized" if data["standardized"] else ""
    noise = f", {_count(summary['n_noise'], 'point')} in none" if summary["n_noise"] else ""
    end = "converged" if summary["converged"] else "not converged"
    time = f", {seconds['fit']:.2f} s" if "fit" in seconds else ""
    return (
        f"{_count(data['points'], 'point')}, {_count(len(data['features']), 'feature')}{scaled}. "
        f"{summary['estimator']} with bandwidth {summary['bandwidth']:.4g}"
        f"{' km' if data['on_globe'] else ''} found "
        f"{_count(summary['n_clusters'], 'cluster')} among all points{noise}; {end}{time}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _facts(summary: dict[str, Any]) -> list[list[str]]:
    data = summary["data"]
    file = {
        "data": data["file"],
        "columns left out": ", ".join(data["columns_left_out"]) or "none",
        "rows dropped for missing values": f"{data['dropped_rows']:,}",
    }
    facts = {
        **({} if data["file"] is None else file),
        "features": ", ".join(data["features"]),
        "steps taken": f"{summary['n_steps']:,}",
        "computed on": summary["device"],
        **{name: str(value) for name, value in summary["parameters"].items()},
        **{f"{name}, chosen": str(value) for name, value in (summary["chosen"] or {}).items()},
        **{f"{name}, against the truth": f"{value:.4g}" for name, value in
           (summary["scores"] or {}).items()},
        "versions": ", ".join(f"{name} {version}" for name, version in summary["versions"].items()),
    }  # fmt: skip
    return [[name, value] for name, value in facts.items()]
