"""What an engine is: it takes data in, fits a Spec, and builds the index that predicts."""

from typing import Any, Protocol

import numpy as np

from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer


class Index(Protocol):
    """What labels new data."""

    def label(self, data: Any) -> Any:
        """Label data that the engine has taken in, in the user's kind of array."""
        ...


class Engine(Protocol):
    """One place to compute.

    ``data`` is what ``take_in`` returns, in the form that the engine works on; nobody else looks
    into it. ``fit.model`` is what the engine's own ``index`` understands.
    """

    name: str

    def example(self, X: Any) -> Any:
        """Return what scikit-learn checks: X itself, or rows like those of X."""
        ...

    def take_in(self, spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any) -> Any:
        """Check points and weights and bring them to where the engine computes.

        ``checked`` is the example as scikit-learn has checked and converted it.
        """
        ...

    def sample(self, spec: Spec, data: Any) -> Sampled:
        """Return the points by which a bandwidth is chosen."""
        ...

    def fit(
        self, spec: Spec, data: Any, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Run the schedule, find the clusters."""
        ...

    def index(self, spec: Spec, model: Any) -> Index:
        """Build what labels new data."""
        ...
