"""The picture: time over n, on logarithmic scales, ours and the peers'."""

from collections import defaultdict

SUBJECTS = ("stochastic", "bins", "compression")
# Okabe & Ito's colours, told apart with any colour vision; the markers repeat what they say.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000", "#999933"]
MARKERS = "o^sDvPX*"


def draw_growth(rows, path):
    """Draw to ``path``, if there is something that grows. Needs matplotlib."""
    ours, peers = _curves(rows)
    if not ours:
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    ax = figure.subplots()
    styles = zip(COLOURS, MARKERS, strict=True)
    for curves, line in ((ours, "-"), (peers, "--")):
        for name, times in curves.items():
            colour, marker = next(styles)
            ax.plot(*zip(*sorted(times.items()), strict=True), line, color=colour, marker=marker,
                    label=name)  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="points n", ylabel="seconds")
    ax.set_title("Three 2-D Gaussians, h = 0.8: ours solid, others dashed")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _curves(rows):
    """Seconds over n by name, ours and the peers'."""
    ours, peers = defaultdict(dict), defaultdict(dict)
    for row in rows:
        if row.subject not in SUBJECTS:
            continue
        if row.ours_s is not None:
            ours[row.ours][row.n] = row.ours_s
        if row.peer_s is not None:
            peers[row.peer][row.n] = row.peer_s
    return ours, peers
