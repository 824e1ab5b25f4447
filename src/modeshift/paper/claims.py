"""The paper's claims, tested: paired comparisons over the seeds, and a verdict in words."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from modeshift.paper.plan import MAP_SETS, SETS
from modeshift.paper.results import Results

HOLDS, PARTLY, FAILS = "holds", "holds partly", "does not hold"

COLLAPSED = 0.5
"""Cluster purity below which a run has collapsed: fewer than half of the points belong to the main
class of their cluster. The Bayes accuracy of Sets 2 to 4 is 0.854; a single cluster has 0.33."""

UNCHANGED = 0.05
"""Largest change of K or G that is "nearly unchanged"; the published change is 0.02."""


class Comparison(NamedTuple):
    """A paired difference over the seeds.

    The interval is the t interval of the mean at 95%. ``won`` is the share of seeds with a positive
    difference, ``tied`` the share with no difference.
    """

    mean: float
    low: float
    high: float
    won: float
    tied: float
    seeds: int


class Verdict(NamedTuple):
    """The verdict on a claim: a word, the reason, and the comparisons behind it."""

    claim: str
    word: str
    why: str
    comparisons: dict[str, Comparison]


def compare_pairs(a: np.ndarray, b: np.ndarray) -> Comparison:
    """Compare a with b, seed by seed."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    n, mean = len(differences), float(differences.mean())
    reach = 0.0
    if n > 1:
        reach = float(stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n))
    won, tied = float((differences > 0).mean()), float((differences == 0).mean())
    return Comparison(mean, mean - reach, mean + reach, won, tied, n)


def stochastic_against_deterministic(
    results: Results, field: str, experiment: str, index: int
) -> Comparison:
    """Compare S with D in one column on one set."""
    ours = results.of(experiment, set=index)
    return compare_pairs(ours.column(field, algorithm="S"), ours.column(field, algorithm="D"))


def judge_claims(results: Results) -> list[Verdict]:
    """Judge every claim."""
    return list(_verdicts(results))


def _verdicts(results: Results) -> Iterator[Verdict]:
    yield _at_least_as_good(results, "k", "K", beaten=4)
    yield _at_least_as_good(results, "g", "G", beaten=1)
    yield _hardly_changes(results)
    yield _collapse(results)
    yield _more_clusters(results)
    yield _larger_favours_stochastic(results)


def _at_least_as_good(results: Results, field: str, name: str, beaten: int) -> Verdict:
    """Judge "S at least as good on six of seven sets": it fails where D leads clearly."""
    comparisons = {
        index: stochastic_against_deterministic(results, field, "paper", index) for index in SETS
    }
    worse = [index for index, pair in comparisons.items() if pair.high < 0]
    clearly = [index for index, pair in comparisons.items() if pair.low > 0]
    claimed = [index for index in SETS if index != beaten]
    kept = [index for index in claimed if index not in worse]
    word = HOLDS if len(kept) == len(claimed) else PARTLY if len(kept) > 3 else FAILS
    why = (
        f"S is clearly better on {_sets(clearly)}, clearly worse on {_sets(worse)}. "
        + _over_thresholds(results, field, name)
    )
    claim = f"S at least as good as D in {name} on all sets but Set {beaten}"
    return Verdict(claim, word, why, _by_set(comparisons, f"{name}, S - D"))


def _over_thresholds(results: Results, field: str, name: str) -> str:
    """Return a sentence about Th1 and Th2, on the sets with a map of thresholds."""
    digits = 0 if field == "n_clusters" else 2
    parts = []
    for index in MAP_SETS:
        leads = threshold_map(results, field, index, "S") - threshold_map(
            results, field, index, "D"
        )
        parts.append(
            f"at {(leads > 0).sum()} of {leads.size} pairs on Set {index} (between "
            f"{leads.min():+.{digits}f} and {leads.max():+.{digits}f})"
        )
    return f"Over the map of Th1 and Th2, S - D in {name} is positive {' and '.join(parts)}."


def threshold_map(results: Results, field: str, index: int, algorithm: str) -> np.ndarray:
    """Return the mean over the seeds, with a row for each Th1 and a column for each Th2."""
    ours = results.of("thresholds", set=index, algorithm=algorithm)
    return np.array(
        [
            [ours.column(field, th1=th1, th2=th2).mean() for th2 in ours.values("th2")]
            for th1 in ours.values("th1")
        ]
    )


def _hardly_changes(results: Results) -> Verdict:
    """Judge "S nearly unchanged from 50 (Set 3) over 250 (Set 2) to 1,500 a class (Set 4)"."""
    changes = {
        (algorithm, start, field): compare_pairs(
            results.of("paper", set=4, algorithm=algorithm).column(field),
            results.of("paper", set=start, algorithm=algorithm).column(field),
        )
        for algorithm in ("S", "D")
        for start in (3, 2)
        for field in ("k", "g")
    }
    from_50, from_250 = (
        max(abs(changes["S", start, field].mean) for field in ("k", "g")) for start in (3, 2)
    )
    word = HOLDS if from_50 <= UNCHANGED else PARTLY if from_250 <= UNCHANGED else FAILS
    why = (
        f"From 50 to 1,500 points a class the mean K or G of S changes by up to {from_50:.2f}, "
        f"from 250 to 1,500 by up to {from_250:.2f}. Nearly unchanged means at most {UNCHANGED} "
        "here."
    )
    comparisons = {
        f"{field.upper()}, {algorithm}, Set 4 - Set {start}": pair
        for (algorithm, start, field), pair in changes.items()
    }
    return Verdict("S nearly unchanged from 50 to 1,500 points a class", word, why, comparisons)


def _collapse(results: Results) -> Verdict:
    """Judge "D collapses on Set 4, S does not"."""
    shares = {
        algorithm: float(
            (results.of("paper", set=4, algorithm=algorithm).column("pur_c") < COLLAPSED).mean()
        )
        for algorithm in ("D", "S")
    }
    maps = {
        algorithm: threshold_map(results, "pur_c", 4, algorithm) < COLLAPSED
        for algorithm in ("D", "S")
    }
    if shares["D"] <= shares["S"] or shares["D"] < 0.05:
        word = FAILS
    else:
        word = HOLDS if maps["D"].all() and shares["D"] > 0.5 else PARTLY
    why = (
        f"At our setting D's cluster purity falls below {COLLAPSED} in {shares['D']:.0%} of the "
        f"seeds, S's in {shares['S']:.0%}. It rests on the thresholds: of {maps['D'].size} pairs "
        f"(Th1, Th2), D's mean is below at {maps['D'].sum()}, S's at {maps['S'].sum()}. "
        + _where(results, maps["D"])
    )
    comparisons = {
        "Set 4: Pur_C, S - D": stochastic_against_deterministic(results, "pur_c", "paper", 4),
        "Set 4: ARI, S - D": stochastic_against_deterministic(results, "ari", "paper", 4),
    }
    return Verdict("D collapses on Set 4 and S does not", word, why, comparisons)


def _where(results: Results, collapsed: np.ndarray) -> str:
    """Return a sentence about the Th1 from which D collapses, for each Th2."""
    ours = results.of("thresholds", set=4)
    th1s, th2s = ours.values("th1"), ours.values("th2")
    onsets: dict[float, list[str]] = {}
    for th2, column in zip(th2s, collapsed.T, strict=True):
        if column.any():
            onsets.setdefault(th1s[int(column.argmax())], []).append(f"{th2:g}")
    parts = [f"from Th1 {th1:g} on with Th2 {', '.join(many)}" for th1, many in onsets.items()]
    return f"D collapses {'; '.join(parts)}." if parts else "D collapses nowhere on the map."


def _more_clusters(results: Results) -> Verdict:
    """Judge "S finds more clusters"."""
    comparisons = {
        index: stochastic_against_deterministic(results, "n_clusters", "paper", index)
        for index in SETS
    }
    more = [index for index, pair in comparisons.items() if pair.low > 0]
    fewer = [index for index, pair in comparisons.items() if pair.high < 0]
    word = HOLDS if len(more) == len(SETS) else PARTLY if more else FAILS
    why = (
        f"S finds clearly more on {_sets(more)}, clearly fewer on {_sets(fewer)}. "
        + _over_thresholds(results, "n_clusters", "the number of clusters")
    )
    return Verdict(
        "S finds more clusters than D", word, why, _by_set(comparisons, "clusters, S - D")
    )


def _larger_favours_stochastic(results: Results) -> Verdict:
    """Judge "Set 5 made 12.5 times larger favours S"."""
    pairs = {
        (experiment, field): stochastic_against_deterministic(results, field, experiment, 5)
        for experiment in ("paper", "larger")
        for field in ("k", "g", "ari")
    }
    ahead = [pairs["larger", field].low > 0 for field in ("k", "g")]
    word = HOLDS if all(ahead) else PARTLY if any(ahead) else FAILS
    why = "; ".join(
        f"in {field.upper()} the mean of S - D is {pairs['larger', field].mean:+.3f} on the larger "
        f"set and {pairs['paper', field].mean:+.3f} on the small one"
        for field in ("k", "g", "ari")
    )
    names = {"paper": "Set 5 as published", "larger": "Set 5 12.5 times larger"}
    comparisons = {
        f"{names[experiment]}: {field.upper()}, S - D": pair
        for (experiment, field), pair in pairs.items()
    }
    claim = "Set 5 made 12.5 times larger favours S"
    return Verdict(claim, word, f"{why[0].upper()}{why[1:]}.", comparisons)


def _by_set(comparisons: dict[int, Comparison], what: str) -> dict[str, Comparison]:
    return {f"Set {index}: {what}": pair for index, pair in comparisons.items()}


def _sets(indices: list[int]) -> str:
    return "Sets " + ", ".join(map(str, indices)) if indices else "none"
