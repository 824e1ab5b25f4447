"""Partitions that stay on the workers, and queries to all of them.

A partition is the field of its own points. The mean near a place is taken over all points, so every
partition contributes a sum of offsets and a mass, and a tree of tasks adds them up:

    mean near x = x + sum_p s_p(x) / sum_p m_p(x),
    s_p(x) = sum of w_i (x_i - x),  m_p(x) = sum of w_i,  over the points i of p that are near x.

Tasks are pure functions of the results of others, and partitions never change: a move makes a new
partition. So when a worker dies, Dask repeats its tasks, with the same results.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from dask.sizeof import sizeof

from modeshift.engines.cpu.fields import Field, make_field
from modeshift.engines.cpu.hashing import number_rows
from modeshift.engines.cpu.sphere import put_back
from modeshift.engines.dask.faults import compute, persist
from modeshift.engines.dask.rows import Form, Rows, check_chunk_weights
from modeshift.engines.dask.tree import new_token, task, tree_reduce
from modeshift.engines.rule import Flat, Gaussian


class Question(NamedTuple):
    """A query to a partition, without the places.

    Attributes
    ----------
    radius : float
    rule : Flat or Gaussian
        Without the sphere: only the mean over all partitions is put back there.
    kind : str
        Kind of field on the CPU.
    sphere : bool
    on_gpu : bool
        Whether the GPU of the worker answers.
    """

    radius: float
    rule: Flat | Gaussian
    kind: str
    sphere: bool
    on_gpu: bool


class Share(NamedTuple):
    """Contribution of one or more partitions to the means near some places.

    Attributes
    ----------
    sums : ndarray of shape (m, d)
        Weighted sums of the offsets from the places.
    masses : ndarray of shape (m,)
    """

    sums: np.ndarray
    masses: np.ndarray


class Steps(NamedTuple):
    """Means near some places over all partitions, with masses and squared shifts."""

    means: np.ndarray
    masses: np.ndarray
    squares: np.ndarray


class Parts:
    """The partitions of one fit that have rows.

    Parameters
    ----------
    rows : Rows
    form : Form
    question : Question

    Attributes
    ----------
    fields : list of Delayed
        The field of each partition, on its worker.
    sizes, starts : ndarray
        Number of rows of each partition, and number of its first row.
    chunks : ndarray
        Number of the chunk of X of each partition.
    weight : float
        Total weight of all rows.
    """

    def __init__(self, rows: Rows, form: Form, question: Question) -> None:
        self.rows = rows
        self.question = question
        self.token = new_token()
        self._n_tasks = 0
        fields = [
            self.task("partition", _make_part, block, weights, form, question, chunk)
            for chunk, (block, weights) in enumerate(rows.blocks())
        ]
        facts = [self.task("partition-facts", _facts, field) for field in fields]
        *fields, gathered = self.persist([*fields, self.task("partition-facts", _together, *facts)])
        sizes, masses = (np.array(column) for column in zip(*self.get(gathered), strict=True))
        self.all_sizes = sizes
        self.chunks = np.flatnonzero(sizes)
        self.fields = [fields[chunk] for chunk in self.chunks]
        self.sizes = sizes[self.chunks]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        self.weight = float(masses.sum())

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return int(self.sizes.sum())

    def task(self, name: str, function: Any, *arguments: Any) -> Any:
        """Return the call of a pure function as a task with a name."""
        self._n_tasks += 1
        return task(function, *arguments, name=name, token=self.token, index=self._n_tasks)

    def persist(self, tasks: Sequence[Any]) -> list[Any]:
        """Run tasks; their results stay on the workers."""
        return persist(tasks, self.rows)

    def get(self, thing: Any) -> Any:
        """Wait for a result and fetch it. It must be small."""
        return compute(thing, self.rows)

    def ask(self, places: Any) -> Any:
        """Return a task for the steps from places, which are the result of a task themselves."""
        shares = [
            self.task("round-ask", _share_of, field, places, self.question) for field in self.fields
        ]
        self._n_tasks += 1
        total = tree_reduce(
            shares, _add_shares, name="round-add", token=f"{self.token}-{self._n_tasks}"
        )
        return self.task("round-mean", _steps, places, total, self.question.sphere)

    def owners_of(self, numbers: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each partition which of the given rows it has, and where."""
        owners = np.searchsorted(self.starts, numbers, side="right") - 1
        order = np.argsort(owners, kind="stable")
        bounds = np.searchsorted(owners[order], np.arange(len(self) + 1))
        slots = [order[a:b] for a, b in pairwise(bounds)]
        return [
            (numbers[mine] - start, mine) for mine, start in zip(slots, self.starts, strict=True)
        ]


@sizeof.register(Field)
def _bytes_of_field(field: Field) -> int:
    """Return the memory of a field. Dask moves small objects to large ones, so it needs sizes."""
    return field.weights.nbytes + _bytes_of(field.state)


def _bytes_of(thing: Any) -> int:
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    return sum(map(_bytes_of, thing)) if isinstance(thing, tuple) else 0


def positions_of(field: Field) -> np.ndarray:
    """Return the positions of the points of a partition."""
    return field.points


def distinct(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct places, and the number of the distinct place of each place."""
    numbers, firsts = number_rows(places)
    return places[firsts], numbers


def _make_part(block: Any, weights: Any, form: Form, question: Question, chunk: int) -> Any:
    points = form.points(block, chunk)
    weights = check_chunk_weights(weights, len(points), chunk)
    if len(points) == 0:
        return None
    if question.on_gpu:
        from modeshift.engines.cuda.part import DevicePart  # it brings PyTorch

        return DevicePart(points, weights, question.radius, question.rule)
    return make_field(points, weights, question.radius, question.kind, rule=question.rule)


def _facts(field: Field | None) -> tuple[int, float]:
    return (0, 0.0) if field is None else (len(field.points), float(field.weights.sum()))


def _together(*facts: tuple[int, float]) -> list[tuple[int, float]]:
    return list(facts)


def _share_of(field: Field, places: np.ndarray, question: Question) -> Share:
    answer = field.means_near(places, question.radius)
    return Share((answer.means - places) * answer.masses[:, np.newaxis], answer.masses)


def _add_shares(shares: list[Share]) -> Share:
    return Share(
        np.sum([share.sums for share in shares], axis=0),
        np.sum([share.masses for share in shares], axis=0),
    )


def _steps(places: np.ndarray, total: Share, sphere: bool) -> Steps:
    heavy = total.masses > 0.0
    means = places.copy()
    means[heavy] += total.sums[heavy] / total.masses[heavy, np.newaxis]
    if sphere:
        means = put_back(means, places)
    return Steps(means, total.masses, ((means - places) ** 2).sum(axis=1))
