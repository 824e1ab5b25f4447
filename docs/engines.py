"""Write docs/engines.md from the table of parameters: make manual."""

from pathlib import Path

from modeshift.parameters import CONFLICTS, ENGINES, PARAMETERS, WAYS_OUT

HEAD = """# Options of each engine

An engine computes a fit. The data and `device` decide which engine it is, and the fitted attribute
`engine_` has its name:

| engine | data |
| --- | --- |
{engines}

Dask data with `device="cuda"` keep their engine: the GPUs of the workers compute the means, or the
GPU of the client clusters the cells ([GPU](gpu.md)).

The CPU has all options except `algorithm="fast"`. This page is written from the table in
`src/modeshift/parameters.py`. The errors, `device="auto"` (a GPU if there is one and it has all
options that are used, else the CPU) and the tests use the same table.

## Options that an engine refuses

The cell has the reason. An empty cell: the option works. Some parameters are refused only at some
values: `bandwidth` as a pair, `batch_size` of None or 1, and of `algorithm` the values of the other
device. Dask data with `device="cuda"` have the refusals of both columns.

| parameter | {heads} |
| --- | {rules} |
{rows}

Remedy on a GPU: {cuda} Remedy for Dask data without `resolution`: {rounds}

## Options that no engine combines

| parameters | reason and remedy |
| --- | --- |
{conflicts}
"""


def page() -> str:
    """Return the page."""
    others = [name for name in ENGINES if name != "cpu"]
    return HEAD.format(
        engines="\n".join(f"| `{name}` | {words} |" for name, words in ENGINES.items()),
        heads=" | ".join(ENGINES[name] for name in others),
        rules=" | ".join("---" for _ in others),
        rows="\n".join(_row(name, others) for name, row in PARAMETERS.items() if row.refusals),
        cuda=WAYS_OUT["cuda"].format(name="the option").replace("Take", "take"),
        rounds=WAYS_OUT["rounds"].format(name="the option").replace("Leave", "leave"),
        conflicts="\n".join(
            f"| `{conflict.name}`, `{conflict.other}` | {conflict.why} |" for conflict in CONFLICTS
        ),
    )


def _row(name: str, engines: list[str]) -> str:
    refusals = {refusal.engine: refusal for refusal in PARAMETERS[name].refusals}
    cells = [refusals[engine].why if engine in refusals else "" for engine in engines]
    return f"| `{name}` | {' | '.join(cells)} |"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
