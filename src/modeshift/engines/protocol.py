"""The protocol of engines: take data in, fit a Spec, build the index for ``predict``."""

from typing import Any, Protocol

import numpy as np

from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer


class Index(Protocol):
    """The index of a fitted model. It labels new data."""

    def label(self, data: Any) -> Any:
        """Return labels of data that ``take_in`` returned, in the user's kind of array."""
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
