"""Write docs/engines.md from the table of parameters: make manual."""

from pathlib import Path

from modeshift.parameters import CONFLICTS, ENGINES, PARAMETERS, WAYS_OUT

HEAD = """# What each engine can do

An engine is the place where a fit is computed. The data and `device` decide which one it is:

| engine | data |
| --- | --- |
{engines}

The CPU does everything. This page is written from the table in `src/modeshift/parameters.py`. The
errors, `device="auto"` (a GPU if there is one and nothing below stands in the way) and the tests
come from the same table.

## Refused by an engine

| parameter | {heads} |
| --- | {rules} |
{rows}

An empty cell: it works. The way out: on a GPU {cuda} For Dask data without `resolution`: {rounds}

## Refused by all engines

| parameters | why |
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
