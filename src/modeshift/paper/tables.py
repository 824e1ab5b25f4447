"""Tables of a run, as data and as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from modeshift.datasets import paper_set
from modeshift.metrics import MEANINGS
from modeshift.paper.cells import FIELDS, TAIL, Cell, central, compare
from modeshift.paper.claims import Verdict
from modeshift.paper.perfect import perfect_scores
from modeshift.paper.plan import SETS
from modeshift.paper.published import COLUMNS, PUBLISHED
from modeshift.paper.results import Results
from modeshift.paper.setting import ALGORITHMS

EXTRA_COLUMNS = {"K weighted": "k_weighted", "ARI": "ari"}


class Table(NamedTuple):
    """A title, a row of heads, rows of text, and a note."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


def all_tables(results: Results, verdicts: list[Verdict]) -> Iterator[Table]:
    """Make the tables of the report, in the order of reading."""
    cells = list(compare(results))
    yield score_table(cells, results)
    yield outside_table(cells)
    yield claims_table(verdicts)
    for verdict in verdicts:
        yield comparisons_table(verdict)
    yield columns_table()
    for index in SETS:
        yield set_table(results, cells, index)
    yield larger_table(results)


def score_table(cells: list[Cell], results: Results) -> Table:
    """Count the published cells inside the spread, by set and algorithm."""
    rows = []
    for algorithm in ("D", "S"):
        inside = [
            sum(
                cell.inside
                for cell in cells
                if (cell.set_number, cell.algorithm) == (index, algorithm)
            )
            for index in SETS
        ]
        rows.append((ALGORITHMS[algorithm], *map(str, inside), str(sum(inside))))
    total = sum(cell.inside for cell in cells)
    return Table(
        f"Published cells inside our spread: {total} of {len(cells)}",
        ("of 7 cells each", *(f"Set {index}" for index in SETS), "of 49"),
        rows,
        "Inside: the published number lies in the central 95% of the seeds, ours rounded as "
        f"printed. {_perfect_sentence(results)}",
    )


def _perfect_sentence(results: Results) -> str:
    """Say what a perfect setting would score. One seed alone cannot tell."""
    if len(results.of("paper").values("seed")) < 2:
        return ""
    low, median, high = np.quantile(perfect_scores(results), [TAIL, 0.5, 1 - TAIL]).astype(int)
    return (
        f"If one of our own seeds plays the paper, the total is {median} (central 95%: {low} to "
        f"{high}). A perfect setting would have such a number."
    )


def outside_table(cells: list[Cell]) -> Table:
    """List the published cells outside the spread, with their percentile."""
    rows = [
        (
            f"Set {cell.set_number}",
            ALGORITHMS[cell.algorithm],
            cell.column,
            number(cell.column, cell.published),
            number(cell.column, cell.median),
            span(cell.column, cell.low, cell.high),
            f"{cell.percentile:.1f}",
        )
        for cell in cells
        if not cell.inside
    ]
    head = ("set", "algorithm", "column", "published", "median", "central 95%", "percentile")
    return Table("Published cells outside our spread", head, rows)


def claims_table(verdicts: list[Verdict]) -> Table:
    """Return the verdict on every claim."""
    return Table(
        "The claims",
        ("claim", "verdict", "why"),
        [(verdict.claim, f"**{verdict.word}**", verdict.why) for verdict in verdicts],
    )


def comparisons_table(verdict: Verdict) -> Table:
    """Show the paired differences behind a verdict."""
    rows = []
    for case, pair in verdict.comparisons.items():
        digits = 1 if "clusters" in case else 3
        interval = f"{pair.low:+.{digits}f} to {pair.high:+.{digits}f}"
        rows.append(
            (case, f"{pair.mean:+.{digits}f}", interval, f"{pair.won:.0%}", f"{pair.tied:.0%}")
        )
    return Table(
        f"{verdict.claim}: {verdict.word}",
        ("difference", "mean", "95% interval", "seeds with a positive one", "ties"),
        rows,
        f"Paired over {pair.seeds} seeds; the interval is the t interval of the mean.",
    )


def columns_table() -> Table:
    """Spell out the columns of the tables of the sets."""
    extra = {
        "K weighted": "K, with clusters and classes weighted by their size",
        "ARI": "adjusted Rand index",
    }
    return Table("The columns", ("column", "meaning"), list((MEANINGS | extra).items()))


def set_table(results: Results, cells: list[Cell], index: int) -> Table:
    """Return published numbers, ours with their spread, and percentiles, for one set."""
    rows = []
    for algorithm, name in ALGORITHMS.items():
        ours = results.of("paper", set=index, algorithm=algorithm)
        if algorithm in PUBLISHED[index]:
            own = [c for c in cells if (c.set_number, c.algorithm) == (index, algorithm)]
            published = (number(cell.column, cell.published) for cell in own)
            ranks = (f"{c.percentile:.0f}" if c.inside else f"**{c.percentile:.1f}**" for c in own)
            rows.append((f"{name}, published", *published, "", ""))
            rows += _our_rows(name, ours)
            rows.append(("percentile of published", *ranks, "", ""))
        else:
            rows += _our_rows(name, ours)
    description = paper_set(index)
    sizes = " + ".join(str(size) for size in description.sizes)
    return Table(
        f"Set {index}: {sizes} points in {description.means.shape[1]}-D",
        ("", *COLUMNS, *EXTRA_COLUMNS),
        rows,
        f"{results.parameters['seeds']} seeds. A percentile in bold is outside the central 95%.",
    )


def larger_table(results: Results) -> Table:
    """Show the larger variant of Set 5, for which the paper gives no numbers."""
    rows = []
    for algorithm, name in ALGORITHMS.items():
        rows += _our_rows(name, results.of("larger", algorithm=algorithm))
    return Table(
        "Set 5 made 12.5 times larger: 1250 + 3750 + 250 points in 2-D",
        ("", *COLUMNS, *EXTRA_COLUMNS),
        rows,
        f"{results.parameters['seeds']} seeds.",
    )


def number(column: str, value: float) -> str:
    """Write a value as the paper prints its column."""
    return f"{value:.0f}" if column == "clusters" else f"{value:.2f}"


def span(column: str, low: float, high: float) -> str:
    """Write an interval."""
    return f"{number(column, low)} to {number(column, high)}"


def markdown(tables: Iterable[Table]) -> str:
    """Write tables as Markdown."""
    parts = ["# Tables", ""]
    for table in tables:
        parts += [f"## {table.title}", ""]
        if table.rows:
            parts.append("| " + " | ".join(table.head) + " |")
            parts.append("|" + " --- |" * len(table.head))
            parts += ["| " + " | ".join(row) + " |" for row in table.rows]
        else:
            parts.append("None.")
        parts += ["", table.note, ""] if table.note else [""]
    return "\n".join(parts)


def _our_rows(name: str, ours: Results) -> list[tuple[str, ...]]:
    """Return the median of our seeds, and below it the central 95%."""
    medians, spans = [], []
    columns = [*zip(COLUMNS, FIELDS, strict=True), *EXTRA_COLUMNS.items()]
    for column, field in columns:
        low, median, high = central(ours.column(field))
        medians.append(number(column, median))
        spans.append(span(column, low, high))
    return [(f"{name}, median", *medians), ("central 95%", *spans)]
