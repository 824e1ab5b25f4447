"""Watching a fit: progress, callbacks, checkpoints."""

from modeshift.watching.bar import ProgressBar
from modeshift.watching.observer import Checkpoint
from modeshift.watching.progress import Progress

__all__ = ["Checkpoint", "Progress", "ProgressBar"]
