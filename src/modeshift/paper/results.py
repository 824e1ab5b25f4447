"""All records of a run, with queries."""

import platform
import sys
from importlib.metadata import version
from os import cpu_count
from typing import Any

import numpy as np

from modeshift.paper.runs import Record


class Results:
    """Records, with parameters and environment of the run.

    Parameters
    ----------
    records : list of dict
    parameters : dict
        Parameters of the run.
    environment : dict
        See ``describe_environment``.
    """

    def __init__(
        self, records: list[Record], parameters: dict[str, Any], environment: dict[str, Any]
    ) -> None:
        self.records = records
        self.parameters = parameters
        self.environment = environment

    def of(self, experiment: str, **wanted: Any) -> "Results":
        """Return the records of an experiment whose fields have the given values."""
        wanted["experiment"] = experiment
        chosen = [
            record
            for record in self.records
            if all(record[name] == value for name, value in wanted.items())
        ]
        return Results(chosen, self.parameters, self.environment)

    def column(self, name: str, **wanted: Any) -> np.ndarray:
        """Return the values of a field, by rising seed, in the records with the given values."""
        chosen = [
            record
            for record in self.records
            if all(record[field] == value for field, value in wanted.items())
        ]
        chosen.sort(key=lambda record: record["seed"])
        return np.array([record[name] for record in chosen])

    def values(self, name: str) -> list:
        """Return the distinct values of a field, sorted."""
        return sorted({record[name] for record in self.records})


def describe_environment() -> dict[str, Any]:
    """Return versions and kind of machine, without anything that identifies the machine."""
    packages = ("modeshift", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
        "system": f"{platform.system()} {platform.machine()}",
        "byte_order": sys.byteorder,
        "cores": cpu_count(),
    }
