"""The protocol of engines: take data in, fit a Spec, build the index for ``predict``."""

from typing import Any, Protocol

import numpy as np

from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer


class Index(Protocol):
    """The index of a fitted model.

    ``data`` is the object that ``take_in`` returned. Results are in the user's kind of array.
    """

    def label(self, data: Any, *, outliers: bool) -> Any:
        """Label new points; with ``outliers``, -1 beyond the bandwidth of all fitted points."""
        ...

    def membership(self, data: Any) -> Any:
        """Return the share of the votes that each cluster gets."""
        ...

    def log_density(self, data: Any) -> Any:
        """Return the logarithm of the density of the fitted points."""
        ...


class Engine(Protocol):
    """One way to compute fits.

    ``data`` is the object that ``take_in`` returns; only the engine knows what it contains.
    ``fit.model`` is the object that the engine's ``index`` takes.
    """

    name: str

    def example(self, X: Any) -> Any:
        """Return the input that scikit-learn checks: X itself, or rows like those of X."""
        ...

    def take_in(self, spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any) -> Any:
        """Check points and weights, and bring them to the engine.

        ``checked`` is the example after scikit-learn checked and converted it.
        """
        ...

    def sample(self, spec: Spec, data: Any) -> Sampled:
        """Return the points on which a bandwidth is chosen."""
        ...

    def fit(
        self, spec: Spec, data: Any, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Run the schedule and find the clusters."""
        ...

    def index(self, spec: Spec, model: Any) -> Index:
        """Build the index that labels new data."""
        ...
