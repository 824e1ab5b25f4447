"""What the command tells its user when it cannot go on."""


class UserError(Exception):
    """Something that the user gave cannot be used.

    The message is one line that names the thing, its value and the remedy. The command prints it
    without a traceback and exits with code 2.
    """
