"""``modeshift bandwidth``: the clusters over a range of bandwidths, as a table and a picture."""

import argparse
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError, about
from modeshift.cli.help import HelpFormatter
from modeshift.cli.parameters import (
    ALGORITHM,
    add_method,
    add_parameters,
    chosen_parameters,
    class_name,
)
from modeshift.cli.screen import shown
from modeshift.cli.tables import (
    DATA_HELP,
    add_feature_options,
    add_reading_options,
    add_role_options,
    check_standardize,
    named_columns,
    read_points,
    with_metric,
)
from modeshift.cli.wording import user_errors

_EXAMPLES = """

examples:
  modeshift bandwidth points.csv
  modeshift bandwidth points.csv --standardize --picture profile.png
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "show the clusters over a range of bandwidths, and recommend one"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bandwidth",
        help=text,
        description=f"{text.capitalize()}. The recommended bandwidth (->) is the one that "
        "'modeshift cluster' uses by default. Finer and coarser alternatives are marked *. "
        f"The table is computed on a sample of at most 1,500 points.{_EXAMPLES}",
        usage="%(prog)s DATA [options]",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_feature_options(parser)
    add_method(parser)
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw the table as curves: .png, .svg or .pdf (default: no picture)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace an existing file (default: no)"
    )
    data = parser.add_argument_group("the data")
    add_role_options(data, "weight")
    add_reading_options(data)
    add_parameters(parser.add_argument_group(ALGORITHM))
    return parser


def run(options: argparse.Namespace) -> None:
    """Profile, print, draw."""
    parameters = chosen_parameters(options)
    if parameters.pop("bandwidth", None) is not None:
        raise UserError("modeshift bandwidth finds the bandwidth; leave --bandwidth out")
    if options.picture is not None:
        _check_picture(options)
    _, table = read_points(options, named_columns(options), parameters.get("metric"))
    parameters = with_metric(parameters, table)
    check_standardize(options, table)

    import modeshift
    from modeshift.io.prepare import prepare

    estimator = getattr(modeshift, class_name(options.method))(**parameters)
    with user_errors():
        preparation = prepare(table.points, table.columns, table.weight, options.standardize)
        profile = modeshift.bandwidth_profile(
            preparation.apply(table.points), estimator, sample_weight=table.weight
        )
    print(shown(as_table(profile)))
    if options.picture is not None:
        from modeshift import plots
        from modeshift.io.write import write_whole
        from modeshift.plots.style import as_file

        picture = as_file(plots.bandwidth_profile(profile), options.picture.suffix[1:].lower())
        write_whole(options.picture, lambda file: file.write(picture))
        print(shown(f"picture: {options.picture}"))


def as_table(profile: Any) -> str:
    """Return the profile as lines of text, with marks at the choice and its alternatives."""
    curve = profile.chosen
    lines = ["   bandwidth  clusters  in strays  set apart  persistence  score"]
    for i, width in enumerate(curve.bandwidths):
        lines.append(
            f"{_mark(profile, width)} {width:10.4g} {curve.n_clusters[i]:9,d} "
            f"{curve.share_small[i]:10.1%} {curve.quality[i]:10.3f} {curve.persistence[i]:12.3f} "
            f"{curve.score[i]:6.3f}"
        )
    return "\n".join([*lines, "", _choice(profile)])


def _mark(profile: Any, width: float) -> str:
    if width == profile.bandwidth:
        return "->"
    return " *" if width in (*profile.finer, *profile.coarser) else "  "


def _choice(profile: Any) -> str:
    others = ", ".join(f"{h:.6g}" for h in (*profile.finer, *profile.coarser))
    rest = f" (* alternatives: {others})" if others else ""
    if profile.one_cluster:
        return (
            f"The data show no clusters beyond chance (p = {profile.p_value:.2g}). One cluster: "
            f"--bandwidth {profile.bandwidth:.6g}{rest}"
        )
    near = "" if profile.n_neighbors is None else f" --neighbors {profile.n_neighbors}"
    return (
        f"-> recommended (p = {profile.p_value:.2g}): --bandwidth {profile.bandwidth:.6g}"
        f"{near}{rest}"
    )


def _check_picture(options: argparse.Namespace) -> None:
    from modeshift.io.write import check_place

    if options.picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UserError(f"--picture {options.picture} must end in .png, .svg or .pdf")
    with about("--picture"):
        check_place(options.picture, options.force)
