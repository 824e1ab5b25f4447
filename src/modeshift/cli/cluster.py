"""``modeshift cluster``: read a table, write labels, a summary and a model."""

import argparse
import shlex
import sys
import warnings
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from modeshift.checks import check_bandwidth_pair
from modeshift.cli.checkpoint import checkpoint_place
from modeshift.cli.errors import UserError
from modeshift.cli.help import HelpFormatter
from modeshift.cli.parameters import (
    ALGORITHM,
    add_method,
    add_parameters,
    all_parameters,
    chosen_parameters,
    class_name,
    parameters_of,
)
from modeshift.cli.stream import add_stream_options, cluster_stream
from modeshift.cli.tables import (
    DATA_HELP,
    LabelWriter,
    add_caution_options,
    add_feature_options,
    add_output_options,
    add_reading_options,
    add_role_options,
    check_places,
    check_standardize,
    hint_at_the_globe,
    label_place,
    named_columns,
    names_a_file,
    read_points,
    read_starts,
    with_metric,
)
from modeshift.cli.wording import in_options, user_errors
from modeshift.parameters import check_each

_EXAMPLES = """

examples:
  modeshift cluster points.csv
  modeshift cluster points.xlsx --columns x,y --standardize --append --report page.html
  modeshift cluster points.parquet --bandwidth 0.8 --method blurring --out labels.csv
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "find the clusters of a table of points"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "cluster",
        help=text,
        description=f"{text.capitalize()}. Writes the label of every row (0 is the largest "
        f"cluster) and a summary in JSON, and prints a short table.{_EXAMPLES}",
        usage="%(prog)s DATA [options]",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    _add_common(parser)
    data = parser.add_argument_group("the data")
    add_role_options(data, "weight", "label", "id")
    add_reading_options(data)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="JSON file: parameters, versions, clusters, seconds (default: --out, but with .json)",
    )
    add_caution_options(output)
    _add_runs(parser.add_argument_group("several runs, and long fits"))
    add_stream_options(parser.add_argument_group("streams, and files larger than memory"))
    add_parameters(parser.add_argument_group(ALGORITHM), but=_COMMON)
    return parser


_COMMON = ("bandwidth", "n_clusters", "resolution")
"""Parameters that most people need. They stand at the beginning of the help."""


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add the ten options that most people need."""
    add_feature_options(parser)
    add_parameters(parser, only=_COMMON)
    add_method(parser)
    add_output_options(parser, "labels")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write an .html page with a map of the points, an animation of the climb, and the "
        "clusters (default: none)",
    )
    parser.add_argument(
        "--model",
        type=Path,
        metavar="FILE",
        help="save the model for 'modeshift predict', as .npz (default: not saved)",
    )


def _add_runs(parser: Any) -> None:
    """Add --runs and the options of checkpoints."""
    parser.add_argument(
        "--runs",
        type=int,
        default=1,
        metavar="N",
        help="fit N times with different seeds, and let the runs vote on each point; Consensus in "
        "the library (default: 1)",
    )
    parser.add_argument(
        "--checkpoint-every",
        type=float,
        metavar="SECONDS",
        help="save the state of the fit at this interval, and at Ctrl-C. The file is named like "
        "--out, but with .checkpoint, and deleted when the fit is done. A fit with --runs "
        "has no checkpoint (default: 60)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue a stopped fit from that file; the labels are the same as those of a fit "
        "that was never stopped (default: no)",
    )


def run(options: argparse.Namespace) -> None:
    """Cluster, write, print."""
    parameters = chosen_parameters(options)
    _check_numbers(options, parameters)
    if options.stream:
        cluster_stream(options, parameters)
        return
    if options.half_life is not None:
        raise UserError("--half-life ages the rows of a stream; add --stream")
    if options.report is not None and options.report.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"--report {options.report} must end in .html, because it is a web page")
    out = label_place(options, "labels")
    if options.summary is None and out is not None:
        options.summary = out.with_suffix(".json")
    places = {
        "--out": out,
        "--summary": options.summary,
        "--model": options.model,
        "--report": options.report,
    }
    check_places(places, options)
    checkpoint = checkpoint_place(options, all_parameters(options), out)
    started = perf_counter()
    metric = parameters.get("metric")
    source, table = read_points(options, named_columns(options), metric)
    parameters = with_metric(parameters, table)
    check_standardize(options, table)
    writer = LabelWriter(out, source, table, options.append)
    seconds = {"read": perf_counter() - started}

    import modeshift  # slow to import, so errors in the data come first
    from modeshift.cli.advice import faster_way
    from modeshift.cli.scores import score_labels
    from modeshift.cli.summary import print_result
    from modeshift.report import Camera
    from modeshift.report.fits import DescribedFit
    from modeshift.report.summary import summarize
    from modeshift.report.writing import write_page

    estimator = getattr(modeshift, class_name(options.method))(**parameters)
    started = perf_counter()
    camera = Camera() if options.report else None
    watchers: list[Any] = [] if camera is None else [camera]
    if checkpoint is not None:
        every = 60.0 if options.checkpoint_every is None else options.checkpoint_every
        watchers.append(modeshift.Checkpoint(checkpoint, every))
    fitted, preparation, notes = _fit(estimator, table, options, watchers)
    seconds["fit"] = perf_counter() - started
    advice = faster_way(preparation.apply(table.points), fitted, seconds["fit"])
    summary = summarize(
        command=shlex.join(["modeshift", *options.arguments]),
        name=options.data,
        sheet=options.sheet,
        method=options.method,
        weight=options.weight,
        table=table,
        preparation=preparation,
        parameters=estimator.get_params(deep=False),
        n_runs=options.runs,
        fitted=fitted,
        scores=None if table.label is None else score_labels(table.label, fitted.labels_),
        seconds=seconds,
        advice=advice,
    )
    writer.write(fitted.labels_)
    _write_more(options, summary, fitted, preparation)
    if camera is not None:
        fit = DescribedFit(fitted, table, preparation, summary, camera.climb())
        write_page(options.report, fit)
    if not options.quiet:
        screen = sys.stderr if out is None else sys.stdout
        notes += [note for note in (hint_at_the_globe(table, metric), advice) if note]
        print_result(summary, places, notes, screen)


def _check_numbers(options: argparse.Namespace, parameters: dict[str, Any]) -> None:
    """Check --runs, --checkpoint-every and the parameters, each by itself."""
    if options.runs < 1:
        raise UserError(f"--runs must be at least 1, got {options.runs}")
    if options.runs > 1 and not _is_random(options.method, parameters):
        with_starts = ", or --seeding N" if "seeding" in parameters_of(options.method) else ""
        raise UserError(
            f"--runs {options.runs} needs a random method, and all runs of --method "
            f"{options.method} are the same; leave --runs out, or take --method stochastic"
            f"{with_starts}"
        )
    read_later = {"seeding": None} if names_a_file(parameters.get("seeding")) else {}
    with user_errors():
        check_each(parameters | read_later)
        if parameters.get("bandwidth") is not None:
            check_bandwidth_pair(parameters["bandwidth"], infinite=True)
    every = options.checkpoint_every
    if every is not None and not 0 <= every < inf:  # NaN ends here as well
        raise UserError(f"--checkpoint-every must be at least 0 and finite, got {every:g}")


def _is_random(method: str, parameters: dict[str, Any]) -> bool:
    """Return whether another seed gives another result."""
    return method == "stochastic" or isinstance(parameters.get("seeding"), int)


def _fit(
    estimator: Any, table: Any, options: argparse.Namespace, watchers: list[Any]
) -> tuple[Any, Any, list[str]]:
    """Fit once or several times; return the model, the preparation of the data, and warnings."""
    from sklearn.exceptions import ConvergenceWarning

    from modeshift import ProgressBar
    from modeshift.checks import check_weights
    from modeshift.io.prepare import prepare
    from modeshift.watching.compiling import COMPILATION

    with warnings.catch_warnings(record=True) as caught, user_errors():
        warnings.simplefilter("always", ConvergenceWarning)
        check_weights(table.weight, len(table.points))
        preparation = prepare(table.points, table.columns, table.weight, options.standardize)
        read_starts(estimator, preparation)
        estimator.set_callbacks(*watchers, *([] if options.quiet else [ProgressBar(options.runs)]))
        model = _voting(estimator, options)
        try:
            with COMPILATION.silently():  # the bar says it, and --quiet does not
                model.fit(preparation.apply(table.points), sample_weight=table.weight)
        except KeyboardInterrupt as stop:
            raise _how_to_go_on(watchers) or stop from None
    return model, preparation, [in_options(str(warning.message)) for warning in caught]


def _voting(estimator: Any, options: argparse.Namespace) -> Any:
    """Return the estimator, or with --runs a Consensus of it."""
    from modeshift import Consensus

    if options.runs == 1:
        return estimator
    return Consensus(estimator, n_runs=options.runs, random_state=estimator.random_state)


def _how_to_go_on(watchers: list[Any]) -> KeyboardInterrupt | None:
    """Return the message about --resume, if a checkpoint was written before Ctrl-C."""
    places = [each.path for each in watchers if hasattr(each, "path") and each.path.exists()]
    if not places:
        return None
    return KeyboardInterrupt(
        f"stopped; {places[0]} holds the state of the fit. Add --resume to continue"
    )


def _write_more(
    options: argparse.Namespace, summary: dict[str, Any], estimator: Any, preparation: Any
) -> None:
    """Write the summary and the model, if the options name files for them."""
    from modeshift.cli.summary import as_json
    from modeshift.io.write import write_whole

    if options.summary:
        write_whole(options.summary, lambda file: file.write(as_json(summary)))
    if options.model:
        from modeshift.cli.model import save_model

        write_whole(options.model, lambda file: save_model(file, estimator, preparation))
