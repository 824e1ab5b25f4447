"""What a notebook shows of an estimator."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context

from modeshift import BlurringMeanShift, Consensus, MeanShift, StochasticMeanShift

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(50, 2)), RNG.normal(size=(30, 2)) + 20, [[99.0, 99.0]]])


class Cells(HTMLParser):
    """The cells of the table of clusters; it also finds tags that are never closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def table_of(model):
    """Return the part of the representation that is ours, by both ways that notebooks ask."""
    html = model._repr_mimebundle_()["text/html"]
    before, mark, ours = html.partition('<div class="modeshift-clusters">')
    assert type(model).__name__ in before  # scikit-learn's diagram
    assert model._repr_html_().count(mark) == html.count(mark) if mark else True
    return mark + ours


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(bandwidth=4.0),
        StochasticMeanShift(bandwidth=4.0, random_state=0),
        BlurringMeanShift(bandwidth=4.0),
        Consensus(StochasticMeanShift(bandwidth=4.0), n_runs=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fitted_estimators_show_their_clusters(model):
    assert table_of(model) == ""
    ours = table_of(model.fit(X))
    assert "3 clusters of 81 points; bandwidth 4" in ours
    parsed = Cells(ours)
    assert parsed.open == []
    assert parsed.cells == ["0", "50", "61.7%", "1", "30", "37.0%", "2", "1", "1.2%"]


def test_strays_are_counted():
    ours = table_of(MeanShift(bandwidth=4.0, min_cluster_size=5).fit(X))
    assert "2 clusters of 81 points; 1 point in none (label -1); bandwidth 4" in ours


def test_many_clusters_take_few_lines():
    points = np.repeat(np.arange(300.0), 2)[:, np.newaxis]
    ours = table_of(MeanShift(bandwidth=0.5).fit(points))
    assert Cells(ours).cells[-3:] == ["292 more", "584", "97.3%"]


def test_lazy_labels_stay_lazy():
    da = pytest.importorskip("dask.array")
    model = MeanShift(bandwidth=4.0, resolution=4).fit(da.from_array(X, chunks=(40, 2)))
    ours = table_of(model)
    assert "3 clusters; bandwidth 4" in ours
    assert "<table>" not in ours


def test_text_only():
    model = MeanShift(bandwidth=4.0).fit(X)
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")
