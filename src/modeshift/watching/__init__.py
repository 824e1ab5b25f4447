"""A fit that is watched: how far it is, callbacks, checkpoints."""

from modeshift.watching.observer import Checkpoint
from modeshift.watching.progress import Progress

__all__ = ["Checkpoint", "Progress"]
