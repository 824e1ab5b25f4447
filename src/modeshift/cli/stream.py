"""``--stream``: clusters and labels of tables that are larger than memory, batch by batch.

The first pass adds every batch to the sums of the cells (``partial_fit``). The cells are clustered,
and a second pass over the file writes the labels.
"""

import argparse
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from modeshift.cli.errors import UserError, about
from modeshift.cli.parameters import all_parameters, class_name
from modeshift.cli.screen import shown
from modeshift.cli.tables import (
    LabelWriter,
    check_places,
    label_place,
    named_columns,
    read_starts,
    with_metric,
)
from modeshift.cli.wording import in_options, user_errors

_SHOWN_AFTER = 1.0  # seconds without a progress bar


def add_stream_options(parser: Any) -> None:
    """Add --stream and --half-life."""
    parser.add_argument(
        "--stream",
        action="store_true",
        help="read the table in batches, in memory that does not grow with its rows, and write the "
        "labels in a second pass. Needs --bandwidth and --resolution. Standard input cannot be "
        "read twice: it gives a summary and a --model, and no labels (default: no)",
    )
    parser.add_argument(
        "--half-life",
        type=float,
        metavar="N",
        help="only with --stream: number of rows after which the weight of a row has halved "
        "(default: rows keep their weight)",
    )


def cluster_stream(options: argparse.Namespace, parameters: dict[str, Any]) -> None:
    """Cluster batch by batch, write, print."""
    _check_options(options, parameters)
    from modeshift.cli.model import save_model
    from modeshift.io.batches import Batches
    from modeshift.io.prepare import Preparation
    from modeshift.io.write import write_whole

    batches = Batches(options.data)
    out = _place_of_labels(options, batches)
    if options.summary is None and out is not None:
        options.summary = out.with_suffix(".json")
    places = {"--out": out, "--summary": options.summary, "--model": options.model}
    check_places(places, options)
    if out is not None:
        check_ending(out)

    seconds = {}
    started = perf_counter()
    reader = BatchReader(batches, options, named_columns(options), parameters.get("metric"))
    estimator, notes = _fit(reader, options, parameters)
    seconds["fit"] = perf_counter() - started
    preparation = Preparation(reader.columns, None, None)
    if options.model:
        write_whole(options.model, lambda file: save_model(file, estimator, preparation))
    started = perf_counter()
    if reader.can_repeat:
        write_labels(estimator, preparation, reader, out, options)
    seconds["labels"] = perf_counter() - started
    _tell(options, estimator, reader, places, seconds, notes)


def predict_stream(
    options: argparse.Namespace, estimator: Any, preparation: Any, out: Path | None
) -> None:
    """Label batch by batch with a fitted model, in one pass."""
    from modeshift.io.batches import Batches

    batches = Batches(options.data)
    if out is not None:
        check_ending(out)
    reader = BatchReader(batches, options, preparation.columns, None)
    found = write_labels(estimator, preparation, reader, out, options)
    if not options.quiet:
        dropped = f", {reader.n_dropped:,} rows dropped" if reader.n_dropped else ""
        print(
            f"{reader.n_rows:,} points in {len(found - {-1}):,} of "
            f"{len(estimator.cluster_centers_):,} clusters{dropped}",
            *([] if out is None else [shown(f"out: {out}")]),
            sep="\n",
            file=sys.stderr if out is None else sys.stdout,
        )


def check_ending(out: Path) -> None:
    """Refuse a file of labels that cannot be written batch by batch."""
    from modeshift.io.batch_writer import check_batch_ending

    with about("--out"):
        check_batch_ending(out)


class BatchReader:
    """Points of the batches of a table, with the columns of the first batch.

    Attributes
    ----------
    columns, unused : list of str
        The features, and columns without a role; known after the first batch.
    on_globe : bool
    name : str
        Name of the table in messages.
    can_repeat : bool
        Whether it can be read again, for the labels.
    n_rows, n_dropped : int
        Number of rows in the present pass, and of those dropped for a missing value.
    """

    def __init__(
        self,
        batches: Any,
        options: argparse.Namespace,
        columns: list[str] | None,
        metric: str | None,
    ) -> None:
        self._batches, self._options = batches, options
        self._columns, self._metric = columns, metric
        self.columns: list[str] = columns or []
        self.unused: list[str] = []
        self.on_globe = False
        self.name, self.can_repeat = batches.name, batches.can_repeat
        self.n_rows = self.n_dropped = 0

    def tables(self, what: str) -> Iterator[tuple[Any, Any]]:
        """Yield each batch and the points in it; show the progress of ``what``."""
        from modeshift.io.table import Roles, check_whole_rows, read_table

        options = self._options
        roles = Roles(*(getattr(options, role, None) for role in Roles._fields))
        on_globe = None if self._metric is None else self._metric == "haversine"
        if what == LABELLING:
            on_globe = self.on_globe
        meter = _Meter(what, self._batches, options.quiet)
        self.n_rows = self.n_dropped = 0
        with meter:
            for source in self._batches:
                table = read_table(
                    source, self._columns, roles, options.missing, on_globe, part=True
                )
                if what == READING and source.rows_before == 0:
                    self.columns = self._columns = table.columns
                    self.unused, self.on_globe = table.unused, table.on_globe
                    on_globe = table.on_globe
                self.n_rows += len(table.points)
                self.n_dropped += table.n_dropped
                yield source, table
                meter.show(self.n_rows)
        check_whole_rows(self.name, self.n_rows)


READING, LABELLING = "reading", "labelling"


def write_labels(
    estimator: Any,
    preparation: Any,
    reader: BatchReader,
    out: Path | None,
    options: argparse.Namespace,
) -> set[int]:
    """Label all batches and write them; return the labels that occurred."""
    from modeshift.io.batch_writer import batch_writer

    on_map = out is not None and out.suffix.lower() == ".geojson"
    found: set[int] = set()
    with ExitStack() as stack:
        write = None if out is None else stack.enter_context(batch_writer(out))
        for source, table in reader.tables(LABELLING):
            writer = LabelWriter(out, source, table, options.append)
            with user_errors():
                labels = _labels(estimator, preparation, table.points)
            found.update(labels.tolist())
            frame = writer.frame(labels)
            if write is None:
                sys.stdout.write(frame.write_csv(include_header=source.rows_before == 0))
            else:
                write(writer.features(frame) if on_map else frame)
    return found


def _labels(estimator: Any, preparation: Any, points: Any) -> Any:
    """Return the labels of a batch, of which all rows may be dropped."""
    import numpy as np

    if len(points) == 0:
        return np.empty(0, dtype=np.int64)
    return estimator.predict(preparation.apply(points))


def _check_options(options: argparse.Namespace, parameters: dict[str, Any]) -> None:
    """Refuse options that need all rows at once, and what a stream cannot do without."""
    given = {
        "--report": options.report is not None,
        "--standardize": options.standardize,
        "--label": options.label is not None,
        "--sheet": options.sheet is not None,
        "--resume": options.resume,
        "--checkpoint-every": options.checkpoint_every is not None,
        f"--runs {options.runs}": options.runs > 1,
    }
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option} needs all rows at once, and --stream reads them in batches; leave one "
                "of the two out"
            )
    values = all_parameters(options) | parameters
    if values["bandwidth"] is None:
        raise UserError(
            "--stream needs --bandwidth H, because none can be chosen before all rows are read; "
            "'modeshift bandwidth' recommends one for a part of the rows"
        )
    if values["resolution"] is None:
        raise UserError(
            "--stream needs --resolution R, because it keeps cells of side bandwidth / R and not "
            "the rows; --resolution 8 is usual"
        )


def _place_of_labels(options: argparse.Namespace, batches: Any) -> Path | None:
    """Return the file of the labels; None: standard output, or there are no labels."""
    if batches.can_repeat:
        return label_place(options, "labels")
    if options.out is not None:
        raise UserError(
            f"--out {options.out} needs a second pass, and {batches.name} cannot be read twice; "
            "save it to a file, or leave --out out, save a --model FILE, and label the same data "
            "with 'modeshift predict FILE - --stream'"
        )
    return None


def _fit(
    reader: BatchReader, options: argparse.Namespace, parameters: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Add all batches and cluster the cells; return the model and its warnings."""
    from sklearn.exceptions import ConvergenceWarning

    import modeshift
    from modeshift.io.prepare import Preparation
    from modeshift.watching.compiling import COMPILATION

    estimator: Any = None
    with warnings.catch_warnings(record=True) as caught, user_errors(), COMPILATION.silently():
        warnings.simplefilter("always", ConvergenceWarning)
        for _, table in reader.tables(READING):
            if estimator is None:
                given = with_metric(parameters, table)
                estimator = getattr(modeshift, class_name(options.method))(**given)
                read_starts(estimator, Preparation(reader.columns, None, None))
            if len(table.points):
                estimator.partial_fit(
                    table.points, sample_weight=table.weight, half_life=options.half_life
                )
        if not options.quiet:
            estimator.set_callbacks(modeshift.ProgressBar())
        _ = estimator.cluster_centers_  # computes the clusters
    return estimator, [in_options(str(warning.message)) for warning in caught]


def _tell(
    options: argparse.Namespace,
    estimator: Any,
    reader: BatchReader,
    places: dict[str, Path | None],
    seconds: dict[str, float],
    notes: list[str],
) -> None:
    """Write the summary, and print a table of the clusters."""
    from modeshift.cli.summary import as_json, print_result
    from modeshift.io.write import write_whole
    from modeshift.report.summary import summarize_stream

    summary = summarize_stream(
        command=shlex.join(["modeshift", *options.arguments]),
        name=options.data,
        method=options.method,
        weight=options.weight,
        half_life=options.half_life,
        columns=reader.columns,
        unused=reader.unused,
        n_dropped=reader.n_dropped,
        on_globe=reader.on_globe,
        fitted=estimator,
        seconds=seconds,
    )
    if options.summary:
        write_whole(options.summary, lambda file: file.write(as_json(summary)))
    if options.quiet:
        return
    labels_on_screen = places["--out"] is None and reader.can_repeat
    screen = sys.stderr if labels_on_screen else sys.stdout
    if not reader.can_repeat:
        saved = options.model or "FILE"
        again = "" if options.model else " Add --model FILE to keep the clusters;"
        notes = [
            *notes,
            f"{reader.name} cannot be read twice, so there are no labels.{again} "
            f"'modeshift predict {saved} - --stream' labels the same data",
        ]
    print_result(summary, places, notes, screen)


class _Meter:
    """Shows how many rows were read, and the time left if the size of the file is known."""

    def __init__(self, what: str, batches: Any, quiet: bool) -> None:
        from modeshift.watching.screen import Screen

        self._what, self._batches, self._quiet = what, batches, quiet
        self._started = monotonic()
        self._screen = Screen()

    def show(self, n_rows: int) -> None:
        """Show the number of rows so far."""
        from modeshift.watching.story import as_clock

        elapsed = monotonic() - self._started
        if self._quiet or elapsed < _SHOWN_AFTER:
            return
        share = self._batches.share
        text = f"{self._what}, {n_rows:,} rows, {as_clock(elapsed)}"
        if share:
            text += f", {as_clock(elapsed * (1 - share) / share)} left"
        self._screen.show(share or 0.0, text)

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        self._screen.clear()
