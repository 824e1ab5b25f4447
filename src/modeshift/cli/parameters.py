"""The estimators' parameters as options of the command.

Signature and docstring are parsed, not imported, because scikit-learn and Numba take long to import
and ``modeshift --version`` must be fast. :mod:`modeshift.parameters` says which parameters are
options. A new parameter of an estimator becomes an option without further code.
"""

import argparse
import ast
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.cli.errors import UserError
from modeshift.parameters import names_where

METHODS = {
    "stochastic": "stochastic_mean_shift",
    "deterministic": "mean_shift",
    "blurring": "blurring_mean_shift",
}
"""Method of the command, and the module of its estimator."""

RENAMED = {"random_state": "seed", "n_jobs": "jobs", "n_neighbors": "neighbors"}
"""Parameters whose option has another, shorter name."""

ALGORITHM = "the algorithm: parameters of the estimators in the library"
"""Heading of the options that stand for parameters."""

OWN_DEFAULTS = {"random_state": 0, "n_jobs": -1}
"""Defaults of the command: the same seed every time, and all cores."""

_NONE = ("none", "auto")


class Parameter(NamedTuple):
    """One parameter of one estimator: name, default, and type and help from the docstring."""

    name: str
    type: str
    default: Any
    help: str

    @property
    def option(self) -> str:
        """Name of the option."""
        return option_of(self.name)

    @property
    def choices(self) -> list[str] | None:
        """The allowed values, if the docstring lists them in braces."""
        listed = re.match(r"\{(.*)\}", self.type)
        return re.findall(r'"([^"]+)"', listed[1]) if listed else None


def option_of(name: str) -> str:
    """Return the option that stands for a parameter."""
    return "--" + RENAMED.get(name, name).replace("_", "-")


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add --method."""
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="stochastic",
        help="stochastic: one random point moves at a time; deterministic: each point climbs "
        "alone; blurring: all points move at once (default: stochastic)",
    )


def add_parameters(
    parser: Any, only: Collection[str] | None = None, but: Collection[str] = ()
) -> None:
    """Add an option for each parameter of any estimator.

    Parameters
    ----------
    parser : ArgumentParser or a group of its options
    only, but : collections of str
        Names of the parameters that become options (None: all), and of those that do not.
    """
    homes: dict[str, dict[str, Parameter]] = {}
    for method in METHODS:
        for name, parameter in parameters_of(method).items():
            homes.setdefault(name, {})[method] = parameter
    for name, by_method in homes.items():
        if name in but or not (only is None or name in only):
            continue
        parameter = next(iter(by_method.values()))
        settings: dict[str, Any] = {
            "dest": _destination(name),
            "default": argparse.SUPPRESS,
            "help": _help(by_method).replace("%", "%%"),
        }
        if isinstance(parameter.default, bool):
            parser.add_argument(parameter.option, action="store_true", **settings)
        elif parameter.choices:
            parser.add_argument(parameter.option, choices=parameter.choices, **settings)
        else:
            metavar = _metavar(parameter)
            parser.add_argument(parameter.option, type=read_value, metavar=metavar, **settings)


def chosen_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the user gave, and the command's own defaults."""
    known = parameters_of(options.method)
    given = {
        dest.removeprefix("parameter_"): value
        for dest, value in vars(options).items()
        if dest.startswith("parameter_")
    }
    for name in given:
        if name not in known:
            homes = [method for method in METHODS if name in parameters_of(method)]
            option = parameters_of(homes[0])[name].option
            raise UserError(
                f"{option} does not belong to --method {options.method}; "
                f"leave it out, or take --method {' or '.join(homes)}"
            )
    return {name: value for name, value in OWN_DEFAULTS.items() if name in known} | given


def read_value(text: str) -> Any:
    """Read a number, LOW:HIGH, A,B,C, or "none" (also "auto"); everything else is text.

    The estimator checks the value; its error names the parameter and the remedy.
    """
    if text.lower() in _NONE:
        return None
    if "," in text:
        return [read_value(part) for part in text.split(",")]
    if ":" in text:
        low, _, high = text.partition(":")
        return read_value(low), read_value(high)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def class_name(method: str) -> str:
    """Return the class name of the estimator of a method."""
    return _source(method).name


def all_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return all parameters of the method that are options: as given, or the default."""
    defaults = {name: row.default for name, row in parameters_of(options.method).items()}
    return defaults | chosen_parameters(options)


def parameters_of(method: str) -> dict[str, Parameter]:
    """Return the parameters of a method that are options, in the order of the signature."""
    node = _source(method)
    described = _described(ast.get_docstring(node) or "")
    constructor = next(
        part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"
    )
    arguments = constructor.args
    set_by_the_command = names_where(in_command=False)
    return {
        argument.arg: Parameter(argument.arg, kind, ast.literal_eval(default), text)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if argument.arg not in set_by_the_command and default is not None
        for kind, text in [described.get(argument.arg, ("", ""))]
    }


@cache
def _source(method: str) -> ast.ClassDef:
    path = Path(__file__).parents[1] / "estimators" / f"{METHODS[method]}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef))


def _described(docstring: str) -> dict[str, tuple[str, str]]:
    """Return type and text of each entry under Parameters in a NumPy docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", docstring, re.M | re.S)
    entries = re.findall(r"^(\w+) : ([^\n]*)\n((?:[ ]+[^\n]*\n?|\n)*)", section[1], re.M)  # type: ignore[index]
    return {
        name: (re.sub(r",? *default=.*", "", kind), _plain(text)) for name, kind, text in entries
    }


def _plain(text: str) -> str:
    """Return docstring text without markup, in one line."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("`", "")
    return " ".join(text.split()).replace("np.inf", "inf")


def _destination(name: str) -> str:
    return f"parameter_{name}"


def _metavar(parameter: Parameter) -> str:
    """Return the placeholder for a value, by its type in the docstring."""
    if "(low, high)" in parameter.type:
        return "H|LOW:HIGH"
    if "shape (d,)" in parameter.type:
        return "A,B,C"
    if "array" in parameter.type:
        return "N|bins|FILE"
    return {"int": "N", "float": "NUMBER"}.get(re.split(r"\W", parameter.type)[0], "VALUE")


def _help(by_method: dict[str, Parameter]) -> str:
    only = "" if len(by_method) == len(METHODS) else f"Only for {' and '.join(by_method)}. "
    defaults = {method: _spelled(parameter) for method, parameter in by_method.items()}
    first = next(iter(defaults.values()))
    others = [f"{method}: {value}" for method, value in defaults.items() if value != first]
    text = _joined({method: parameter.help for method, parameter in by_method.items()})
    (name,) = {parameter.name for parameter in by_method.values()}
    library = f" In the library: {name}." if name in RENAMED else ""
    return f"{only}{text.replace('None', 'none')}{library} (default: {'; '.join([first, *others])})"


def _joined(texts: dict[str, str]) -> str:
    """Return the sentences that all methods begin with, then the rest for each method."""
    sentences = {method: re.split(r"(?<=\.) ", text) for method, text in texts.items()}
    shared: list[str] = []
    for several in zip(*sentences.values(), strict=False):
        if len(set(several)) > 1:
            break
        shared.append(several[0])
    rests: dict[str, list[str]] = {}
    for method, each in sentences.items():
        rests.setdefault(" ".join(each[len(shared) :]), []).append(method)
    named = [f"{', '.join(methods)}: {rest}" for rest, methods in rests.items() if rest]
    return " ".join([*shared, *named])


def _spelled(parameter: Parameter) -> str:
    default = OWN_DEFAULTS.get(parameter.name, parameter.default)
    if isinstance(default, bool):
        return "yes" if default else "no"
    if default is None:
        return "auto" if parameter.name == "bandwidth" else "none"
    return f"{default:g}" if isinstance(default, float) else str(default)
