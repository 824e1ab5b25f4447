"""A Python script that gives the same labels."""

import ast
from typing import Any

import numpy as np

import modeshift


def python_code(summary: dict[str, Any]) -> str:
    """Return a script that gives the same labels, from the file or from the X of the fit."""
    data, name = summary["data"], summary["estimator"]
    start = [f"from modeshift import {'Consensus, ' if summary['n_runs'] > 1 else ''}{name}"]
    weights = data["weight"]
    if data["file"] is not None:
        start = _reading(start, data)
        weights = weights and "table.weight"
    fit = "fit(X)" if weights is None else f"fit(X, sample_weight={weights})"
    return "\n".join([*start, "", f"model = {model_code(summary)}.{fit}", "model.labels_"])


def model_code(summary: dict[str, Any]) -> str:
    """Return the call that makes the estimator, unfitted."""
    model = f"{summary['estimator']}({_given(summary)})"
    if summary["n_runs"] > 1:
        seed = _literal(summary["parameters"]["random_state"])
        model = f"Consensus({model}, n_runs={summary['n_runs']}, random_state={seed})"
    return model


def _reading(start: list[str], data: dict[str, Any]) -> list[str]:
    """Return the lines that read and scale the data of the command."""
    weight = data["weight"]
    roles = "" if weight is None else f", roles=Roles(weight={weight!r})"
    sheet = "" if data["sheet"] is None else f", sheet={data['sheet']!r}"
    missing = ', missing="drop"' if data["dropped_rows"] else ""
    lines = [
        *start,
        "from modeshift.io.source import open_source",
        f"from modeshift.io.table import {'' if weight is None else 'Roles, '}read_table",
        "",
        f"columns = {data['features']!r}",
        f"source = open_source({data['file']!r}, columns{sheet})",
        f"table = read_table(source, columns{roles}{missing})",
        "X = table.points",
    ]
    if data["standardized"]:
        how = "axis=0" if weight is None else "axis=0, weights=table.weight"
        lines = ["import numpy as np", *lines]
        lines += [f"X = X - np.average(X, {how})", f"X = X / np.sqrt(np.average(X**2, {how}))"]
    return lines


def _given(summary: dict[str, Any]) -> str:
    """Return the arguments of the call: all parameters that are not at their default."""
    defaults = getattr(modeshift, summary["estimator"])().get_params(deep=False)
    return ", ".join(
        f"{name}={_literal(value)}"
        for name, value in (summary["parameters"] | (summary["chosen"] or {})).items()
        if name != "n_jobs" and not _same(value, defaults.get(name))
    )


def _literal(value: Any) -> str:
    """Return a value as Python code; ``...`` stands for objects that have no such code."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    try:
        ast.literal_eval(repr(value))
    except (SyntaxError, ValueError):
        return "float('inf')" if value == np.inf else "..."
    return repr(value)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
