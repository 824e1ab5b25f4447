"""The fit with ``resolution``: chunks become cells, a tree joins them, labels are looked up."""

from typing import Any, NamedTuple

import dask
import numpy as np

from modeshift.checks import ONLY_ZEROS
from modeshift.engines.cpu.cell_sums import Tally, cell_keys
from modeshift.engines.cpu.compress import cells_of_tally, join, tally
from modeshift.engines.cpu.exact_sums import WEIGHTLESS
from modeshift.engines.cpu.hashing import RowTable
from modeshift.engines.dask.faults import compute
from modeshift.engines.dask.rows import Form, Rows, check_chunk_weights
from modeshift.engines.dask.tree import new_token, task, tree_reduce


class ChunkedCells(NamedTuple):
    """Cells of data in chunks. The cell of a row is looked up when labels are computed.

    Attributes
    ----------
    points, weights, keys, firsts : ndarray
        As in :class:`modeshift.engines.cpu.compress.Cells`.
    rows : Rows
    form : Form
    side : float
    """

    points: np.ndarray
    weights: np.ndarray
    keys: np.ndarray
    firsts: np.ndarray
    rows: Rows
    form: Form
    side: float

    def spread(self, values: np.ndarray) -> Any:
        """Return the value of the cell of every row: a lazy Dask array with the rows' chunks."""
        name = "labels" if values.ndim == 1 else "modes"
        token = new_token()
        # One task holds the table, and all others refer to it.
        table = dask.delayed(
            _Table(self.keys, values), name=f"modeshift-cells-{token}", traverse=False
        )
        columns = {"drop_axis": 1} if values.ndim == 1 else {"chunks": self.rows.points.chunks}
        return self.rows.points.map_blocks(
            _look_up,
            table,
            form=self.form,
            side=self.side,
            dtype=values.dtype,
            meta=values[:0],
            name=f"modeshift-{name}-{token}",
            **columns,
        )


class _Table(NamedTuple):
    keys: np.ndarray
    values: np.ndarray


def compress_rows(rows: Rows, form: Form, side: float) -> ChunkedCells:
    """Compress all chunks in one pass over the data."""
    token = new_token()
    parts = [
        task(_tally_chunk, block, weights, form, side, start, chunk,
             name="compress", token=token, index=chunk)
        for chunk, ((block, weights), start) in enumerate(
            zip(rows.blocks(), rows.starts.tolist(), strict=True)
        )
    ]  # fmt: skip
    total = compute(tree_reduce(parts, join, name="join-cells", token=token), rows)
    if len(total.keys) == 0:
        raise ValueError("X must have at least one row, got only empty chunks.")
    if (total.tops == WEIGHTLESS).all():
        raise ValueError(ONLY_ZEROS)
    cells = cells_of_tally(total, side)
    return ChunkedCells(cells.points, cells.weights, cells.keys, cells.firsts, rows, form, side)


def _tally_chunk(
    block: Any, weights: Any, form: Form, side: float, start: int, chunk: int
) -> Tally:
    points = form.points(block, chunk)
    return tally(points, check_chunk_weights(weights, len(points), chunk), side, start)


def _look_up(block: Any, table: _Table, *, form: Form, side: float, block_id: Any) -> np.ndarray:
    keys = cell_keys(form.points(block, block_id[0]), side)
    found = RowTable(table.keys).find(keys)
    if (found < 0).any():
        raise RuntimeError(
            f"Chunk {block_id[0]} of X has a row that it did not have during the fit. X must give "
            "the same rows each time it is computed: persist X, or set the seed of its generator."
        )
    return table.values[found]
