"""The report: one HTML page without other files."""

import re
from base64 import b64encode
from html import escape
from pathlib import Path

from modeshift.paper.cells import compare
from modeshift.paper.results import Results
from modeshift.paper.setting import ALGORITHMS, Setting
from modeshift.paper.tables import Table

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
th { background: #f2f2f2; }
.wide { overflow-x: auto; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; }
figcaption, .note { color: #444; font-size: 0.9rem; }
"""


def make_report(
    results: Results,
    settings: dict[str, Setting],
    tables: list[Table],
    figures: list[tuple[str, str]],
    folder: Path,
) -> str:
    """Write the page.

    Parameters
    ----------
    results : Results
    settings : dict
        Setting of each algorithm.
    tables : list of Table
        In the order of reading; the first three come before the figures.
    figures : list of (name, caption)
    folder : Path
        Folder of the figures' PNG files.
    """
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>Stochastic mean-shift, reproduced</title><style>{_STYLE}</style></head><body>",
        "<h1>Stochastic mean-shift clustering, reproduced</h1>",
        _introduction(results),
        _settings_table(settings),
        "<h2>What holds</h2>",
        *(_table(table, "h3") for table in tables[:3]),
        "<h2>Figures</h2>",
        *(_figure(folder / f"{name}.png", caption) for name, caption in figures),
        "<h2>Tables</h2>",
        *(_table(table, "h3") for table in tables[3:]),
        "<h2>Where this came from</h2>",
        _environment(results),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _introduction(results: Results) -> str:
    inside = sum(cell.inside for cell in compare(results))
    return (
        "<p>Every experiment of I. Lapidot, <i>Stochastic mean-shift clustering</i> "
        '(<a href="https://arxiv.org/abs/2312.15684">arXiv 2312.15684</a>), run again with '
        f"{results.parameters['seeds']} seeds. The paper reports one run a cell and states neither "
        "h nor Th1 nor Th2; with the setting below "
        f"<b>{inside} of its 98 cells</b> lie inside the central 95% of our seeds. D is the "
        "deterministic algorithm and S the stochastic one; blurring is not in the paper.</p>"
    )


def _settings_table(settings: dict[str, Setting]) -> str:
    rows = [
        (ALGORITHMS[algorithm], *("" if value is None else f"{value:g}" for value in setting))
        for algorithm, setting in settings.items()
    ]
    return _table(Table("The setting", ("", "h", "Th1", "Th2", "quiet steps"), rows), "h2")


def _table(table: Table, level: str) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    body = f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>' if rows else "None."
    note = f'<p class="note">{_text(table.note)}</p>' if table.note else ""
    return f"<{level}>{_text(table.title)}</{level}>{body}{note}"


def _text(markdown: str) -> str:
    """Return text as HTML, with **bold** in bold."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(markdown))


def _figure(path: Path, caption: str) -> str:
    data = b64encode(path.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(path.stem)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _environment(results: Results) -> str:
    rows = [(str(name), str(value)) for name, value in results.environment.items()]
    return _table(Table("Environment", ("", ""), rows), "h3")
