"""Maps below the points of a picture: projection, cut, window, land, degrees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import modeshift
from modeshift import MeanShift
from modeshift.plots.maps import map_of, window

pytest.importorskip("matplotlib")
from modeshift.plots.land import degrees

FIJI = np.array([[-18.14, 178.44], [-17.80, 177.42], [-16.43, 179.36], [-16.84, -179.97]])
RNG = np.random.default_rng(0)
WORLD = np.column_stack([RNG.uniform(-60, 70, 4000), RNG.uniform(-170, 170, 4000)])
ARCTIC = np.column_stack([RNG.uniform(60, 90, 500), RNG.uniform(-180, 180, 500)])


def inside(on_map, latitude, longitude):
    """Whether a place is on land, by the number of outlines around it."""
    place, count = on_map.place(np.array([latitude, longitude], dtype=float)), 0
    for shift in (-1, 0, 1) if on_map.period else (0,):
        for ring in on_map.land():
            x, y = (ring - place + [shift * on_map.period, 0.0]).T
            following_x, following_y = np.roll(x, -1), np.roll(y, -1)
            crosses = (y > 0) != (following_y > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                at = x - y * (following_x - x) / (following_y - y)
            count += int((crosses & (at > 0)).sum())
    return count % 2 == 1


@pytest.mark.parametrize("places", [FIJI, WORLD, ARCTIC], ids=["Fiji", "world", "Arctic"])
@pytest.mark.parametrize(
    ("latitude", "longitude", "is_land"),
    [(65, 100, True), (75, -40, True), (66, 178, True), (70, 175, False), (85, 0, False),
     (70, 120, True), (64, -155, True), (70, 5, False)],
)  # fmt: skip
def test_land_is_where_it_should_be(places, latitude, longitude, is_land):
    assert inside(map_of(places), latitude, longitude) == is_land


def test_antarctica_is_land_to_the_pole():
    south = map_of(-ARCTIC)
    assert south.pole == -1
    assert inside(south, -89, 10)
    assert inside(map_of(WORLD), -89, 170)


def test_places_on_both_sides_of_the_date_line_are_in_one_piece():
    on_map = map_of(FIJI)
    found = on_map.place(FIJI)
    assert np.ptp(found[:, 0]) < 3.0
    ends = window(on_map, FIJI)
    assert ((found >= ends[:, 0]) & (found <= ends[:, 1])).all()
    degree = on_map.place(np.array([[-17.3, 178.0], [-17.3, 179.0]]))
    assert_allclose(np.diff(degree[:, 0]), np.cos(np.radians(-17.3)), rtol=0.01)


def test_the_whole_world_has_the_usual_map():
    on_map = map_of(WORLD)
    assert (on_map.pole, on_map.middle, abs(on_map.meridian)) == (0, 0.0, 0.0)
    assert_allclose(window(on_map, WORLD)[0], [-180.0, 180.0], atol=0.2)
    assert window(on_map, WORLD)[1, 1] <= 90.0


def test_places_around_a_pole_are_seen_from_above():
    on_map = map_of(ARCTIC)
    assert on_map.pole == 1
    assert_allclose(on_map.place(np.array([90.0, 77.0])), 0.0, atol=1e-12)
    near, far = on_map.place(np.array([[80.0, 0.0], [60.0, 90.0]]))
    assert_allclose(near, [0.0, -10.0], atol=1e-12)
    assert_allclose(far, [30.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("value", "sides", "text"),
    [(12.5, "EW", "12.5° E"), (-170, "EW", "170° W"), (190, "EW", "170° W"), (180, "EW", "180°"),
     (0, "EW", "0°"), (-30, "NS", "30° S"), (0, "NS", "0°"), (180 - 1e-9, "EW", "180°")],
)  # fmt: skip
def test_degrees_in_words(value, sides, text):
    assert degrees(value, sides) == text


@pytest.mark.parametrize("scale", [None, (np.pi / 180, np.pi / 180)])
@pytest.mark.parametrize("places", [FIJI, WORLD[:300], ARCTIC[:300]])
def test_a_picture_is_a_map(places, scale):
    rows = places if scale is None else np.radians(places)
    model = MeanShift(bandwidth=800, metric="haversine", feature_scale=scale).fit(rows)
    figure = modeshift.plots.clusters(model, rows)
    figure.savefig("/dev/null", format="png")
    ax = figure.axes[0]
    assert ax.get_aspect() == 1.0
    drawn = [part.get_offsets() for part in ax.collections if part.get_zorder() >= 1]
    points = np.concatenate(drawn)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = points.T
    assert (left <= x).all()
    assert (x <= right).all()
    assert (low <= y).all()
    assert (y <= high).all()
    assert ax.get_xlabel() == ("" if places[0, 0] > 60 else "longitude")


def test_chosen_axes_are_no_map():
    model = MeanShift(bandwidth=500, metric="haversine").fit(FIJI)
    ax = modeshift.plots.clusters(model, FIJI, axes=(1, 0)).axes[0]
    assert ax.get_xlabel() == "x1"


def test_small_maps_have_no_land():
    suva = RNG.normal([-18.14, 178.44], 0.1, size=(50, 2))
    model = MeanShift(bandwidth=5, metric="haversine").fit(suva)
    (ax,) = modeshift.plots.clusters(model, suva).axes
    assert 0 not in [part.get_zorder() for part in ax.collections]
