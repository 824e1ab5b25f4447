"""Purities against tables worked out by hand, the paper's warnings, and the naive twin."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from modeshift import metrics
from twins import naive

FIELDS = ("acp", "asp", "k", "pur_c", "pur_d", "g", "n_clusters")
WITH_WEIGHTED = {
    "acp": metrics.average_cluster_purity,
    "asp": metrics.average_class_purity,
    "k": metrics.k_score,
}
WITHOUT_WEIGHTED = {
    "pur_c": metrics.cluster_purity,
    "pur_d": metrics.class_purity,
    "g": metrics.g_score,
}
ALL_FUNCTIONS = [
    *WITH_WEIGHTED.values(),
    *WITHOUT_WEIGHTED.values(),
    metrics.purity_report,
]


def labels_of(table):
    """Labels that have this contingency table: a row a cluster, a column a class."""
    cells = [(q, r) for q, row in enumerate(table) for r, n in enumerate(row) for _ in range(n)]
    return [r for _, r in cells], [q for q, _ in cells]


def all_columns(labels_true, labels_pred, weighted=False):
    """The columns of the report, after checking that each function of its own agrees with it."""
    report = metrics.purity_report(labels_true, labels_pred, weighted=weighted)
    for name, function in WITH_WEIGHTED.items():
        assert function(labels_true, labels_pred, weighted=weighted) == getattr(report, name)
    for name, function in WITHOUT_WEIGHTED.items():
        assert function(labels_true, labels_pred) == getattr(report, name)
    return report


# Two tables worked out by hand

# n_qr:      class a  class b
# cluster 0:    3        1       4 points
# cluster 1:    0        2       2 points     N = 6
#
# p_0 = (9 + 1) / 16 = 5/8,  p_1 = 4 / 4 = 1
# ACP = (5/8 + 1) / 2 = 13/16           by size: (4 * 5/8 + 2 * 1) / 6 = 4.5 / 6 = 3/4
# a: (9 + 0) / 9 = 1,  b: (1 + 4) / 9 = 5/9
# ASP = (1 + 5/9) / 2 = 7/9             by size the same, as the classes are of one size
# Pur_C = (3 + 2) / 6 = 5/6,  Pur_D = (3 + 2) / 6 = 5/6,  G = 5/6
SMALL = [[3, 1], [0, 2]]

# n_qr:      class a  class b  class c
# cluster 0:    5        1        0       6 points
# cluster 1:    1        2        0       3 points
# cluster 2:    2        0        1       3 points     N = 12
#
# p = (25 + 1) / 36, (1 + 4) / 9, (4 + 1) / 9 = 13/18, 10/18, 10/18
# ACP = 33/18 / 3 = 11/18               by size: (6 * 13/18 + 3 * 10/18 + 3 * 10/18) / 12
#                                              = (23/3) / 12 = 23/36
# a: (25 + 1 + 4) / 64 = 15/32,  b: (1 + 4) / 9 = 5/9,  c: 1
# ASP = (135 + 160 + 288) / 288 / 3     by size: (8 * 15/32 + 3 * 5/9 + 1 * 1) / 12
#     = 583/864                                = (45/12 + 20/12 + 12/12) / 12 = 77/144
# Pur_C = (5 + 2 + 2) / 12 = 3/4,  Pur_D = (5 + 2 + 1) / 12 = 2/3,  G = sqrt(1/2)
UNEVEN = [[5, 1, 0], [1, 2, 0], [2, 0, 1]]


@pytest.mark.parametrize(
    ("table", "weighted", "acp", "asp", "pur_c", "pur_d", "g"),
    [
        (SMALL, False, 13 / 16, 7 / 9, 5 / 6, 5 / 6, 5 / 6),
        (SMALL, True, 3 / 4, 7 / 9, 5 / 6, 5 / 6, 5 / 6),
        (UNEVEN, False, 11 / 18, 583 / 864, 3 / 4, 2 / 3, math.sqrt(1 / 2)),
        (UNEVEN, True, 23 / 36, 77 / 144, 3 / 4, 2 / 3, math.sqrt(1 / 2)),
    ],
)
def test_tables_worked_out_by_hand(table, weighted, acp, asp, pur_c, pur_d, g):
    expected = (acp, asp, math.sqrt(acp * asp), pur_c, pur_d, g, len(table))
    assert all_columns(*labels_of(table), weighted) == pytest.approx(expected)
    assert naive.purity_columns(*labels_of(table), weighted) == pytest.approx(expected)


def test_naive_contingency_counts_the_cells():
    assert naive.contingency(*labels_of(SMALL)) == {(0, 0): 3, (0, 1): 1, (1, 1): 2}


# Extreme clusterings


@pytest.mark.parametrize("weighted", [False, True])
def test_perfect_clustering_scores_one(weighted):
    report = all_columns(list("aaabbc"), [2, 2, 2, 0, 0, 1], weighted)
    assert report == pytest.approx((1, 1, 1, 1, 1, 1, 3))


@pytest.mark.parametrize("weighted", [False, True])
def test_one_point_scores_one(weighted):
    assert all_columns(["a"], [0], weighted) == pytest.approx((1, 1, 1, 1, 1, 1, 1))


@pytest.mark.parametrize("weighted", [False, True])
def test_one_cluster_of_two_classes(weighted):
    # The only cluster weighs everything, so that its size changes nothing: (9 + 1) / 16.
    report = all_columns(list("aaab"), [7, 7, 7, 7], weighted)
    expected = (5 / 8, 1, math.sqrt(5 / 8), 3 / 4, 1, math.sqrt(3 / 4), 1)
    assert report == pytest.approx(expected)


# Class a of three points in three clusters: 3 * 1 / 9 = 1/3. Class b of one point: 1.
@pytest.mark.parametrize(
    ("weighted", "asp"), [(False, (1 / 3 + 1) / 2), (True, (3 * 1 / 3 + 1 * 1) / 4)]
)
@pytest.mark.parametrize("labels_pred", [[0, 1, 2, 3], [-1, -1, -1, -1], [5, -1, 3, -1]])
def test_singletons_and_noise_are_clusters_of_one_point(labels_pred, weighted, asp):
    report = all_columns(list("aaab"), labels_pred, weighted)
    expected = (1, asp, math.sqrt(asp), 1, 2 / 4, math.sqrt(1 / 2), 4)
    assert report == pytest.approx(expected)


def test_noise_beside_a_cluster():
    # Clusters {a, a}, {b}, {b}: ASP = (1 + (1 + 1) / 4) / 2, Pur_D = (2 + 1) / 4.
    report = all_columns(list("aabb"), np.array([0, 0, -1, -1]))
    expected = (1, 3 / 4, math.sqrt(3 / 4), 1, 3 / 4, math.sqrt(3 / 4), 3)
    assert report == pytest.approx(expected)


def test_minus_one_is_an_ordinary_class():
    assert all_columns([-1, -1, 0], [0, 0, 1]) == pytest.approx((1, 1, 1, 1, 1, 1, 2))


def test_minus_one_as_text_is_an_ordinary_cluster():
    assert metrics.purity_report([0, 0, 1], ["-1", "-1", "0"]).n_clusters == 2


def test_giant_cluster_with_strays_fools_only_the_unweighted_k():
    # 20 classes of 50; all in one cluster, but for one stray each of 19 classes.
    labels_true = np.repeat(np.arange(20), 50)
    labels_pred = np.zeros(1000, dtype=int)
    labels_pred[: 19 * 50 : 50] = np.arange(1, 20)
    assert adjusted_rand_score(labels_true, labels_pred) < 0.01
    assert metrics.k_score(labels_true, labels_pred) > 0.95
    assert metrics.k_score(labels_true, labels_pred, weighted=True) < 0.3


# What the functions take and give


def as_strings(labels):
    return ["abc"[label] for label in labels]


def as_tuples(labels):
    # NumPy would make a two-dimensional array of these.
    return [(label, "x") for label in labels]


def as_mixed(labels):
    # 1 and "1" are two labels.
    return [[1, "1", None][label] for label in labels]


def as_text_array(labels):
    return np.array(as_strings(labels))


def as_small_integers(labels):
    return np.array(labels, dtype=np.uint8)


def as_object_array(labels):
    return np.array(as_mixed(labels), dtype=object)


def as_pandas(labels):
    # An index that is neither sorted nor from 0: labels go by place, never by index.
    return pd.Series(labels, index=range(len(labels), 0, -1))


def as_pandas_category(labels):
    return pd.Series(as_strings(labels), dtype="category")


def as_polars(labels):
    return pl.Series(labels)


def as_polars_with_null(labels):
    return pl.Series([["a", "b", None][label] for label in labels])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "dress",
    [
        tuple,
        np.array,
        as_strings,
        as_tuples,
        as_mixed,
        as_text_array,
        as_small_integers,
        as_object_array,
        as_pandas,
        as_pandas_category,
        as_polars,
        as_polars_with_null,
    ],
)
def test_any_hashable_labels(dress, weighted):
    labels_true, labels_pred = labels_of(UNEVEN)
    expected = metrics.purity_report(labels_true, labels_pred, weighted=weighted)
    assert all_columns(dress(labels_true), labels_pred, weighted) == pytest.approx(expected)
    assert all_columns(labels_true, dress(labels_pred), weighted) == pytest.approx(expected)
    assert all_columns(dress(labels_true), dress(labels_pred), weighted) == pytest.approx(expected)


@pytest.mark.parametrize(
    "noise", [pd.Series([0, -1, -1]), pl.Series([0, -1, -1]), np.array([0, -1, -1], np.int8)]
)
def test_noise_in_any_container(noise):
    assert metrics.purity_report([0, 0, 0], noise).n_clusters == 3


def test_noise_among_labels_of_other_kinds():
    assert metrics.purity_report([0, 0, 0, 0], ["a", -1, None, -1]).n_clusters == 4


def test_report_is_a_named_tuple():
    report = metrics.purity_report(*labels_of(SMALL))
    assert isinstance(report, tuple)
    assert report._fields == FIELDS
    assert all(isinstance(value, float) for value in report[:-1])
    assert isinstance(report.n_clusters, int)


def test_weighted_is_keyword_only():
    for function in WITH_WEIGHTED.values():
        with pytest.raises(TypeError):
            function([0], [0], True)


def test_labels_are_left_as_they_are():
    labels_true, labels_pred = np.array([0, 0, 1]), np.array([0, -1, -1])
    metrics.purity_report(labels_true, labels_pred)
    assert labels_true.tolist() == [0, 0, 1]
    assert labels_pred.tolist() == [0, -1, -1]


# Properties

pairs_of_labels = st.lists(
    st.tuples(st.integers(-1, 4), st.integers(-1, 6)), min_size=1, max_size=40
)


@given(pairs_of_labels, st.booleans())
def test_equals_the_naive_twin(pairs, weighted):
    labels_true, labels_pred = zip(*pairs, strict=True)
    expected = naive.purity_columns(labels_true, labels_pred, weighted)
    assert all_columns(labels_true, labels_pred, weighted) == pytest.approx(expected)


@given(pairs_of_labels, st.booleans())
def test_scores_are_in_range(pairs, weighted):
    labels_true, labels_pred = zip(*pairs, strict=True)
    *scores, n_clusters = all_columns(labels_true, labels_pred, weighted)
    assert all(0 < score <= 1 + 1e-12 for score in scores)
    assert 1 <= n_clusters <= len(pairs)


@given(st.data(), pairs_of_labels, st.booleans())
def test_order_of_the_points_does_not_matter(data, pairs, weighted):
    shuffled = data.draw(st.permutations(pairs))
    expected = metrics.purity_report(*zip(*pairs, strict=True), weighted=weighted)
    assert all_columns(*zip(*shuffled, strict=True), weighted) == pytest.approx(expected)


@given(
    pairs_of_labels,
    st.permutations(range(-1, 5)),
    st.permutations(range(7)),
    st.booleans(),
)
def test_names_of_the_labels_do_not_matter(pairs, class_names, cluster_names, weighted):
    labels_true, labels_pred = zip(*pairs, strict=True)
    new_true = [class_names[label] for label in labels_true]
    # Noise is no name: -1 has to stay -1.
    new_pred = [-1 if label == -1 else cluster_names[label] for label in labels_pred]
    expected = metrics.purity_report(labels_true, labels_pred, weighted=weighted)
    assert all_columns(new_true, new_pred, weighted) == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=40),
    st.booleans(),
)
def test_clusters_and_classes_change_roles(pairs, weighted):
    labels_true, labels_pred = zip(*pairs, strict=True)
    there = metrics.purity_report(labels_true, labels_pred, weighted=weighted)
    back = metrics.purity_report(labels_pred, labels_true, weighted=weighted)
    assert (there.acp, there.asp, there.k) == pytest.approx((back.asp, back.acp, back.k))
    assert (there.pur_c, there.pur_d, there.g) == pytest.approx((back.pur_d, back.pur_c, back.g))


# Errors


@pytest.mark.parametrize("function", ALL_FUNCTIONS)
def test_no_labels_at_all(function):
    with pytest.raises(ValueError, match="labels_true"):
        function([], [])
    with pytest.raises(ValueError, match="labels_pred"):
        function([0], [])


@pytest.mark.parametrize("function", ALL_FUNCTIONS)
def test_different_lengths(function):
    with pytest.raises(ValueError, match="labels_true") as caught:
        function([0, 1], [0, 1, 1])
    for part in ("labels_pred", "2", "3"):
        assert part in str(caught.value)


NAN_LABELS = [
    [0.0, math.nan],
    ["a", math.nan],
    [None, np.float32("nan")],
    np.array([1.0, np.nan]),
    np.array(["a", np.nan], dtype=object),
    pd.Series([1.0, np.nan]),
    pl.Series([1.0, math.nan]),
]


@pytest.mark.parametrize("bad", NAN_LABELS)
@pytest.mark.parametrize("function", ALL_FUNCTIONS)
def test_nan_labels(function, bad):
    with pytest.raises(ValueError, match=r"labels_true.*NaN|NaN.*labels_true"):
        function(bad, [0, 1])
    with pytest.raises(ValueError, match=r"labels_pred.*NaN|NaN.*labels_pred"):
        function([0, 1], bad)
