"""What all tests of the command use."""

import pytest

from modeshift import cli


@pytest.fixture
def run(capsys):
    """Run the command here; return its exit code, standard output and standard error."""

    def run(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run
