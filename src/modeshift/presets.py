"""One function for each paper. It returns the estimator with the settings of the paper.

Parameters that a paper does not state (mostly thresholds) keep the default of the estimator. Any
parameter can be set by keyword. docs/algorithms.md has a table from papers to equations.
"""

from math import inf
from typing import Any

from modeshift.estimators.blurring_mean_shift import BlurringMeanShift
from modeshift.estimators.mean_shift import MeanShift
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift

__all__ = [
    "carreira2006",
    "chakraborty2021",
    "comaniciu2002",
    "lapidot2023",
    "lapidot2025",
    "salmun2015",
    "salmun2017",
    "senoussaoui2014",
    "trigano2026",
]


def comaniciu2002(bandwidth: float | None = None, **parameters: Any) -> MeanShift:
    """Mean-shift: every point climbs alone over the original points, flat kernel.

    D. Comaniciu, P. Meer, "Mean shift: a robust approach toward feature space analysis", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 24(5), 2002. Ends closer than the
    bandwidth are joined, as in the segmentation of that paper.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.comaniciu2002(0.9)
    MeanShift(bandwidth=0.9, merge_radius=1.0)
    """
    return MeanShift(**{"bandwidth": bandwidth, "merge_radius": 1.0, **parameters})


def carreira2006(bandwidth: float | None = None, **parameters: Any) -> BlurringMeanShift:
    """Gaussian blurring mean-shift with the stopping rule of its author.

    M. Á. Carreira-Perpiñán, "Fast nonparametric clustering with Gaussian blurring mean-shift", ICML
    2006. The threshold for the mean update, 1e-3, is taken as a fraction of the bandwidth.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.carreira2006(0.9)
    BlurringMeanShift(bandwidth=0.9, kernel='gaussian', stop='entropy', tol=0.001)
    """
    settings = {"kernel": "gaussian", "stop": "entropy", "tol": 1e-3}
    return BlurringMeanShift(**{"bandwidth": bandwidth, **settings, **parameters})


def senoussaoui2014(
    bandwidth: float | None = None, seeding: int | None = None, **parameters: Any
) -> MeanShift:
    """Mean-shift with cosine distance. With ``seeding=m`` only m points climb (selective variant).

    M. Senoussaoui, P. Kenny, T. Stafylakis, P. Dumouchel, "A study of the cosine distance-based
    mean shift for telephone speech diarization", IEEE/ACM Transactions on Audio, Speech, and
    Language Processing 22(1), 2014.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.senoussaoui2014(0.3, seeding=100, random_state=0)
    MeanShift(bandwidth=0.3, metric='cosine', random_state=0, seeding=100)
    """
    settings = {"metric": "cosine", "seeding": seeding}
    return MeanShift(**{"bandwidth": bandwidth, **settings, **parameters})


def lapidot2023(bandwidth: float | None = None, **parameters: Any) -> StochasticMeanShift:
    """Stochastic mean-shift: one random point moves at a time.

    I. Lapidot, "Stochastic mean-shift clustering", arXiv 2312.15684, 2023, Algorithm 2.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.lapidot2023(0.9, random_state=0)
    StochasticMeanShift(bandwidth=0.9, batch_size=1, random_state=0)
    """
    return StochasticMeanShift(**{"bandwidth": bandwidth, "batch_size": 1, **parameters})


def lapidot2025(plda: Any, n_neighbors: int, **parameters: Any) -> StochasticMeanShift:
    """Stochastic mean-shift over the vectors of the highest PLDA score.

    I. Lapidot, Y. Sepulcre, T. Trigano, "Stochastic mean-shift clustering", arXiv 2511.09202, 2025,
    with speaker clustering by PLDA-based distances. ``plda`` is a fitted ``TwoCovariancePLDA``, or
    its ``metric_``.

    Examples
    --------
    >>> from modeshift import presets
    >>> from modeshift.speech import TwoCovariancePLDA
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.1, 0.1], [0.2, 0.1]]
    >>> plda = TwoCovariancePLDA().fit(X, [0, 0, 1, 1, 2, 2])
    >>> presets.lapidot2025(plda, 10).n_neighbors
    10
    """
    settings = {"bandwidth": inf, "metric": _metric_of(plda), "n_neighbors": n_neighbors}
    return StochasticMeanShift(**{"batch_size": 1, **settings, **parameters})


def salmun2015(bandwidth: float | None = None, **parameters: Any) -> MeanShift:
    """Mean-shift with cosine distance for short segments of speech.

    I. Salmun, I. Opher, I. Lapidot, "Clustering short push-to-talk segments", Interspeech 2015.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.salmun2015(0.4)
    MeanShift(bandwidth=0.4, metric='cosine')
    """
    return MeanShift(**{"bandwidth": bandwidth, "metric": "cosine", **parameters})


def salmun2017(plda: Any, n_neighbors: int, **parameters: Any) -> MeanShift:
    """Mean-shift over the nearest vectors by PLDA score, in place of a fixed radius.

    I. Salmun, I. Opher, I. Lapidot, Odyssey 2016, and Computer Speech & Language 45, 2017. ``plda``
    is a fitted ``TwoCovariancePLDA``, or its ``metric_``.

    Examples
    --------
    >>> from modeshift import presets
    >>> from modeshift.speech import TwoCovariancePLDA
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.1, 0.1], [0.2, 0.1]]
    >>> plda = TwoCovariancePLDA().fit(X, [0, 0, 1, 1, 2, 2])
    >>> presets.salmun2017(plda, 10).n_neighbors
    10
    """
    settings = {"bandwidth": inf, "metric": _metric_of(plda), "n_neighbors": n_neighbors}
    return MeanShift(**{**settings, **parameters})


def _metric_of(plda: Any) -> Any:
    return getattr(plda, "metric_", plda)


def chakraborty2021(
    bandwidth: float | None = None, temperature: float = 1.0, **parameters: Any
) -> BlurringMeanShift:
    """Gaussian blurring mean-shift that learns a weight for each feature.

    S. Chakraborty, D. Paul, S. Das, "Automated clustering of high-dimensional data with a feature
    weighted mean shift algorithm", AAAI 2021, arXiv 2012.10929. ``temperature`` is lambda in
    the paper. The public R code of the authors differs from the paper (see docs/algorithms.md);
    this function follows the paper.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.chakraborty2021(0.9, temperature=0.5)
    BlurringMeanShift(bandwidth=0.9, feature_weights=0.5, kernel='gaussian')
    """
    settings = {"kernel": "gaussian", "feature_weights": temperature}
    return BlurringMeanShift(**{"bandwidth": bandwidth, **settings, **parameters})


def trigano2026(low: float, high: float, **parameters: Any) -> StochasticMeanShift:
    """Doubly stochastic mean-shift: the bandwidth of each step is drawn between low and high.

    Trigano et al., "Doubly stochastic mean-shift clustering", arXiv 2602.15393, 2026.

    Examples
    --------
    >>> from modeshift import presets
    >>> presets.trigano2026(0.7, 1.1, random_state=0)
    StochasticMeanShift(bandwidth=(0.7, 1.1), random_state=0)
    """
    return StochasticMeanShift(**{"bandwidth": (low, high), **parameters})
