"""Rows of the one table, and how they are printed."""

from dataclasses import dataclass, field

COLUMNS = ("what", "n", "ours s", "peer", "peer s", "ratio", "clusters", "ARI", "bar")


@dataclass
class Row:
    """One comparison. What a row has no number for stays None and is printed as a dash.

    ``ratio`` is the peer's seconds over ours, unless ``what`` names something else. ``clusters``
    and ``ari`` are ours; those of the peer stand behind them in the table.
    """

    subject: str
    what: str
    n: int
    ours: str = ""
    ours_s: float | None = None
    peer: str | None = None
    peer_s: float | None = None
    ratio: float | None = None
    clusters: int | None = None
    peer_clusters: int | None = None
    ari: float | None = None
    peer_ari: float | None = None
    bar: str | None = None
    met: bool | None = None
    notes: list[str] = field(default_factory=list)

    def set_peer(self, seconds, *notes):
        """Fill in the peer's seconds, the ratio, and what is to be said about them."""
        self.peer_s = seconds
        self.ratio = seconds / self.ours_s
        self.notes += filter(None, notes)

    def at_least(self, limit):
        """Set the bar: the ratio must reach ``limit``."""
        return self.judge(f"≥ {limit:g}", None if self.ratio is None else self.ratio >= limit)

    def at_most(self, limit):
        """Set the bar: the ratio must not exceed ``limit``."""
        return self.judge(f"≤ {limit:g}", None if self.ratio is None else self.ratio <= limit)

    def judge(self, bar, met):
        """Set a bar in words and whether it is met; None where the peer has no time."""
        self.bar, self.met = bar, None if met is None else bool(met)
        return self

    def cells(self):
        verdict = {True: " met", False: " MISSED", None: ""}[self.met]
        return (
            self.what,
            f"{self.n:,}",
            _number(self.ours_s),
            ", ".join(filter(None, (self.peer, *self.notes))) or "–",
            _number(self.peer_s),
            _number(self.ratio),
            _pair(self.clusters, self.peer_clusters, "d"),
            _pair(self.ari, self.peer_ari, ".3f"),
            f"{self.bar}{verdict}" if self.bar else "–",
        )


def markdown(rows):
    """Lay the rows out as a Markdown table that is also legible as plain text."""
    lines = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(COLUMNS))]
    printed = [_line(line, widths) for line in lines]
    printed.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(printed)


def _line(cells, widths):
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _number(value):
    """Three digits that count."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _pair(ours, peer, how):
    if ours is None and peer is None:
        return "–"
    both = ["–" if value is None else format(value, how) for value in (ours, peer)]
    return both[0] if peer is None else " / ".join(both)
