"""The report: what it holds, and what a reader sees of it in a real browser."""

import json
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import modeshift
from modeshift import BlurringMeanShift, Consensus, MeanShift, StochasticMeanShift, cli
from modeshift.datasets import make_paper_set
from modeshift.io.prepare import prepare
from modeshift.report.climb import MOST_CLIMBERS, MOST_FRAMES, Camera
from modeshift.report.explorer.view import make_view
from modeshift.watching import Progress

X, Y = make_paper_set(7, scale=0.3, random_state=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, points, **columns):
    names = "abcdefgh"[: points.shape[1]]
    frame = pl.DataFrame({c: points[:, k] for k, c in enumerate(names)} | columns)
    frame.write_csv(path)


def report(name, *options):
    """Cluster a file and return the report's content."""
    page = Path(name).with_suffix(".html")
    arguments = ["cluster", name, "--quiet", "--force", "--report", str(page), *map(str, options)]
    assert cli.main(arguments) == 0
    return content_of(page)


def content_of(page):
    text = page.read_text()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_page_needs_no_network_and_is_one_file(folder):
    write("points.csv", X[:, :2])
    report("points.csv", "--bandwidth", 1.0)
    text = (folder / "points.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "http" not in text.replace("http://www.w3.org", "").replace("http-equiv", "")
    assert "default-src 'none'" in text  # the policy forbids the network, too
    assert "/*DATA*/" not in text


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("method", ["stochastic", "deterministic", "blurring"])
def test_content(d, method, folder):
    write("points.csv", X[:, :d])
    content = report("points.csv", "--bandwidth", 1.0, "--method", method)
    assert ("principal axes" in content["explorer"]["view"]["note"]) == (d > 2)
    assert ("one feature" in content["explorer"]["view"]["note"]) == (d == 1)
    climb = content["explorer"]["climb"]
    assert climb["sweeps"][0] == 0
    assert climb["sweeps"] == sorted(set(climb["sweeps"]))
    assert len(climb["sweeps"]) == len(climb["moving"])
    summary = json.loads(Path("points.labels.json").read_text())
    assert len(content["explorer"]["clusters"]["rows"]) == min(summary["n_clusters"], 200)


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "deterministic", "--seeding", "bins"],
        ["--method", "deterministic", "--seeding", 30],
        ["--metric", "cosine", "--bandwidth", 0.05],
        ["--method", "blurring", "--resolution", 3, "--min-cluster-size", 20],
        ["--standardize", "--neighbors", 15],
    ],
)
def test_content_of_other_fits(options, folder):
    write("points.csv", X)
    content = report("points.csv", "--bandwidth", 1.0, *options)
    assert content["explorer"]["climb"]["sweeps"]
    assert (
        content["explorer"]["view"]["axes"][0]["low"]
        < content["explorer"]["view"]["axes"][0]["high"]
    )


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(
    "points", [np.ones((1, 3)), np.ones((5, 3)), X[:9] * 1e200], ids=["one", "same", "huge"]
)
def test_extreme_data(points, d, folder):
    write("points.csv", points[:, :d])
    content = report("points.csv")
    assert len(content["explorer"]["clusters"]["rows"]) >= 1


@pytest.mark.parametrize("options", [[], ["--standardize"], ["--weight", "w", "--missing", "drop"]])
def test_the_code_of_the_report_repeats_the_labels(options, folder):
    write("points.csv", X, w=np.arange(len(X)) % 3 + 1.0)
    if "--weight" in options:
        with Path("points.csv").open("a") as file:
            file.write("NA,1,2,1\n")
    content = report("points.csv", "--columns", "a,b,c", "--bandwidth", 0.9, *options)
    variables: dict = {}
    exec(content["python"], variables)
    assert_array_equal(variables["model"].labels_, pl.read_csv("points.labels.csv")["cluster"])


@pytest.mark.parametrize(
    ("name", "options"),
    [("points.npz", ["--columns", "train"]), ("points.xlsx", ["--sheet", "second"])],
)
def test_the_code_of_the_report_repeats_sheets_and_arrays(name, options, folder):
    np.savez("points.npz", train=X, test=X[:9])
    with xlsxwriter.Workbook("points.xlsx") as book:
        pl.DataFrame({"a": [1]}).write_excel(book, worksheet="first")
        pl.DataFrame(X).write_excel(book, worksheet="second")
    content = report(name, "--bandwidth", 0.9, "--out", "labels.csv", *options)
    variables: dict = {}
    exec(content["python"], variables)
    assert_array_equal(variables["model"].labels_, pl.read_csv("labels.csv")["cluster"])


# From Python


def test_python_writes_the_page_of_the_command(folder):
    """The same data and model give the same content, save what only the command knows."""
    write("points.csv", X)
    options = ["--bandwidth", 1.0, "--seed", 0, "--jobs", 1]
    ours = report("points.csv", *options)
    camera = modeshift.report.Camera()
    model = StochasticMeanShift(bandwidth=1.0, random_state=0, n_jobs=1).set_callbacks(camera)
    frame = pl.read_csv("points.csv").to_pandas()
    path = modeshift.report.write(model.fit(frame), frame, "python.html", camera=camera)
    content = content_of(path)
    in_file, in_array = (
        np.frombuffer(b64decode(each["explorer"]["points"].pop("rows")), np.int32)
        for each in (ours, content)
    )
    assert_array_equal(in_file, in_array + 1)  # the first row of X is row 0
    different = {name for name in ours if ours[name] != content[name]}
    assert different == {"title", "lead", "command", "python", "facts"}
    assert content["command"] is None
    assert content["title"] == f"Clusters of {len(X)} points"
    assert content["lead"].endswith("converged.")


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(bandwidth=1.0),
        BlurringMeanShift(bandwidth=1.0, feature_scale=np.array([1.0, 2.0, 1.0])),
        MeanShift(n_clusters=3),
        MeanShift(bandwidth=np.inf, n_neighbors=15),
        MeanShift(bandwidth=1.0, seeding=X[:20]),
        Consensus(StochasticMeanShift(bandwidth=1.0), n_runs=2, random_state=0),
        Consensus(n_runs=2, random_state=0),
    ],
    ids=str,
)
def test_the_code_of_a_page_from_python_repeats_the_labels(model, folder):
    content = content_of(modeshift.report.write(model.fit(X), X, "page.html"))
    variables = {"X": X}
    exec(content["python"], variables)
    assert_array_equal(variables["model"].labels_, model.labels_)


def test_code_cannot_show_a_generator(folder):
    model = StochasticMeanShift(bandwidth=1.0, random_state=np.random.RandomState(0)).fit(X)
    content = content_of(modeshift.report.write(model, X, "page.html"))
    assert "random_state=..." in content["python"]


def test_weights_of_a_page_from_python(folder):
    weights = np.arange(len(X)) % 3 + 1.0
    model = MeanShift(bandwidth=1.0).fit(X, sample_weight=weights)
    content = content_of(modeshift.report.write(model, X, "page.html", sample_weight=weights))
    variables = {"X": X, "sample_weight": weights}
    exec(content["python"], variables)
    assert_array_equal(variables["model"].labels_, model.labels_)


def test_write_refuses(folder):
    model = MeanShift(bandwidth=1.0).fit(X)
    modeshift.report.write(model, X, "page.html")
    modeshift.report.write(model, X, "page.html")  # as a cell of a notebook that runs again
    with pytest.raises(ValueError, match="pass the X of fit"):
        modeshift.report.write(model, X[:9], "other.html")
    with pytest.raises(NotFittedError):
        modeshift.report.write(MeanShift(), X, "other.html")
    with pytest.raises(TypeError, match=r"plots\.clusters draws any clusterer"):
        modeshift.report.write(KMeans(2).fit(X), X, "other.html")
    assert not Path("other.html").exists()


def test_the_page_says_which_clusters_it_counts(folder):
    points = np.tile(X, (9, 1)) + 1e-3 * np.random.default_rng(0).normal(size=(9 * len(X), 3))
    model = MeanShift(n_clusters=3).fit(points)
    content = content_of(modeshift.report.write(model, points, "page.html"))
    n_clusters = len(model.cluster_centers_)
    assert f"found {n_clusters} clusters among all points" in content["lead"]
    levels = content["explorer"]["levels"]
    assert f"tried on a sample of 1,500 of the {len(points):,} points" in levels["note"]
    assert levels["steps"][levels["fit"]]["text"].endswith(f", {n_clusters} clusters")


def test_text_of_the_user_is_no_code(folder):
    evil = '</script><script>alert("x")</script>'
    write("points.csv", X[:, :2], name=[evil] * len(X))
    content = report("points.csv", "--id", "name")
    assert content["explorer"]["points"]["ids"][0] == evil
    assert evil not in (folder / "points.html").read_text()


def test_principal_axes():
    """The first one has the largest variance, and distances in the picture are those of PCA."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 4)) * [1.0, 5.0, 0.2, 3.0]
    view = make_view(points, prepare(points, list("abcd"), None, False))
    first, second, *features = view.axes
    assert_allclose(np.abs(first.axis.direction[1]), 1, atol=0.01)
    assert_allclose(np.abs(second.axis.direction[3]), 1, atol=0.01)
    assert [axis.name for axis in features] == list("abcd")
    places = view.quantized(points, np.arange(500))
    assert places.min() > 0
    assert places.max() < 65535


def test_camera_keeps_few_frames_of_few_points():
    camera = Camera()
    positions = np.zeros((5000, 2))
    for sweep in range(1, 1001):
        camera(Progress(sweep, 2000, sweep, 1000 - sweep, positions + sweep, lambda: 1))
    climb = camera.climb()
    assert climb.frames.shape[1] == MOST_CLIMBERS
    assert len(climb.sweeps) <= MOST_FRAMES + 1
    assert climb.sweeps[-1] == 1000
    assert_array_equal(climb.frames[:, 0, 0], climb.sweeps)
    assert climb.moving == [1000 - sweep for sweep in climb.sweeps]
    assert len(climb.all_moving) == 1000


def test_camera_keeps_only_the_last_of_several_runs():
    camera = Camera()
    for run in (1, 2):
        camera.on_begin("sweep")
        for sweep in range(1, 5 + run):
            camera(Progress(sweep, 300, sweep, 1, np.full((3, 2), run), lambda: 1))
    climb = camera.climb()
    assert climb.sweeps == [1, 2, 3, 4, 5, 6]
    assert (climb.frames == 2).all()


def test_the_climb_of_several_runs_is_that_of_the_last(folder):
    X, _ = make_paper_set(1, scale=0.2, random_state=0)
    write("points.csv", X)
    options = ("--bandwidth", 0.9, "--seed", 3)
    content = report("points.csv", *options, "--runs", 4)
    places = np.frombuffer(b64decode(content["explorer"]["climb"]["places"]), np.uint16)
    assert len(places) == 2 * len(content["explorer"]["climb"]["sweeps"]) * len(X)
    assert len(content["explorer"]["climb"]["sweeps"]) == len(content["moving"]) + 1
    assert np.all(np.diff(content["explorer"]["climb"]["sweeps"]) == 1)
    assert "The climb is that of the last of 4 runs" in content["explorer"]["view"]["note"]


# In a browser


def ink(page):
    """The picture as text, which changes when the picture does."""
    return page.evaluate("() => document.querySelector('[data-part=canvas]').toDataURL()")


def sweep_over(page):
    """Move the mouse over the picture until a point answers; return what it says."""
    box = page.locator("[data-part=canvas]").bounding_box()
    for k in range(400):
        x, y = box["width"] * (0.1 + 0.8 * (k % 20) / 20), box["height"] * (0.1 + 0.04 * (k // 20))
        page.mouse.move(box["x"] + x, box["y"] + y)
        if page.locator("[data-part=tip]").is_visible():
            return page.locator("[data-part=tip]").text_content()
    return ""


def test_page_in_a_browser(folder, show):
    write("points.csv", X, name=[f"p{i}" for i in range(len(X))])
    content = report("points.csv", "--bandwidth", 1.0, "--id", "name")
    page = show("points.html")
    assert page.title() == "Clusters of points.csv"
    assert page.locator("[data-part=cluster-table] tbody tr").count() == len(
        content["explorer"]["clusters"]["rows"]
    )
    assert "principal axes" in page.locator("[data-part=view-note]").text_content()

    said = sweep_over(page)  # hover
    name, label = re.match(r"(p\d+): cluster (\d+)\na = ", said).groups()
    row = int(name[1:])
    assert int(label) == pl.read_csv("points.labels.csv")["cluster"][row]
    assert f"a = {X[row, 0]:.5g}"[:7] in said

    page.mouse.move(5, 5)
    start = ink(page)
    page.locator("[data-part=play]").click()  # the climb plays
    page.wait_for_function("() => Number(document.querySelector('[data-part=time]').value) > 0.5")
    assert ink(page) != start
    page.locator("[data-part=play]").click()
    page.wait_for_timeout(60)
    held = ink(page)
    page.wait_for_timeout(120)
    assert ink(page) == held  # paused

    page.locator("[data-part=time]").focus()  # and can be scrubbed with the keyboard
    page.keyboard.press("End")
    assert "of" in page.locator("[data-part=clock]").text_content()
    page.keyboard.press("Home")
    assert page.locator("[data-part=clock]").text_content() == "start: the data"
    page.wait_for_timeout(60)
    assert ink(page) == start

    page.locator("[data-part=zoom-in]").click()
    page.wait_for_timeout(60)
    assert ink(page) != start
    page.locator("[data-part=zoom-all]").click()
    page.locator("[data-part=cluster-table] tbody tr").first.click()  # one cluster alone
    page.wait_for_timeout(60)
    assert ink(page) != start


def test_axes_can_be_chosen(folder, show):
    points = X * [1.0, 1.0, 5.0]
    modeshift.report.write(MeanShift(bandwidth=2.0).fit(points), points, "page.html")
    page = show("page.html")
    assert page.locator("[data-part=axis-x] option").all_text_contents() == [
        "first principal axis", "second principal axis", "x0", "x1", "x2"
    ]  # fmt: skip
    assert not page.locator("#by-command").is_visible()
    start = ink(page)
    page.locator("[data-part=axis-x]").select_option(label="x0")
    page.locator("[data-part=axis-y]").select_option(label="x1")
    page.wait_for_timeout(60)
    assert ink(page) != start
    name, values = re.match(r"row (\d+): cluster \d+\n(.*)", sweep_over(page), re.DOTALL).groups()
    assert f"x2 = {points[int(name), 2]:.5g}"[:7] in values


@pytest.mark.parametrize(("factors", "stretched"), [([1, 1], False), ([9, 1], True)])
def test_wide_data_fill_the_picture(factors, stretched, folder, show):
    points = np.random.default_rng(0).uniform(size=(400, 2)) * factors
    modeshift.report.write(MeanShift(bandwidth=3.0).fit(points), points, "page.html")
    page = show("page.html")
    assert page.locator("[data-part=stretched]").is_visible() == stretched
    assert not page.locator("[data-part=axis-x]").is_visible()
    column = """() => {
        const canvas = document.querySelector('[data-part=canvas]'), c = canvas.getContext("2d");
        const image = c.getImageData(0, 0, canvas.width, canvas.height).data, rows = new Set();
        for (let i = 0; i < image.length; i += 4)
            if (image[i] < 20 && image[i + 1] > 90 && image[i + 2] > 150)
                rows.add(Math.floor(i / 4 / canvas.width));
        return (Math.max(...rows) - Math.min(...rows)) / canvas.height;
    }"""
    page.wait_for_timeout(60)
    assert page.evaluate(column) > 0.75  # the points reach from the bottom to the top


def test_numbers_of_many_centres_appear_as_one_zooms_in(folder, show):
    points = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), -1).reshape(-1, 2)
    model = MeanShift(bandwidth=0.5).fit(points)
    modeshift.report.write(model, points, "page.html")
    page = show("page.html")
    count = """() => {
        const c = document.querySelector('[data-part=canvas]').getContext("2d"), write = c.fillText;
        return new Promise((done) => {
            let n = 0;
            c.fillText = (text, ...place) => {
                n += Number.isInteger(text);
                write.call(c, text, ...place);
            };
            document.querySelector('[data-part=zoom-in]').click();
            setTimeout(() => { c.fillText = write; done(n); }, 100);
        });
    }"""
    assert page.evaluate(count) == 0
    for _ in range(3):
        page.locator("[data-part=zoom-in]").click()
    assert 0 < page.evaluate(count) <= 40


def test_a_hundred_thousand_points_do_not_freeze_the_page(folder, show):
    rng = np.random.default_rng(0)
    np.save("many.npy", rng.normal(size=(100_000, 2)) + 4 * rng.integers(2, size=(100_000, 1)))
    report("many.npy", "--bandwidth", 1.5, "--resolution", 4)
    page = show("many.html")
    frames = page.evaluate(
        "() => new Promise((done) => { let n = 0; const end = performance.now() + 1500;"
        " document.querySelector('[data-part=play]').click();"
        " const tick = () => { n++; if (performance.now() < end) requestAnimationFrame(tick);"
        " else done(n); }; tick(); })"
    )
    print(f"{frames / 1.5:.0f} frames a second")
    assert frames >= 6
    page.locator("[data-part=play]").click()
    assert "cluster" in sweep_over(page)
