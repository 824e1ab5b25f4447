"""Other programs, each as a function from points to labels."""

from importlib import import_module

from sklearn.cluster import KMeans, MeanShift

from measure import measure, quality
from table import Row

INSTALL = "pip install 'modeshift[bench]'"


def sklearn_all(bandwidth):
    """scikit-learn's mean-shift, every point climbing."""
    return MeanShift(bandwidth=bandwidth, n_jobs=1).fit_predict


def sklearn_bins(bandwidth):
    """scikit-learn's mean-shift from the centres of occupied bins."""
    return MeanShift(bandwidth=bandwidth, bin_seeding=True, n_jobs=1).fit_predict


def mlpack_bins(bandwidth):
    """mlpack's mean-shift, which seeds from bins too."""
    mean_shift = import_module("mlpack").mean_shift

    def fit(X):
        answer = mean_shift(input_=X, radius=bandwidth, labels_only=True)
        return answer["output"].ravel().astype(int)

    return fit


def kmeans(n_clusters):
    """k-means as scikit-learn has it, on all cores."""
    return KMeans(n_clusters, n_init=1, random_state=0).fit_predict


def fast_hdbscan():
    """HDBSCAN on all cores. Its default of 10 points a cluster gives thousands: ask for more."""
    module = import_module("fast_hdbscan")

    def fit(X):
        size = max(10, len(X) // 100)
        return module.HDBSCAN(min_cluster_size=size, min_samples=10).fit_predict(X)

    return fit


def compare(row, make_peer, X, y):
    """Fill in the peer's half of a row; a peer that is missing or fails says so instead."""
    try:
        timing = measure(make_peer(), X)
    except ImportError:
        row.notes.append(f"skipped, not installed: {INSTALL}")
    except Exception as error:  # what a peer raises is a result, not the end of the run
        row.notes.append(f"{type(error).__name__}: {str(error).strip()[:50]}")
    else:
        row.set_peer(timing.seconds, timing.note)
        row.peer_clusters, row.peer_ari = quality(timing.result, y)
    return row


def row_of(subject, ours, timing, y, peer=None, what=None):
    """Make a row of what an estimator of ours did, the peer's half still empty."""
    clusters, ari = quality(timing.result.labels_, y)
    return Row(
        subject=subject,
        what=what or ours,
        n=len(y),
        ours=ours,
        ours_s=timing.seconds,
        peer=peer,
        clusters=clusters,
        ari=ari,
        notes=[f"ours {timing.note}"] if timing.note else [],
    )
