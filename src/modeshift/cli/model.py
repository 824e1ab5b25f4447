"""The file of ``cluster --model``: a fitted estimator, and the preparation of its data."""

from pathlib import Path
from typing import IO, Any, NamedTuple

from modeshift.estimators.saving import REGISTER, SavedEstimator, from_plain, to_plain
from modeshift.io import models
from modeshift.io.prepare import Preparation


class SavedModel(NamedTuple):
    """The content of the file."""

    estimator: SavedEstimator
    preparation: Preparation


_REGISTER = {**REGISTER, models.COMMAND_MODEL: SavedModel, "preparation": Preparation}


def save_model(file: IO[bytes], estimator: Any, preparation: Preparation) -> None:
    """Write the model to an open file."""
    models.save(file, SavedModel(to_plain(estimator), preparation), _REGISTER)


def load_model(path: Path) -> tuple[Any, Preparation]:
    """Return the estimator and the preparation; ValueError if the file holds something else."""
    return models.load(path, _REGISTER, _model_of)


def _model_of(content: Any) -> tuple[Any, Preparation]:
    if not (isinstance(content, SavedModel) and isinstance(content.estimator, SavedEstimator)):
        raise ValueError("it was not written by modeshift cluster --model")
    return from_plain(content.estimator), content.preparation
