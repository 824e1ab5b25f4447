"""Algorithm 1 of the paper: each point climbs alone over the original positions."""

from typing import Any

from modeshift.engines.schedules.field import Climbed, LeapingField, StillField
from modeshift.engines.schedules.outcome import Outcome, PathRecorder
from modeshift.engines.space import Meetings, Space
from modeshift.watching.checkpoint import pack, unpack
from modeshift.watching.watch import UNWATCHED, Watch


class LastSteps:
    """The last step of each climb so far.

    Attributes
    ----------
    places : array of shape (m, d)
        Where the step began.
    masses : array of shape (m,)
        Mass within the radius of that place: the weight of the points in the last mean.
    """

    def __init__(self, space: Space, starts: Any) -> None:
        self.places = space.copy(starts)
        self.masses = space.in_double(space.full(len(starts), 0))

    def note(self, climbs: Any, places: Any, masses: Any) -> None:
        """Replace the last step of some climbs."""
        self.places[climbs], self.masses[climbs] = places, masses


class _Run:
    """State of the climbs.

    Attributes
    ----------
    positions : array of shape (m, d)
    steps : array of shape (m,)
        Number of steps of each climb, without the steps of its leader.
    climbing : array
        Numbers of the climbs that are still going.
    step : int
        Steps taken so far by every climb that is still going.
    n_steps : int
        Steps taken by all climbs together; where climbs have met, shared steps count once.
    """

    def __init__(self, space: Space, starts: Any) -> None:
        n = len(starts)
        self.positions = space.copy(starts)
        self.steps = space.full(n, 0)
        self.climbing = space.arange(n)
        self.step = 0
        self.n_steps = 0

    def take(
        self, answer: Any, tol: float, recorder: PathRecorder | None, meetings: Meetings | None
    ) -> None:
        """Take a step of every climb. A climb ends at a step <= tol, or if it meets another."""
        means = answer.means
        self.step += 1
        self.n_steps += len(means)
        self.positions[self.climbing] = means
        self.steps[self.climbing] = self.step
        if recorder is not None:
            recorder.add(self.climbing, means)
        self._go_on(answer, tol, meetings)

    def leap(self, answer: Climbed, tol: float, most: int, meetings: Meetings | None) -> None:
        """Take up to ``most`` steps of every climb; climbs meet only after them."""
        self.positions[self.climbing] = answer.means
        self.steps[self.climbing] = self.step + answer.steps
        self.step += most
        self.n_steps += int(answer.steps.sum())
        self._go_on(answer, tol, meetings)

    def _go_on(self, answer: Any, tol: float, meetings: Meetings | None) -> None:
        """Keep the climbs that have not ended, and that follow no other."""
        onward = answer.squares > tol * tol
        self.climbing, means = self.climbing[onward], answer.means[onward]
        if meetings is not None:
            self.climbing = self.climbing[~meetings.meet(self.climbing, means, self.step)]


def climb(
    field: StillField,
    starts: Any,
    *,
    tol: float,
    max_iter: int,
    record: bool = False,
    last: LastSteps | None = None,
    watch: Watch = UNWATCHED,
    leaps: LeapingField | None = None,
) -> Outcome:
    """Repeat x <- mean of the field's points near x, for each start, until its shift is <= tol.

    The field does not change, so climbs do not affect each other, and all can take their next step
    together. Climbs that meet continue as one, unless paths are recorded. ``last``, if given, holds
    the last steps afterwards.
    """
    space = field.space
    run = _Run(space, starts)
    recorder = PathRecorder(space, starts) if record else None
    meetings = None if record else space.meetings(*starts.shape)
    parts = {"run": run, "table": meetings, "recorder": recorder, "last": last}
    watch.begin(lambda: pack(**parts), lambda saved: unpack(saved, **parts))
    if record or last is not None or watch.reports:
        leaps = None
    while run.step < max_iter and len(run.climbing) > 0:
        places = run.positions[run.climbing]
        most = 1 if leaps is None else min(leaps.leap_length(len(places)), max_iter - run.step)
        if leaps is not None and most > 1:
            reached = leaps.leap(places, tol, most)
            with watch.steady():
                run.leap(reached, tol, most, meetings)
            watch.beat()
            continue
        answer = field.means_near(places)
        with watch.steady():
            if last is not None:
                last.note(run.climbing, places, answer.masses)
            run.take(answer, tol, recorder, meetings)
        watch.swept(
            sweep=run.step,
            n_steps=run.n_steps,
            n_moving=len(run.climbing),
            positions=lambda: run.positions[_followed(space, meetings, len(starts))],
        )
        watch.beat()
    steps = run.steps
    unfinished = space.full(len(starts), False)
    unfinished[run.climbing] = True
    if meetings is not None:
        _catch_up(space, meetings, run.positions, steps, unfinished, last)
        late = steps > max_iter
        if late.any():  # its leader had taken fewer steps, so it must climb by itself
            own = None if last is None else LastSteps(space, starts[late])
            alone = climb(field, starts[late], tol=tol, max_iter=max_iter, record=True, last=own)
            run.positions[late] = alone.ends
            steps[late], unfinished[late] = max_iter, True
            if last is not None and own is not None:
                last.note(late, own.places, own.masses)
    return Outcome(
        ends=run.positions,
        n_iter=int(steps.max()),
        n_steps=int(steps.sum()),
        converged=not bool(unfinished.any()),
        paths=None if recorder is None else recorder.paths(),
    )


def _followed(space: Space, meetings: Meetings | None, n: int) -> Any:
    """Return the last leader of each climb; the climb itself if it follows no other."""
    found = space.arange(n)
    while meetings is not None and (behind := meetings.leaders[found] >= 0).any():
        found[behind] = meetings.leaders[found[behind]]
    return found


def _catch_up(
    space: Space,
    meetings: Meetings,
    positions: Any,
    steps: Any,
    unfinished: Any,
    last: LastSteps | None,
) -> None:
    """Move every follower to the end of its leader, which may follow another climb."""
    followers = space.nonzero(meetings.leaders >= 0)
    leaders, ahead = meetings.leaders[followers], meetings.heads[followers]
    while (chained := meetings.leaders[leaders] >= 0).any():
        ahead[chained] += meetings.heads[leaders[chained]]
        leaders[chained] = meetings.leaders[leaders[chained]]
    positions[followers] = positions[leaders]
    unfinished[followers] = unfinished[leaders]
    if last is not None:  # the leader may have been stopped where they met
        onward = steps[leaders] - ahead > steps[followers]
        leading = leaders[onward]
        last.note(followers[onward], last.places[leading], last.masses[leading])
    steps[followers] = steps[leaders] - ahead
