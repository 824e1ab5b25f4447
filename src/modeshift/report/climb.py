"""Frames of the climb: the positions of some points after each sweep."""

from typing import Any, NamedTuple

import numpy as np

MOST_CLIMBERS = 2000
MOST_FRAMES = 100


class Climb(NamedTuple):
    """The frames of a climb.

    Attributes
    ----------
    climbers : ndarray of shape (m,)
        Numbers of the points shown (of the climbs, if only some points climb).
    sweeps : list of int
        Sweep of each frame.
    moving : list of int
        Number of points that moved, for each frame.
    frames : ndarray of shape (len(sweeps), m, d)
    all_moving : list of int
        Number of points that moved, for each sweep.
    n : int
        Number of points or climbs.
    """

    climbers: np.ndarray
    sweeps: list[int]
    moving: list[int]
    frames: np.ndarray
    all_moving: list[int]
    n: int


class Camera:
    """A callback that keeps a frame after every sweep.

    When there are too many frames, every second one is dropped, and from then on only every second
    sweep is kept. A new fit begins a new film, so of several runs the last one is kept. The run
    that agrees best with the others is known only later.

    Examples
    --------
    >>> from modeshift import MeanShift, datasets, report
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> camera = report.Camera()
    >>> model = MeanShift(bandwidth=0.9).set_callbacks(camera).fit(X)
    >>> camera.climb().frames.shape[1:]
    (150, 2)
    """

    def __init__(self) -> None:
        self.on_begin("")

    def on_begin(self, unit: str) -> None:
        """Forget the frames of an earlier fit."""
        self._climbers: np.ndarray | None = None
        self._n = 0
        self._stride = 1
        self._frames: list[tuple[int, int, np.ndarray]] = []
        self._last: tuple[int, int, np.ndarray] | None = None
        self._moving: dict[int, int] = {}

    def __call__(self, state: Any) -> None:
        """Keep a frame of a :class:`modeshift.watching.Progress`."""
        if self._climbers is None:
            self._n = len(state.positions)
            rng = np.random.RandomState(0)
            chosen = rng.choice(self._n, min(self._n, MOST_CLIMBERS), replace=False)
            self._climbers = np.sort(chosen)
        frame = (state.sweep, state.n_moving, state.positions[self._climbers])
        self._moving[state.sweep] = state.n_moving
        self._last = frame
        if state.sweep % self._stride == 0:
            self._frames.append(frame)
        if len(self._frames) >= MOST_FRAMES:
            self._stride *= 2
            self._frames = [frame for frame in self._frames if frame[0] % self._stride == 0]

    def climb(self) -> Climb | None:
        """Return the frames; None if there are none."""
        if self._climbers is None or self._last is None:
            return None
        frames = self._frames
        if not frames or frames[-1][0] != self._last[0]:
            frames = [*frames, self._last]
        return Climb(
            climbers=self._climbers,
            sweeps=[sweep for sweep, _, _ in frames],
            moving=[moving for _, moving, _ in frames],
            frames=np.stack([positions for _, _, positions in frames]),
            all_moving=list(self._moving.values()),
            n=self._n,
        )
