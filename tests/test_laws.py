"""The checker of the second law (tools/private_names.py) sees what it is there to see."""

import importlib.util

import pytest

from helpers import ROOT

PATH = ROOT / "tools" / "private_names.py"
SPEC = importlib.util.spec_from_file_location("private_names", PATH)
private_names = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(private_names)

HOME = "class A:\n    def _step(self):\n        self._state = 1\ndef _help():\n    pass\n"


def offences(tmp_path, source):
    (tmp_path / "home.py").write_text(HOME)
    (tmp_path / "other.py").write_text(source)
    trees = private_names.parse(tmp_path)
    return [*private_names.private_doors(trees), *private_names.fitted_elsewhere(trees)]


@pytest.mark.parametrize(
    "source",
    [
        "from home import _help",
        "import home\nhome._help()",
        "def f(a):\n    return a._state",
        "def f(a):\n    return getattr(a, '_state')",
        "def f(a):\n    a._state = 2",
        "class B:\n    def f(self):\n        return self._step()",
        "def f(estimator):\n    estimator.labels_ = 1",
        "class B:\n    def fit(self):\n        self.labels_ = 1",
    ],
)
def test_offences_are_seen(source, tmp_path):
    assert len(offences(tmp_path, source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "class B(A):\n    def f(self):\n        return self._step() + super()._step()",
        "class C(B):\n    def f(self):\n        return self._state\nclass B(A):\n    pass",
        "def _own():\n    pass\n_own()",
        "def f(parser):\n    return parser._actions",  # of another package
        "def f(point):\n    return point._replace(x=1)._asdict()",
        "def f(estimator):\n    return estimator.labels_",
    ],
)
def test_the_rest_is_allowed(source, tmp_path):
    assert offences(tmp_path, source) == []


def test_the_package_keeps_the_law():
    assert private_names.main(ROOT / "src" / "modeshift") == 0
