"""The published numbers, the demo and its picture."""

import matplotlib.image
import numpy as np
import pytest

from modeshift import MeanShift, plots
from modeshift.cli import main
from modeshift.datasets import make_paper_set
from modeshift.paper import demo
from modeshift.paper.literal import LiteralStochasticMeanShift
from modeshift.paper.published import ALGORITHMS, COLUMNS, PUBLISHED
from modeshift.paper.setting import load_settings


@pytest.mark.parametrize("index", range(1, 8))
@pytest.mark.parametrize("letter", ALGORITHMS)
def test_published_rows_are_consistent(index, letter):
    """K and G are geometric means of rounded numbers, so they fit to about a hundredth."""
    row = PUBLISHED[index][letter]
    assert len(row) == len(COLUMNS) == 7
    assert row.k == pytest.approx(np.sqrt(row.acp * row.asp), abs=0.011)
    assert row.g == pytest.approx(np.sqrt(row.pur_c * row.pur_d), abs=0.011)


@pytest.fixture(scope="module")
def fitted():
    X, y = make_paper_set(3, random_state=0)
    return X, y, demo.fit_both(X, seed=0)


def test_table_shows_ours_beside_the_published_numbers(fitted):
    _, y, both = fitted
    lines = demo.table(3, y, both).splitlines()
    assert lines[0] == "Set 3: 150 points"
    assert lines[1].split() == list(COLUMNS)
    assert [line[:24].strip() for line in lines[2:]] == [
        "deterministic, ours",
        "deterministic, published",
        "stochastic, ours",
        "stochastic, published",
    ]
    assert lines[3].split()[2:] == ["0.92", "0.36", "0.57", "0.85", "0.53", "0.67", "14"]
    assert int(lines[2].split()[-1]) == len(both["D"].cluster_centers_)


def test_picture_has_eight_panels(fitted):
    X, y, both = fitted
    figure = plots.paper_panels(X, y, both["D"], both["S"], title="Set 3")
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == 8
    assert titles[0] == "True classes"
    assert titles[1:4] == [
        "Paths, deterministic",
        "Modes, deterministic",
        f"Clusters, deterministic: {len(both['D'].cluster_centers_)}",
    ]
    assert titles[4] == "Data"


def test_clusters_are_drawn_like_their_class():
    """The largest cluster of a class has its number; others get spare ones, then none."""
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    labels = np.array([1, 1, 1, 0, 0, 0, 0, 2])
    groups = plots.paper._groups_like_classes(labels, y)
    np.testing.assert_array_equal(groups, [0, 0, 0, 1, 1, 1, 1, 2])
    np.testing.assert_array_equal(
        plots.paper._groups_like_classes(np.array([0, -1]), y[:2]), [0, -1]
    )


@pytest.mark.jit
def test_demo_prints_tables_and_the_paths_of_its_pictures(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "pictures")]) == 0
    printed = capsys.readouterr().out
    for index in (3, 4):
        picture = tmp_path / "pictures" / f"set{index}.png"
        assert f"picture: {picture}" in printed
        assert matplotlib.image.imread(picture).shape[1] > 1000
    assert printed.count("published") == 4


def test_demo_uses_the_calibrated_setting():
    settings = load_settings()
    both = demo.fit_both(make_paper_set(3, random_state=1)[0], seed=1)
    assert isinstance(both["D"], MeanShift)
    assert isinstance(both["S"], LiteralStochasticMeanShift)
    for letter, fitted in both.items():
        assert fitted.bandwidth_ == settings[letter].bandwidth
        assert fitted.tol * fitted.bandwidth == pytest.approx(settings[letter].th1)
