"""The command on latitude and longitude, and on GeoJSON."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from modeshift import MeanShift

FIJI = [[-18.14, 178.44], [-17.80, 177.42], [-16.43, 179.36], [-16.84, -179.97], [-18.2, -178.8]]
SAMOA = [[-13.83, -171.76], [-13.80, -172.18], [-14.28, -170.70]]
PLACES = np.array(FIJI + SAMOA)
ISLANDS = [0] * len(FIJI) + [1] * len(SAMOA)
DETERMINISTIC = ("--bandwidth", "500", "--method", "deterministic")
GLOBE = ("--metric", "haversine", *DETERMINISTIC)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with places.csv and places.geojson."""
    monkeypatch.chdir(tmp_path)
    frame().write_csv("places.csv")
    Path("places.geojson").write_text(json.dumps(collection(PLACES)))
    return tmp_path


def frame(latitude="lat", longitude="Lon", **columns):
    """Places, with the longitude first, as maps often have it."""
    data = {"n": np.arange(8.0), longitude: PLACES[:, 1], latitude: PLACES[:, 0]}
    return pl.DataFrame(data | columns)


def collection(places):
    features = [
        {"type": "Feature", "id": f"p{i}", "properties": {"mag": 5.5},
         "geometry": {"type": "Point", "coordinates": [longitude, latitude, 10.0]}}
        for i, (latitude, longitude) in enumerate(places.tolist())
    ]  # fmt: skip
    return {"type": "FeatureCollection", "features": features}


def clusters(path):
    return [
        each["properties"]["cluster"] for each in json.loads(Path(path).read_text())["features"]
    ]


@pytest.mark.parametrize("names", [("lat", "Lon"), ("Latitude", "LONGITUDE"), ("LAT", "lng")])
def test_columns_are_found_by_name(names, run):
    frame(*names).write_csv("named.csv")
    code, out, err = run("cluster", "named.csv", *GLOBE)
    assert (code, err) == (0, "")
    assert f"2 features: {names[0]}, {names[1]}" in out
    assert "bandwidth 500 km: 2 clusters" in out
    assert "columns left out: n" in out
    assert_array_equal(pl.read_csv("named.labels.csv")["cluster"], ISLANDS)
    summary = json.loads(Path("named.labels.json").read_text())
    assert summary["parameters"]["metric"] == "haversine"
    assert list(summary["clusters"][0]["spread"]) == ["km"]
    assert 50 < summary["clusters"][0]["spread"]["km"] < 300


def test_columns_with_other_names_are_named_by_the_user(run):
    frame("phi", "lambda").write_csv("greek.csv")
    code, _, err = run("cluster", "greek.csv", *GLOBE)
    assert code == 2
    assert "no columns named lat and lon" in err
    assert "--columns LATITUDE,LONGITUDE" in err
    assert run("cluster", "greek.csv", *GLOBE, "--columns", "phi,lambda")[0] == 0
    assert_array_equal(pl.read_csv("greek.labels.csv")["cluster"], ISLANDS)


def test_degrees_in_the_plane_come_with_a_hint(run):
    _, _, err = run("cluster", "places.csv", "--columns", "lat,Lon", "--bandwidth", "4.5")
    assert "distances are in degrees of lat and Lon; --metric haversine" in err
    _, _, err = run("cluster", "places.csv", "--bandwidth", "4", "--metric", "euclidean", "--force")
    assert "haversine" not in err


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"latitude": PLACES[:, 0]}, GLOBE, r"2 columns \(lat, latitude\) of latitude"),
        (
            {},
            (*GLOBE, "--columns", "lat"),
            "no column of longitude; name the columns with --columns LATITUDE,LONGITUDE",
        ),
        ({}, (*GLOBE, "--standardize"), "--standardize and --metric haversine do not go together"),
        ({}, (*GLOBE, "--columns", "Lon,n"), "no column of latitude"),
        ({"lat": PLACES[:, 0] * 10}, GLOBE, "latitudes are between -90 and 90"),
        (
            {},
            ("--bandwidth=-3", "--metric", "haversine"),
            "--bandwidth must be greater",
        ),
    ],
)
def test_refused_in_one_line(columns, options, words, run):
    frame().with_columns(**{name: pl.Series(values) for name, values in columns.items()}).write_csv(
        "bad.csv"
    )
    code, out, err = run("cluster", "bad.csv", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(words, err), err


def test_swapped_columns_are_told(run):
    frame("lat", "lon").rename({"lat": "lon", "lon": "lat"}).write_csv("swapped.csv")
    code, _, err = run("cluster", "swapped.csv", *GLOBE)
    assert code == 2
    assert "they seem to be swapped" in err


# GeoJSON


def test_geojson_is_on_the_globe_and_stays_geojson(run):
    code, out, err = run("cluster", "places.geojson", *DETERMINISTIC, "--append")
    assert (code, err) == (0, "")
    assert "bandwidth 500 km" in out
    written = json.loads(Path("places.labels.geojson").read_text())
    for before, after, label in zip(
        collection(PLACES)["features"], written["features"], ISLANDS, strict=True
    ):
        assert after == before | {"properties": {"mag": 5.5, "cluster": label}}


def test_a_table_becomes_geojson(run):
    assert run("cluster", "places.csv", *GLOBE, "--out", "out.geojson")[0] == 0
    first = json.loads(Path("out.geojson").read_text())["features"][0]
    assert first["geometry"]["coordinates"] == [178.44, -18.14]
    assert first["properties"] == {"row": 1, "cluster": 0}
    assert run("cluster", "places.csv", *GLOBE, "--append", "--out", "all.geojson")[0] == 0
    assert clusters("all.geojson") == ISLANDS
    assert run("cluster", "places.csv", *GLOBE, "--stream", "--resolution", "50",
               "--out", "batches.geojson")[0] == 0  # fmt: skip
    assert clusters("batches.geojson") == ISLANDS


def test_dropped_features_have_no_cluster(run):
    content = collection(PLACES)
    content["features"][2]["geometry"] = None
    Path("gap.geojson").write_text(json.dumps(content))
    code, _, err = run("cluster", "gap.geojson", *DETERMINISTIC)
    assert code == 2
    assert "row 3, column 'latitude'" in err
    run("cluster", "gap.geojson", *DETERMINISTIC, "--missing", "drop", "--append")
    assert clusters("gap.labels.geojson") == [0, 0, None, 0, 0, 1, 1, 1]


def test_a_table_without_places_cannot_be_geojson(run):
    pl.DataFrame({"x": [1, 2], "y": [1, 2]}).write_csv("points.csv")
    code, _, err = run("cluster", "points.csv", "--bandwidth", "1", "--out", "a.geojson")
    assert code == 2
    assert "no columns of latitude and longitude" in err


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_a_model_of_a_table_labels_another_one(options, run):
    assert run("cluster", "places.csv", *GLOBE, "--model", "model.npz")[0] == 0
    assert run("predict", "model.npz", "places.csv", "--out", "csv.csv", *options)[0] == 0
    assert_array_equal(pl.read_csv("csv.csv")["cluster"], ISLANDS)


def test_a_model_of_a_table_labels_geojson(run):
    assert run("cluster", "places.csv", *GLOBE, "--model", "model.npz")[0] == 0
    assert run("predict", "model.npz", "places.geojson", "--append", "--out", "a.geojson")[0] == 0
    assert clusters("a.geojson") == ISLANDS
    model = MeanShift(bandwidth=500, metric="haversine").fit(PLACES)
    assert_array_equal(model.labels_, ISLANDS)


def test_bandwidth_is_recommended_in_kilometres(run):
    rng = np.random.default_rng(0)
    around = np.repeat(PLACES[[0, 5]], 60, axis=0) + rng.normal(0, 0.2, size=(120, 2))
    pl.DataFrame({"lat": around[:, 0], "lon": around[:, 1]}).write_csv("two.csv")
    code, out, _ = run("bandwidth", "two.csv", "--metric", "haversine", "--method", "deterministic")
    assert code == 0
    found = float(re.search(r"--bandwidth ([\d.]+)", out)[1])
    assert 20 < found < 600
