"""A fit that is watched: how far it is, callbacks, checkpoints."""

from modeshift.watching.progress import Progress

__all__ = ["Progress"]
