"""The public names with their signatures, one a line: ``make public`` writes them to the list.

The names are those of the reference (docs/api.md). Annotations are left out: they differ between
versions of Python and bind nobody.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "docs" / "api.md"
LIST = Path(__file__).with_suffix(".txt")


def listed_names():
    """Return the dotted names in the reference."""
    return re.findall(r"^   ([A-Za-z]\w*(?:\.\w+)*)$", REFERENCE.read_text(), re.MULTILINE)


def named(name):
    """Return what a dotted name under modeshift stands for."""
    module, _, rest = f"modeshift.{name}".rpartition(".")
    return getattr(import_module(module), rest)


def lines():
    """Yield a line for each name, and one for each public member of a class."""
    for name in listed_names():
        thing = named(name)
        yield f"{name}{signature(thing)}"
        if isinstance(thing, type):
            yield from (f"{name}.{line}" for line in members(thing))


def signature(thing):
    """Return names and defaults of the parameters; "" for what scikit-learn defines."""
    if isinstance(thing, type) and not issubclass(thing, tuple):
        thing = thing.__init__
        if not is_ours(thing):
            return ""
    found = inspect.signature(thing)
    bare = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in found.parameters.values()
        if each.name != "self"
    ]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def members(cls):
    """Yield methods with their signatures, properties, and the attributes of the docstring."""
    found = {name: inspect.getattr_static(cls, name) for name in dir(cls) if name[0] != "_"}
    fields = getattr(cls, "_fields", ())
    for name, member in sorted(found.items()):
        if name in fields or isinstance(member, property):
            yield name
        elif callable(getattr(cls, name)) and is_ours(getattr(cls, name)):
            yield f"{name}{signature(getattr(cls, name))}"
    yield from sorted(documented_attributes(cls) - set(found))


def documented_attributes(cls):
    """Return the names under "Attributes" in the docstring."""
    text = inspect.getdoc(cls) or ""
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.DOTALL | re.M)
    heads = re.findall(r"^(\w[\w, ]*) : ", section[1], re.MULTILINE) if section else []
    return {name for head in heads for name in head.split(", ")}


def is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("modeshift")


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
