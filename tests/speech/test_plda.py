"""Two-covariance PLDA against direct Gaussian likelihoods; training; files."""

import struct

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone

from modeshift.plda import PLDAMetric
from modeshift.speech import TwoCovariancePLDA


def simulated(n_speakers=40, n_each=6, d=5, seed=0, mean=1.0):
    """Vectors of the model itself, their speakers, and B, W."""
    rng = np.random.RandomState(seed)
    first, second = rng.standard_normal((2, d, d))
    between, within = first @ first.T + 0.1 * np.eye(d), 0.3 * second @ second.T + 0.1 * np.eye(d)
    y = rng.multivariate_normal(np.full(d, mean), between, n_speakers).repeat(n_each, axis=0)
    X = y + rng.multivariate_normal(np.zeros(d), within, len(y))
    return X, np.arange(n_speakers).repeat(n_each), between, within


def direct_ratios(X, Y, mean, between, within):
    """The ratios by the densities of pairs."""
    total = between + within
    same = multivariate_normal(np.r_[mean, mean], np.block([[total, between], [between, total]]))
    alone = multivariate_normal(mean, total)
    return np.array(
        [[same.logpdf(np.r_[x, y]) - alone.logpdf(x) - alone.logpdf(y) for y in Y] for x in X]
    )


def metric_of(mean, between, within):
    from modeshift.speech.plda import diagonalised

    psi, basis = diagonalised(between, within)
    d = len(psi)
    return PLDAMetric.of(np.zeros(d), np.eye(d), False, mean, basis, psi)


def test_scores_are_ratios_of_gaussian_densities():
    X, _, between, within = simulated()
    mean = np.full(5, 1.0)
    model = TwoCovariancePLDA.of(metric_of(mean, between, within))
    expected = direct_ratios(X[:8], X[4:14], mean, between, within)
    np.testing.assert_allclose(model.score_pairs(X[:8], X[4:14]), expected, atol=1e-9)
    u, v = model.transform(X[:8]), model.transform(X[4:14])
    squares = ((u[:, np.newaxis] - v) ** 2).sum(axis=2)
    gains = model.metric_.gains(u)[:, np.newaxis] + model.metric_.gains(v)
    np.testing.assert_allclose(model.metric_.constant + gains - 0.5 * squares, expected, atol=1e-9)


def test_scores_with_a_mean_are_ratios_of_gaussian_densities():
    X, _, between, within = simulated()
    mean, n = np.full(5, 1.0), 4
    metric = metric_of(mean, between, within)
    u = metric.coordinates(X[:10])
    found = metric.scores_with_means(u[4:], u[:n].mean(axis=0)[np.newaxis], np.array([float(n)]))
    middle = X[:n].mean(axis=0)
    total, few = between + within, between + within / n
    pair = np.block([[few, between], [between, total]])
    both = multivariate_normal(np.r_[mean, mean], pair)
    for i, x in enumerate(X[4:10]):
        expected = both.logpdf(np.r_[middle, x])
        expected -= multivariate_normal(mean, few).logpdf(middle)
        expected -= multivariate_normal(mean, total).logpdf(x)
        assert found[i, 0] == pytest.approx(expected)


def test_training_finds_the_covariances():
    X, y, between, within = simulated(n_speakers=3000, n_each=4)
    for steps in (0, 10):
        model = TwoCovariancePLDA(unit_length=False, max_iter=steps, shrinkage=0.0).fit(X, y)
        assert model.n_iter_ == steps
        expected = metric_of(np.full(5, 1.0), between, within)
        np.testing.assert_allclose(model.metric_.psi, expected.psi, rtol=0.15)
        mine, theirs = model.score_pairs(X[:50]), TwoCovariancePLDA.of(expected).score_pairs(X[:50])
        assert np.abs(mine - theirs).mean() < 0.1 * theirs.std()


def test_em_never_lowers_the_likelihood():
    from modeshift.speech.plda import em_step, moments

    X, y, *_ = simulated(n_speakers=12, n_each=3)
    mean, between, within = moments(X, y, 0.0)

    def likelihood(x):
        big = np.kron(np.ones((3, 3)), between) + np.kron(np.eye(3), within)
        return multivariate_normal(np.zeros(15), big).logpdf(x.reshape(12, 15)).sum()

    x = X - mean
    values = [likelihood(x)]
    for _ in range(6):
        between, within, shift = em_step(x, y, between, within, 0.0)
        x = x - shift
        values.append(likelihood(x))
    assert (np.diff(values) > -1e-6).all()
    assert values[-1] > values[0]


def test_vectors_of_unit_length_and_fewer_components():
    X, y, *_ = simulated(d=8)
    model = TwoCovariancePLDA(n_components=3).fit(X, y)
    assert model.transform(X).shape == (len(X), 3)
    assert model.get_feature_names_out().tolist() == [f"twocovarianceplda{i}" for i in range(3)]
    np.testing.assert_allclose(np.linalg.norm(model.metric_.vectors(X), axis=1), 1.0)
    u = model.transform(X)
    again = model.metric_.coordinates(model.metric_.rows_of(u))
    np.testing.assert_allclose(again, u, atol=1e-9)


def test_saved_models_and_clones(tmp_path):
    X, y, *_ = simulated()
    model = TwoCovariancePLDA().fit(X, y)
    model.save(tmp_path / "plda.npz")
    again = TwoCovariancePLDA.load(tmp_path / "plda.npz")
    np.testing.assert_array_equal(again.score_pairs(X[:5]), model.score_pairs(X[:5]))
    assert again.metric_ == model.metric_
    assert clone(model).get_params() == model.get_params()
    (tmp_path / "bad.npz").write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match="cannot be loaded"):
        TwoCovariancePLDA.load(tmp_path / "bad.npz")


def kaldi_text(mean, matrix, psi):
    rows = "\n".join("  " + " ".join(map(repr, row)) for row in matrix.tolist())
    first, last = (" ".join(map(repr, a.tolist())) for a in (mean, psi))
    return f"<Plda>  [ {first} ]\n [\n{rows} ]\n [ {last} ]\n</Plda> ".encode()


def kaldi_binary(mean, matrix, psi, letter):
    kind = {"D": "<f8", "F": "<f4"}[letter]

    def vector(a):
        return f"{letter}V ".encode() + struct.pack("<bi", 4, len(a)) + a.astype(kind).tobytes()

    sizes = struct.pack("<bibi", 4, len(matrix), 4, len(matrix))
    middle = f"{letter}M ".encode() + sizes + matrix.astype(kind).tobytes()
    return b"\0B<Plda> " + vector(mean) + middle + vector(psi) + b"</Plda> "


def test_models_of_kaldi(tmp_path):
    X, _, between, within = simulated()
    mean = np.full(5, 1.0)
    metric = metric_of(mean, between, within)
    parts = metric.mean, metric.basis.T, metric.psi
    files = {
        "text": (kaldi_text(*parts), 1e-9),
        "double": (kaldi_binary(*parts, "D"), 1e-9),
        "float": (kaldi_binary(*parts, "F"), 1e-3),
    }
    expected = direct_ratios(X[:6], X[:6], mean, between, within)
    for name, (content, tolerance) in files.items():
        (tmp_path / name).write_bytes(content)
        found = TwoCovariancePLDA.read_kaldi(tmp_path / name).score_pairs(X[:6])
        np.testing.assert_allclose(found, expected, atol=tolerance)
    for content, reason in (
        (files["double"][0][:60], "ends too early"),
        (b"<Plda> [ 1 ] </Plda>", "1 arrays instead of 3"),
        (b"hello", "does not hold"),
        (b"\0Bhello", "does not begin"),
    ):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(ValueError, match=reason):
            TwoCovariancePLDA.read_kaldi(tmp_path / "bad")


def test_bad_input():
    X, y, *_ = simulated()
    with pytest.raises(ValueError, match="two classes"):
        TwoCovariancePLDA().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="two classes"):
        TwoCovariancePLDA().fit(X, np.arange(len(X)))
    with pytest.raises(ValueError, match="n_components=9, but X has 5"):
        TwoCovariancePLDA(n_components=9).fit(X, y)
    with pytest.raises(ValueError, match="coincide"):
        TwoCovariancePLDA().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])


def test_a_bandwidth_is_a_threshold_of_the_score():
    X, y, *_ = simulated()
    metric = TwoCovariancePLDA().fit(X, y).metric_
    assert metric.score_at(metric.bandwidth_at(-3.5)) == pytest.approx(-3.5)
    with pytest.raises(ValueError, match="score must be below"):
        metric.bandwidth_at(1e6)
