"""The measures of BSDS500, by hand and beside independent implementations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from modeshift.image import measures

SAME = np.array([[1, 1, 2, 2]])
HALVED = np.array([[5, 5, 5, 5]])
SHIFTED = np.array([[1, 2, 2, 2]])


def test_a_perfect_segmentation():
    assert measures.compare(SAME * 7, [SAME]) == (1.0, 1.0, 0.0)


def test_one_region_over_two():
    # Each half of the truth overlaps the whole by 2 of 4 pixels. 2 of 6 pairs are together in both.
    # Given the true region nothing is unknown; given the one region, one bit.
    assert measures.covering(HALVED, SAME) == 0.5
    assert measures.rand_index(HALVED, SAME) == pytest.approx(2 / 6)
    assert measures.variation_of_information(HALVED, SAME) == pytest.approx(1.0)


def test_a_shifted_border():
    # Truth {a b}{c d}, found {a}{b c d}: overlaps 1/2 and 2/3, so (2/4) 1/2 + (2/4) 2/3.
    # Pairs: cd together in both; ac, ad apart in both; ab, bc, bd differ.
    assert measures.covering(SHIFTED, SAME) == pytest.approx(7 / 12)
    assert measures.covering(SAME, SHIFTED) == pytest.approx(1 / 4 * 1 / 2 + 3 / 4 * 2 / 3)
    assert measures.rand_index(SHIFTED, SAME) == pytest.approx(3 / 6)
    # H(S|R) = 1/2 h(1/2) + 1/2 0; H(R|S) = 3/4 h(1/3).
    third = -(1 / 3 * np.log2(1 / 3) + 2 / 3 * np.log2(2 / 3))
    assert measures.variation_of_information(SHIFTED, SAME) == pytest.approx(0.5 + 0.75 * third)


def test_truths_are_averaged():
    both = measures.compare(SHIFTED, [SAME, SHIFTED])
    assert both.covering == pytest.approx((7 / 12 + 1) / 2)
    assert both.rand_index == pytest.approx((3 / 6 + 1) / 2)


def test_beside_other_implementations():
    metrics = pytest.importorskip("skimage.metrics")
    from sklearn.metrics import rand_score

    rng = np.random.default_rng(0)
    labels, truth = rng.integers(1, 9, (20, 30)), rng.integers(0, 5, (20, 30))
    assert_allclose(measures.rand_index(labels, truth), rand_score(truth.ravel(), labels.ravel()))
    parts = metrics.variation_of_information(truth, labels)
    assert_allclose(measures.variation_of_information(labels, truth), sum(parts))


def test_one_pixel_and_bad_input():
    assert measures.compare([[3]], [[[1]]]) == (1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="same shape"):
        measures.covering(SAME, SAME[:, :3])
    with pytest.raises(ValueError, match="at least one pixel"):
        measures.covering(SAME[:, :0], SAME[:, :0])
    with pytest.raises(TypeError, match="whole numbers"):
        measures.covering(SAME / 2, SAME)
    with pytest.raises(ValueError, match="at least one label image"):
        measures.compare(SAME, [])
