"""The picture of the clusters of a fitted model."""

import pickle

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

import modeshift
from modeshift import Consensus, MeanShift, StochasticMeanShift

FigureCanvasAgg = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg


def crowds(n_crowds, d, n=200, seed=0):
    """Points around the corners of a lattice."""
    rng = np.random.default_rng(seed)
    corners = np.stack(np.meshgrid(*[np.arange(20.0)] * min(d, 2)), -1).reshape(-1, min(d, 2))
    centers = np.zeros((n_crowds, d))
    centers[:, : corners.shape[1]] = 5 * corners[:n_crowds]
    return centers[np.arange(n) % n_crowds] + 0.3 * rng.normal(size=(n, d))


def draw(model, X, **options):
    """Return the figure, its axes and the texts of the legend; draw it, so that all is checked."""
    figure = modeshift.plots.clusters(model, X, **options)
    figure.savefig("/dev/null", format="png")
    (legend,) = figure.legends
    return figure, figure.axes[0], [text.get_text() for text in legend.get_texts()]


def n_drawn(ax):
    return sum(len(part.get_offsets()) for part in ax.collections if part.get_zorder() < 3)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_every_point_and_centre_is_drawn(d):
    X = crowds(3, d)
    model = MeanShift(bandwidth=2.0).fit(X)
    _, ax, legend = draw(model, X)
    assert n_drawn(ax) == 200
    assert legend == ["0: 67", "1: 67", "2: 66", "centre"]
    assert ax.get_title(loc="left") == "3 clusters of 200 points"
    assert ax.get_xlabel() == ("first principal axis" if d == 5 else "x0")


def test_noise_is_grey():
    X = np.vstack([crowds(3, 2), [[50.0, 50.0]]])
    model = MeanShift(bandwidth=2.0, min_cluster_size=5).fit(X)
    _, ax, legend = draw(model, X)
    assert "none: 1" in legend
    (grey,) = [part for part in ax.collections if (part.get_offsets() == 50.0).all(1).any()]
    assert len(set(grey.get_facecolor()[0, :3])) == 1


def test_many_clusters_repeat_their_looks_and_the_legend_lists_the_largest():
    X = crowds(300, 2, n=1200)
    model = MeanShift(bandwidth=1.5).fit(X)
    assert len(model.cluster_centers_) == 300
    _, ax, legend = draw(model, X)
    assert legend == [*(f"{k}: 4" for k in range(10)), "290 more: 1,160", "centre"]
    assert n_drawn(ax) == 1200
    assert len(ax.collections) < 100


def test_of_many_points_a_sample_is_drawn_and_said_so():
    X = np.repeat(crowds(3, 2), 150, axis=0)
    model = MeanShift(bandwidth=2.0, resolution=4).fit(X)
    _, ax, legend = draw(model, X)
    assert n_drawn(ax) == 20_000
    assert ax.get_title(loc="right") == "20,000 of 30,000 points drawn"
    assert legend[0] == "0: 10,050"


def test_small_markers_are_seen():
    """Small plus signs were rounded to whole pixels, and to nothing."""
    X = crowds(8, 2, n=20_000)
    figure = modeshift.plots.clusters(MeanShift(bandwidth=2.0, resolution=4).fit(X), X)
    figure.legends.clear()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.unique(np.asarray(canvas.buffer_rgba())[..., :3].reshape(-1, 3), axis=0)
    for colour in modeshift.plots.COLOURS:
        wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
        assert abs(pixels.astype(int) - wanted).max(axis=1).min() < 30, colour


def test_axes_by_name_or_number():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(crowds(3, 4), columns=list("abcd"))
    model = MeanShift(bandwidth=2.0).fit(X)
    for axes in [("d", "a"), (3, 0), (-1, "a")]:
        ax = draw(model, X, axes=axes)[1]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("d", "a")
    for axes in [("e", "a"), (4, 0), ("a",), "ab"]:
        with pytest.raises(ValueError, match="axes"):
            draw(model, X, axes=axes)


def test_other_points_and_unfitted_models_are_refused():
    X = crowds(3, 2)
    with pytest.raises(ValueError, match="MeanShift is not fitted"):
        modeshift.plots.clusters(MeanShift(), X)
    with pytest.raises(ValueError, match="fitted to 200 points; pass the X of fit"):
        modeshift.plots.clusters(MeanShift(bandwidth=2.0).fit(X), X[:50])


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(bandwidth=0.1, metric="cosine"),
        Consensus(StochasticMeanShift(bandwidth=2.0), n_runs=2, random_state=0),
        DBSCAN(eps=1.0),
    ],
    ids=["cosine", "consensus", "no centres"],
)
def test_other_models(model):
    X = crowds(3, 2) + 1.0
    _, ax, _ = draw(model.fit(X), X)
    assert n_drawn(ax) == 200


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.ones((5, 2)), [[1.0], [2.0]]])
def test_extreme_data(X):
    draw(MeanShift(bandwidth=1.5).fit(X), X)


def test_a_figure_shows_itself_in_a_notebook_and_can_be_pickled():
    X = crowds(3, 2)
    figure = modeshift.plots.clusters(MeanShift(bandwidth=2.0).fit(X), X)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(figure)).axes


def test_dask_data_are_computed():
    da = pytest.importorskip("dask.array")
    X = crowds(3, 2)
    lazy = da.from_array(X, chunks=(50, 2))
    _, ax, legend = draw(MeanShift(bandwidth=2.0, resolution=4).fit(lazy), lazy)
    assert n_drawn(ax) == 200
    assert legend[0] == "0: 67"
