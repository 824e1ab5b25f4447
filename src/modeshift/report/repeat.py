"""A Python script that gives the same labels as the command."""

from typing import Any

import modeshift


def python_code(summary: dict[str, Any]) -> str:
    """Return a script that gives the same labels."""
    data, name = summary["data"], summary["estimator"]
    weight = data["weight"]
    roles = "" if weight is None else f", roles=Roles(weight={weight!r})"
    sheet = "" if data["sheet"] is None else f", sheet={data['sheet']!r}"
    missing = ', missing="drop"' if data["dropped_rows"] else ""
    lines = [
        f"from modeshift import {'Consensus, ' if summary['n_runs'] > 1 else ''}{name}",
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
    fit = "fit(X)" if weight is None else "fit(X, sample_weight=table.weight)"
    model = f"{name}({_given(summary)})"
    if summary["n_runs"] > 1:
        seed = summary["parameters"]["random_state"]
        model = f"Consensus({model}, n_runs={summary['n_runs']}, random_state={seed!r})"
    return "\n".join([*lines, "", f"model = {model}.{fit}", "model.labels_"])


def _given(summary: dict[str, Any]) -> str:
    """Return the arguments of the call: all parameters that are not at their default."""
    defaults = getattr(modeshift, summary["estimator"])().get_params(deep=False)
    return ", ".join(
        f"{name}={value!r}"
        for name, value in (summary["parameters"] | (summary["chosen"] or {})).items()
        if name != "n_jobs" and not _same(value, defaults.get(name))
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
