"""Several runs joined into one labelling."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import AffinityPropagation, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from modeshift import BlurringMeanShift, Checkpoint, Consensus, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.estimators.voting import join_runs
from twins.choice import join_runs as naive_join_runs

LINE = np.array([0.0, 0.1, 0.2, 0.3, 5.0, 10.0, 10.1, 10.2, 6.5])[:, np.newaxis]


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 5), st.integers(0, 10_000))
def test_join_equals_its_twin(n, r, n_clusters, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=n)
    runs = np.column_stack(
        [np.where(rng.random(n) < 0.7, truth, rng.integers(8, size=n)) for _ in range(r)]
    )
    weights = rng.integers(1, 4, size=n).astype(float)
    components, confidence, *_ = join_runs(runs, weights)
    expected, sure = naive_join_runs(runs, weights)
    assert adjusted_rand_score(components, expected) == 1.0
    assert (np.diff(np.unique(components, return_index=True)[1]) > 0).all()
    assert_allclose(confidence, sure)


def test_runs_that_are_alike_are_joined_as_they_are():
    run = np.array([0, 0, 1, 2, 1])
    components, confidence, *_ = join_runs(np.column_stack([run, run, run]), np.ones(5))
    assert_array_equal(components, run)
    assert_array_equal(confidence, np.ones(5))


def test_a_stray_in_one_of_three_runs_is_no_stray():
    runs = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert_array_equal(join_runs(runs, np.ones(4)).components, np.zeros(4))


def test_a_point_between_two_clusters_is_less_sure():
    runs = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 1]])
    components, confidence, reference, _ = join_runs(runs, np.ones(5))
    assert_array_equal(components, [0, 0, 0, 1, 1])
    assert_allclose(confidence, [1, 1, 2 / 3, 1, 1])
    assert reference in (0, 2)


@pytest.fixture(scope="module")
def paper_set():
    return make_paper_set(3, random_state=1)


def test_runs_follow_one_another_from_one_random_state(paper_set):
    """The joined labels are those of separate fits that share a generator."""
    X, _ = paper_set
    joined = Consensus(StochasticMeanShift(bandwidth=0.9), n_runs=3, random_state=5).fit(X)
    rng = np.random.RandomState(5)
    single = [StochasticMeanShift(bandwidth=0.9, random_state=rng).fit(X) for _ in range(3)]
    runs = np.column_stack([fitted.labels_ for fitted in single])
    components, confidence, reference, _ = join_runs(runs, np.ones(len(X)))
    assert adjusted_rand_score(joined.labels_, components) == 1.0
    assert_allclose(joined.confidence_, confidence)
    assert_array_equal(joined.modes_, single[reference].modes_)
    assert_array_equal(joined.estimator_.labels_, single[reference].labels_)
    assert joined.n_steps_ == single[reference].n_steps_
    sizes = np.bincount(joined.labels_)
    assert (np.diff(sizes) <= 0).all()
    assert joined.predict(X).shape == joined.labels_.shape


def test_one_run_is_the_run_itself(paper_set):
    X, _ = paper_set
    one = Consensus(StochasticMeanShift(bandwidth=0.9), n_runs=1, random_state=4).fit(X)
    alone = StochasticMeanShift(bandwidth=0.9, random_state=4).fit(X)
    for name in ("labels_", "modes_", "cluster_centers_", "bandwidth_", "n_steps_", "converged_"):
        assert_allclose(getattr(one, name), getattr(alone, name), err_msg=name)
    assert_array_equal(one.confidence_, np.ones(len(X)))
    assert_array_equal(one.predict(X[:50]), alone.predict(X[:50]))
    assert not hasattr(alone, "confidence_")


def test_confidence_with_cells(paper_set):
    X, _ = paper_set
    cells = StochasticMeanShift(bandwidth=0.9, resolution=4)
    fitted = Consensus(cells, n_runs=3, random_state=0).fit(X)
    assert fitted.confidence_.shape == (len(X),)
    assert ((fitted.confidence_ >= 0) & (fitted.confidence_ <= 1)).all()


def test_predict_takes_the_joined_cluster_of_the_label_in_the_reference(paper_set):
    X, _ = paper_set
    fitted = Consensus(StochasticMeanShift(bandwidth=0.9), n_runs=5, random_state=0).fit(X)
    before, joined = fitted.estimator_.labels_, fitted.labels_
    stands_for = {label: np.bincount(joined[before == label]).argmax() for label in set(before)}
    new = X[::3] + 0.1
    expected = [stands_for[label] for label in fitted.estimator_.predict(new)]
    assert_array_equal(fitted.predict(new), expected)


def test_the_default_is_the_stochastic_schedule_and_the_bandwidth_is_chosen_once(paper_set):
    X, _ = paper_set
    fitted = Consensus(n_runs=2, random_state=0).fit(X[:120])
    assert type(fitted.estimator_) is StochasticMeanShift
    assert fitted.bandwidth_ == fitted.profile_.bandwidth
    assert fitted.estimator is None


def test_noise_votes_as_a_group():
    X = np.concatenate([LINE, LINE + 0.01])
    runs = StochasticMeanShift(bandwidth=1.0, min_cluster_size=3)
    fitted = Consensus(runs, n_runs=3, random_state=0).fit(X)
    expected = [0, 0, 0, 0, -1, 1, 1, 1, -1]
    assert_array_equal(fitted.labels_, 2 * expected)
    assert_array_equal(fitted.confidence_, np.ones(len(X)))
    assert fitted.cluster_centers_.shape == (2, 1)
    assert_array_equal(fitted.predict([[0.1], [10.1], [5.0]]), [0, 1, -1])


def test_weights_reach_the_runs_and_the_votes(paper_set):
    X, _ = paper_set
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    runs = StochasticMeanShift(bandwidth=0.9)
    fitted = Consensus(runs, n_runs=3, random_state=1).fit(X, sample_weight=weights)
    rng = np.random.RandomState(1)
    single = [
        StochasticMeanShift(bandwidth=0.9, random_state=rng).fit(X, sample_weight=weights)
        for _ in range(3)
    ]
    votes = join_runs(np.column_stack([run.labels_ for run in single]), weights)
    assert adjusted_rand_score(fitted.labels_, votes.components) == 1.0
    assert_allclose(fitted.confidence_, votes.confidence)
    sizes = np.bincount(fitted.labels_, weights=weights)
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize(
    "estimator",
    [
        MeanShift(bandwidth=0.9, seeding=30),
        StochasticMeanShift(bandwidth=(0.7, 1.0)),
        KMeans(n_clusters=3, n_init=1),
    ],
    ids=str,
)
def test_any_estimator_with_a_seed_can_vote(estimator, paper_set):
    X, _ = paper_set
    fitted = Consensus(estimator, n_runs=4, random_state=0).fit(X)
    again = Consensus(estimator, n_runs=4, random_state=0).fit(X)
    assert_array_equal(fitted.labels_, again.labels_)
    assert len(fitted.cluster_centers_) == fitted.labels_.max() + 1
    assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
    assert set(fitted.predict(X)) <= set(fitted.labels_)
    assert type(fitted.estimator_) is type(estimator)
    assert not hasattr(estimator, "labels_")


class Lots(ClusterMixin, BaseEstimator):
    """Draws the cluster of each point."""

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X):
        self.labels_ = self.random_state.permutation(np.arange(len(X)) % self.n_clusters)
        return self


def test_a_vote_that_loses_clusters_says_so(recwarn):
    votes = Consensus(Lots(4), n_runs=9, random_state=2)
    with pytest.warns(UserWarning, match="vote of 9 runs has . clusters instead of n_clusters=4"):
        votes.fit(LINE)
    recwarn.clear()
    Consensus(KMeans(n_clusters=3, n_init=1), n_runs=3, random_state=0).fit(LINE)
    assert not recwarn.list


def test_callbacks_watch_every_run():
    seen = []
    runs = StochasticMeanShift(bandwidth=1.0).set_callbacks(lambda state: seen.append(state.sweep))
    Consensus(runs, n_runs=3, random_state=0).fit(LINE)
    assert seen.count(1) == 3


@pytest.mark.parametrize(
    ("consensus", "error", "words"),
    [
        (Consensus(n_runs=0), ValueError, "n_runs must be at least 1, got 0"),
        (Consensus(n_runs="3"), TypeError, "n_runs must be a whole number, got '3'"),
        (Consensus(random_state="three"), ValueError, "random_state"),
        (Consensus(BlurringMeanShift()), TypeError, "estimator must have a random_state"),
        (Consensus(StochasticMeanShift(tol=-1)), ValueError, "tol must be at least 0"),
        (
            Consensus(StochasticMeanShift().set_callbacks(Checkpoint("x")), n_runs=3),
            ValueError,
            "n_runs=3 and a Checkpoint do not go together: a checkpoint holds one run",
        ),
    ],
)
def test_refused(consensus, error, words):
    with pytest.raises(error, match=words):
        consensus.fit(LINE)
    assert [name for name in vars(consensus) if name.endswith("_")] == []


def test_data_that_are_not_in_memory_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="Consensus needs an array in memory, got Array"):
        Consensus(StochasticMeanShift(bandwidth=1.0)).fit(da.from_array(LINE))


def test_weights_that_no_run_takes_are_refused():
    clusterer = AffinityPropagation(damping=0.9)
    with pytest.raises(ValueError, match="AffinityPropagation takes no sample_weight"):
        Consensus(clusterer, n_runs=2).fit(LINE, sample_weight=np.ones(9))


def test_small_clusters_and_strays_are_found_after_the_vote():
    runs = StochasticMeanShift(bandwidth=1.0, min_cluster_size=3, strays="nearest")
    fitted = Consensus(runs, n_runs=3, random_state=0).fit(LINE)
    assert_array_equal(fitted.labels_, [0, 0, 0, 0, 0, 1, 1, 1, 1])
    assert_allclose(fitted.cluster_centers_, [[0.15], [10.1]], atol=0.1)
    assert (fitted.estimator_.min_cluster_size, fitted.estimator_.labels_.max()) == (1, 3)


class Halves(ClusterMixin, BaseEstimator):
    """A clusterer that finds the left and the right half, and noise at the ends."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X):
        self.labels_ = np.where(X[:, 0] < 5, 0, 1)
        self.labels_[self.random_state.randint(4)] = -1
        self.labels_[-2:] = -1
        return self


def test_noise_of_other_clusterers_stays_noise():
    fitted = Consensus(Halves(), n_runs=9, random_state=1).fit(LINE)
    assert_array_equal(fitted.labels_, [0, 0, 0, 0, 1, 1, 1, -1, -1])
    assert_allclose(fitted.confidence_[4:], 1.0)
    assert fitted.confidence_[:4].min() < 1


def test_copies():
    consensus = Consensus(StochasticMeanShift(bandwidth=1.0), n_runs=3, random_state=0)
    assert clone(consensus).get_params()["estimator__bandwidth"] == 1.0
    fitted = consensus.fit(LINE)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(LINE), fitted.labels_)
    consensus.set_params(estimator__bandwidth=20.0).fit(LINE)
    assert_array_equal(consensus.labels_, np.zeros(9))


@parametrize_with_checks(
    [Consensus(StochasticMeanShift(algorithm="brute"), n_runs=2, random_state=0)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_centres_of_cosine_runs_are_on_the_sphere():
    X = np.random.default_rng(0).normal(size=(80, 3)) + 1.0
    fitted = Consensus(StochasticMeanShift(bandwidth=0.3, metric="cosine"), n_runs=3).fit(X)
    np.testing.assert_allclose(np.linalg.norm(fitted.cluster_centers_, axis=1), 1.0, rtol=1e-14)


def test_outliers_memberships_and_densities_are_those_of_mean_shift():
    X, _ = make_paper_set(1, scale=0.2, random_state=0)
    joined = Consensus(StochasticMeanShift(bandwidth=0.9), n_runs=3, random_state=0).fit(X)
    far = np.concatenate([X[:5], X[:5] + 50.0])
    assert_array_equal(joined.predict(far, outliers=-1)[5:], -1)
    assert_array_equal(joined.predict(far, outliers=-1)[:5], joined.labels_[:5])
    shares = joined.membership(X)
    assert shares.shape == (len(X), len(joined.cluster_centers_))
    assert_array_equal(shares.argmax(axis=1), joined.labels_)
    assert_array_equal(joined.score_samples(far), joined.estimator_.score_samples(far))
    others = Consensus(KMeans(2, n_init=1), n_runs=2, random_state=0).fit(X)
    assert not hasattr(others, "membership")
    with pytest.raises(ValueError, match="outliers=-1 needs a bandwidth, and KMeans has none"):
        others.predict(far, outliers=-1)
