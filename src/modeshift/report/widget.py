"""The explorer as a widget of anywidget: it shows in Jupyter, VS Code and Colab."""

from typing import Any

import anywidget
import traitlets

from modeshift.estimators.consensus import Consensus
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.report.explorer import level_parameters, levels_of, make_explorer, script, style
from modeshift.report.fits import DescribedFit

TAKEN = (
    "The model of the notebook has these parameters now; model.fit(X) fits it. As a line of code:"
)


class Explorer(anywidget.AnyWidget):
    """The explorer of a fit; :func:`modeshift.report.explore` makes it.

    Attributes
    ----------
    selected : list of int
        Rows of X that are chosen.
    bandwidth : float or None
        The bandwidth that was taken last.
    """

    _esm = f"{script()}\nexport default {{ render }};\n"
    _css = style()
    content = traitlets.Dict().tag(sync=True)
    selected: traitlets.List[int] = traitlets.List().tag(sync=True)
    bandwidth = traitlets.Float(None, allow_none=True)

    def __init__(self, fit: DescribedFit) -> None:
        super().__init__(content=make_explorer(fit, TAKEN))
        self._model = fit.model
        self._name = _describe(fit)
        self._parameters = _parameters_of_levels(fit)
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """Return one line; all traits would be megabytes."""
        return self._name

    def _answer(self, widget: Any, message: dict[str, Any], buffers: list[Any]) -> None:
        """Set the parameters of a step of the slider on the model."""
        if "take" not in message:
            return
        values = self._parameters[message["take"]]
        _estimator_to_set(self._model).set_params(**values)
        self.bandwidth = values["bandwidth"]


def _describe(fit: DescribedFit) -> str:
    n, k = len(fit.model.labels_), len(fit.model.cluster_centers_)
    return (
        f"Explorer of {type(fit.model).__name__}: {n:,} point{'' if n == 1 else 's'}, "
        f"{k:,} cluster{'' if k == 1 else 's'}"
    )


def _parameters_of_levels(fit: DescribedFit) -> list[dict[str, Any]]:
    """Return the parameters to set for each step of the slider. A later fit changes no step."""
    if not hasattr(fit.model, "profile_"):
        return []
    levels = levels_of(fit.model, fit.model.profile_)
    return level_parameters(fit.model, levels, fit.summary["parameters"])


def _estimator_to_set(model: Any) -> Any:
    """Return the estimator that has the bandwidth: of a Consensus that of its runs."""
    if not isinstance(model, Consensus):
        return model
    if model.estimator is None:
        model.set_params(estimator=StochasticMeanShift())
    return model.estimator
