"""Speakers of windows: wishes are obeyed, and answers equal the naive definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, silhouette_score

from modeshift.speech import TwoCovariancePLDA, cluster_speakers
from modeshift.speech.geometry import Directions
from modeshift.speech.partition import (
    dissolve,
    linked,
    merge_to,
    order_by,
    parts_of,
    silhouette,
)


def voices(n_speakers, n_windows, noise=0.06, d=24, seed=0):
    rng = np.random.RandomState(seed)
    labels = np.arange(n_speakers).repeat(n_windows)
    places = rng.standard_normal((n_speakers, d)) / np.sqrt(d)
    order = rng.permutation(len(labels))
    X = places[labels] + noise * rng.standard_normal((len(labels), d))
    return X[order], labels[order]


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("method", ["stochastic", "deterministic"])
def test_finds_speakers_with_nothing_set(method):
    X, y = voices(6, 15)
    found = cluster_speakers(X, method=method, random_state=0)
    assert found.n_speakers == 6
    assert adjusted_rand_score(y, found.labels) == 1.0
    assert found.bandwidth in [trial.bandwidth for trial in found.curve]
    assert (found.margins > 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.centers, axis=1), 1.0)
    np.testing.assert_allclose(
        found.scores, (unit(X) * found.centers[found.labels]).sum(axis=1), atol=1e-12
    )


def test_many_noisy_speakers_are_not_one_and_a_noisy_one_is_not_many():
    """As with windows of 1 s. The silhouette of 12 speakers is as low as that of a split voice."""
    rng = np.random.RandomState(0)
    d, y = 192, np.arange(12).repeat(15)
    windows = np.sqrt(0.8 / d) * rng.standard_normal((len(y), d))
    speakers = np.sqrt(0.2 / d) * rng.standard_normal((12, d))
    found = cluster_speakers(speakers[y] + windows, random_state=0)
    assert max(trial.quality for trial in found.curve) < 0.16
    assert found.n_speakers == 12
    assert cluster_speakers(speakers[0] + windows, random_state=0).n_speakers == 1


def test_windows_with_common_sound_are_not_speakers():
    """Windows that share half their sound with the next one: one voice, not a voice a pair."""
    rng = np.random.RandomState(0)
    d, y = 48, np.arange(3).repeat(40)
    halves = rng.standard_normal((3, d))[y] + 1.2 * rng.standard_normal((len(y), d))
    windows = np.vstack([halves[:-1] + halves[1:], halves[-1:] * 2])
    found = cluster_speakers(windows, overlap=2, random_state=0)
    assert found.n_speakers == 3
    assert adjusted_rand_score(y, found.labels) > 0.9
    assert len(found.labels) == len(windows)
    assert cluster_speakers(windows, overlap=50, n_speakers=4, random_state=0).n_speakers == 4


def test_a_plda_scores_in_place_of_the_cosine():
    rng = np.random.RandomState(0)
    y = np.arange(46).repeat(8)
    X = rng.standard_normal((46, 12))[y] + 0.5 * rng.standard_normal((len(y), 12))
    plda = TwoCovariancePLDA().fit(X[48:], y[48:])
    found = cluster_speakers(X[:48], metric=plda, random_state=0)
    assert found.n_speakers == 6
    assert adjusted_rand_score(y[:48], found.labels) > 0.9
    scores = plda.metric_.scores_with_means(
        plda.transform(X[:48]), plda.transform(found.centers), np.bincount(found.labels)
    )
    np.testing.assert_array_equal(scores.argmax(axis=1), found.labels)


def test_the_same_seed_gives_the_same_labels_whatever_the_length_of_the_vectors():
    X, _ = voices(4, 12, noise=0.15)
    first = cluster_speakers(X, random_state=3).labels
    lengths = np.exp(np.random.RandomState(1).standard_normal((len(X), 1)))
    np.testing.assert_array_equal(cluster_speakers(X, random_state=3).labels, first)
    np.testing.assert_array_equal(cluster_speakers(X * lengths, random_state=3).labels, first)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_wished_number_of_speakers_is_always_obeyed(data):
    n = data.draw(st.integers(1, 30))
    kind = data.draw(st.sampled_from(["noise", "same", "voices"]))
    rng = np.random.RandomState(data.draw(st.integers(0, 99)))
    X = rng.standard_normal((n, 5))
    if kind == "same":
        X[:] = X[0]
    elif kind == "voices":
        X = rng.standard_normal((3, 5))[rng.randint(3, size=n)] + 0.05 * X
    low = data.draw(st.integers(1, n))
    high = data.draw(st.integers(low, n + 3))
    method = data.draw(st.sampled_from(["stochastic", "deterministic"]))
    found = cluster_speakers(
        X, min_speakers=low, max_speakers=high, method=method, random_state=0,
        min_speech=data.draw(st.sampled_from([None, 0.0, 2.0, 1e9])),
    )  # fmt: skip
    assert low <= found.n_speakers <= high
    exactly = cluster_speakers(X, n_speakers=low, method=method, random_state=0)
    assert exactly.n_speakers == low
    for result in (found, exactly):
        assert sorted(set(result.labels)) == list(range(result.n_speakers))
        sizes = np.bincount(result.labels)
        assert (np.diff(sizes) <= 0).all()


def test_a_known_number_of_speakers_finds_those_with_few_windows():
    """As in half a minute of a meeting: two speak much, and three say a word each."""
    X, y = voices(5, 20)
    few = np.concatenate([np.flatnonzero(y == s)[: 20 if s < 2 else 1] for s in range(5)])
    found = cluster_speakers(X[few], n_speakers=5, random_state=0)
    assert adjusted_rand_score(y[few], found.labels) == 1.0


def test_one_window_and_two():
    one = cluster_speakers([[1.0, 2.0]])
    assert one.labels.tolist() == [0]
    assert one.margins.tolist() == [np.inf]
    assert cluster_speakers([[1.0, 0.0], [1.0, 0.1]]).labels.tolist() == [0, 0]
    assert cluster_speakers([[1.0, 0.0], [0.0, 1.0]]).labels.tolist() == [0, 1]
    assert cluster_speakers([[1.0, 0.0], [0.0, 1.0]], n_speakers=1).n_speakers == 1


def test_speakers_with_too_little_speech_are_dissolved():
    X, y = voices(3, 12)
    durations = np.where(y == 1, 0.1, 1.0)
    found = cluster_speakers(X, durations=durations, min_speech=2.0, random_state=0)
    assert found.n_speakers == 2
    assert found.reassigned[y == 1].all()
    assert not found.reassigned[y != 1].any()
    assert (np.bincount(found.labels, weights=durations) >= 2.0).all()
    kept = cluster_speakers(X, durations=durations, min_speech=2.0, n_speakers=3, random_state=0)
    assert kept.n_speakers == 3


def test_labels_go_by_speech_not_by_windows():
    X, y = voices(2, 10)
    found = cluster_speakers(X, durations=np.where(y == 1, 5.0, 1.0), random_state=0)
    np.testing.assert_array_equal(found.labels, np.where(y == 1, 0, 1))


def test_more_windows_than_the_sample():
    X, y = voices(5, 700)
    found = cluster_speakers(X, random_state=0)
    assert adjusted_rand_score(y, found.labels) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_speakers": 9}, "n_speakers=9, but there are only 4 windows of speech"),
        ({"min_speakers": 3, "max_speakers": 2}, "min_speakers=3 is more than max_speakers=2"),
        ({"n_speakers": 2, "max_speakers": 2}, "cannot be combined"),
        ({"n_speakers": 0}, "n_speakers must be"),
        ({"durations": [1.0]}, "one number for each of the 4 windows"),
        ({"durations": [1.0, 1.0, 0.0, 1.0]}, "above 0"),
        ({"metric": "manhattan"}, 'metric must be "cosine"'),
        ({"method": "blurring"}, "method must be"),
        ({"min_speech": -1.0}, "min_speech"),
        ({"overlap": 0}, "overlap"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cluster_speakers(np.eye(4), **arguments)


def test_bad_vectors():
    with pytest.raises(ValueError, match="only zeros in row 1"):
        cluster_speakers([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="row 0 is not"):
        cluster_speakers([[np.nan, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="at least one"):
        cluster_speakers(np.empty((0, 3)))


def test_the_silhouette_is_that_of_scikit_learn():
    rng = np.random.RandomState(0)
    X = unit(rng.standard_normal((40, 6)))
    labels = np.r_[rng.randint(4, size=39), 4]  # one window is alone
    assert silhouette(X, labels) == pytest.approx(silhouette_score(X, labels, metric="cosine"))
    free = rng.standard_normal((40, 6))
    expected = silhouette_score(free, labels, metric="sqeuclidean")
    assert silhouette(free, labels) == pytest.approx(expected)


def test_merging_is_average_linkage():
    from scipy.cluster.hierarchy import fcluster, linkage

    X = unit(np.random.RandomState(1).standard_normal((30, 4)))
    tree = linkage(X, "average", metric="cosine")
    for k in (2, 5, 11):
        theirs = fcluster(tree, k, "maxclust")
        assert adjusted_rand_score(theirs, merge_to(X, np.arange(30), k)) == 1.0
        assert adjusted_rand_score(theirs, linked(X, k)) == 1.0
    assert linked(np.zeros((4, 2)), 3).max() == 2


def test_dissolved_points_join_the_most_similar_part():
    points = unit(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [1.0, 0.2]]))
    labels = np.array([0, 0, 1, 1, 2])
    keep = np.array([True, True, False])
    assert dissolve(Directions(), points, labels, keep).tolist() == [0, 0, 1, 1, 0]
    sums, counts = parts_of(points, labels)
    assert counts.tolist() == [2, 2, 1]
    np.testing.assert_allclose(sums[2], points[4])
    assert order_by(np.array([7, 3, 3, 9]), np.array([1.0, 1.0, 1.0, 1.0])).tolist() == [1, 0, 0, 2]
