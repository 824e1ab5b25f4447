"""Check the second law of docs/design.md: no private doors, and fitted attributes in one place.

A name of this package with one leading underscore may be used in the module that defines it, and
as ``self.name``, ``cls.name`` or ``super().name`` in a class whose ancestor defines it. Private
names of other packages are not looked at. An attribute whose name ends in an underscore is fitted,
by scikit-learn's convention; only ``FITTED_IN`` may set or delete one.

A name that two modules define counts as at home in both: the check sees names, not objects.

    python tools/private_names.py [folder of the package]
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FITTED_IN = ("estimators.base", "estimators.consensus", "compat.sklearn", "speech.plda")
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make", "_field_defaults"}
OWN = ("self", "cls", "super()")

Trees = dict[str, ast.Module]


def is_private(name: str) -> bool:
    """Return whether a name has one leading underscore and is no method of named tuples."""
    return name.startswith("_") and not name.startswith("__") and name not in OF_NAMED_TUPLES


def is_fitted(name: str) -> bool:
    """Return whether an attribute is fitted, by scikit-learn's convention."""
    return name.endswith("_") and not name.endswith("__")


def parse(root: Path) -> Trees:
    """Return the syntax tree of every module, by its name inside the package."""
    names = {path: path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.py")}
    return {
        name.replace("/", ".").removesuffix(".__init__"): ast.parse(path.read_text("utf-8"))
        for path, name in sorted(names.items())
    }


def definitions(tree: ast.AST) -> set[str]:
    """Return the private names that a module or class defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node.value) in OWN:
                found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return {name for name in found if is_private(name)}


class Classes:
    """All classes of the package, by name; two of the same name are taken together."""

    def __init__(self, trees: Trees) -> None:
        self._bases: dict[str, set[str]] = defaultdict(set)
        self._defined: dict[str, set[str]] = defaultdict(set)
        for tree in trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                    self._bases[node.name] |= bases
                    self._defined[node.name] |= definitions(node)

    def inherited(self, name: str) -> set[str]:
        """Return the private names that a class and its ancestors define."""
        seen, waiting = set(), [name]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting += self._bases.get(current, ())
        return {private for current in seen for private in self._defined.get(current, ())}


def uses(tree: ast.AST, owner: str | None = None) -> Iterator[tuple[int, str, str | None]]:
    """Yield line, private name, and the class when the name is its own (``self.name``)."""
    for node in ast.iter_child_nodes(tree):
        inside = node.name if isinstance(node, ast.ClassDef) else owner
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node.lineno, node.attr, inside if ast.unparse(node.value) in OWN else None
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, a.name, None) for a in node.names if is_private(a.name))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr"):
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            if is_private(str(name)):
                own = ast.unparse(node.args[0]) in OWN
                yield node.lineno, str(name), inside if own else None
        yield from uses(node, inside)


def private_doors(trees: Trees) -> Iterator[str]:
    """Yield every use of a private name away from home."""
    at_home = {module: definitions(tree) for module, tree in trees.items()}
    ours = set().union(*at_home.values())
    classes = Classes(trees)
    for module, tree in trees.items():
        for line, name, owner in uses(tree):
            inherited = classes.inherited(owner) if owner else set()
            if name in ours and name not in at_home[module] | inherited:
                yield f"{module}:{line} uses {name}, which is private to another module"


def fitted_elsewhere(trees: Trees) -> Iterator[str]:
    """Yield every place but one that sets or deletes a fitted attribute."""
    for module, tree in trees.items():
        for node in ast.walk(tree):
            changes = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            if changes and is_fitted(node.attr) and module not in FITTED_IN:
                yield f"{module}:{node.lineno} sets {node.attr}; only {', '.join(FITTED_IN)} may"


def main(root: Path) -> int:
    """Print every offence; return 1 if there is one."""
    trees = parse(root)
    offences = [*private_doors(trees), *fitted_elsewhere(trees)]
    for offence in offences:
        print(offence)
    print(f"{len(trees)} modules, {len(offences)} offences against the second law")
    return int(bool(offences))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "modeshift"
    sys.exit(main(Path(folder)))
