"""Files: pictures in, label images, polygons and pages out, and what the command says."""

import json
import re
import shutil
from base64 import b64decode

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import noise
from modeshift import cli
from modeshift.image import files, hierarchy, polygons, segment, tiff
from modeshift.image.geo import Place
from modeshift.image.page import make_content
from modeshift.image.plan import Request
from modeshift.io.errors import FileError

pillow = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
RGB = np.repeat(np.repeat(np.uint8([[[200, 30, 30], [20, 40, 220]]]), 24, 0), 20, 1)
RGB = RGB + noise(RGB.shape, np.uint8) // 32


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(name, pixels, **options):
    pillow.fromarray(pixels, **options).save(name)


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tif"])
def test_colours_come_back(name, folder):
    save(name, RGB)
    picture = files.read_picture(folder / name)
    assert_array_equal(picture.pixels, RGB)
    assert picture.channel_axis == 2


def test_grey_sixteen_bits_and_transparency(folder):
    save("grey.png", RGB[..., 0])
    assert files.read_picture(folder / "grey.png").channel_axis is None
    deep = RGB[..., 0].astype(np.uint16) * 200
    save("deep.png", deep)
    assert_array_equal(files.read_picture(folder / "deep.png").pixels, deep)
    clear = np.dstack([RGB, np.where(np.arange(40) < 5, 0, 255)[np.newaxis].repeat(24, 0)])
    save("clear.png", clear.astype(np.uint8))
    picture = files.read_picture(folder / "clear.png")
    assert_array_equal(picture.mask, clear[..., 3] > 0)
    assert cli.main(["image", "clear.png", "--quiet"]) == 0
    assert_array_equal(np.asarray(pillow.open("clear.labels.png")) == 0, ~picture.mask)


BAD = {
    "is no picture, or of an unknown format": ("text.png", b"not a picture"),
    "it complete?": ("cut.jpg", None),
    "is it complete?": ("cut.tif", None),
    "empty.png is empty": ("empty.png", b""),
    "empty.tif is empty": ("empty.tif", b""),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_files_get_one_clear_line(message, folder, capsys):
    name, content = BAD[message]
    if content is None:
        save(name, noise((60, 60), np.uint8))
        content = (folder / name).read_bytes()
        content = content[: len(content) * 2 // 3]
    (folder / name).write_bytes(content)
    assert cli.main(["image", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert name in line
    assert message in line


def test_a_tiff_without_data_gets_a_line_in_the_words_of_the_command(folder, capsys):
    tifffile.imwrite("nan.tif", np.full((9, 9), np.nan, np.float32))
    assert cli.main(["image", "nan.tif"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "all are masked or without data" in line
    assert "=" not in line


def test_black_and_white(folder):
    white = RGB[..., 0] > 100
    for name in ("bw.png", "bw.tif"):
        pillow.fromarray(white).save(name)
        assert cli.main(["image", name, "--boundaries", "--quiet", "--force"]) == 0
        labels = np.asarray(pillow.open("bw.labels.png"))
        assert_array_equal(labels, segment(white))


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("planar", ["contig", "separate"])
def test_transparent_pixels_of_a_tiff_do_not_count(planar, large, folder, monkeypatch):
    from modeshift.cli import image as command

    monkeypatch.setattr(command, "_LARGE", 100 if large else 10**9)
    mask = np.arange(40) >= np.arange(24)[:, np.newaxis] // 3
    clear = np.dstack([RGB, 255 * mask]).astype(np.uint8)
    stored = np.moveaxis(clear, -1, 0) if planar == "separate" else clear
    kind = {"photometric": "rgb", "extrasamples": ["unassalpha"], "planarconfig": planar}
    tifffile.imwrite("a.tif", stored, **kind)
    assert cli.main(["image", "a.tif", "--quiet"]) == 0
    found = tifffile.imread("a.labels.tif") if large else np.asarray(pillow.open("a.labels.png"))
    assert_array_equal(found, segment(RGB, mask=mask))


def test_a_palette_is_read_as_its_colours(folder, monkeypatch, capsys):
    from modeshift.cli import image as command

    indexed = pillow.fromarray(RGB).quantize(4)
    indexed.save("a.tif")
    picture = files.read_picture(folder / "a.tif")
    assert_array_equal(picture.pixels, np.asarray(indexed.convert("RGB")))
    assert (picture.pixels.dtype, picture.channel_axis) == (np.uint8, 2)
    monkeypatch.setattr(command, "_LARGE", 100)
    assert cli.main(["image", "a.tif"]) == 2
    assert "Convert it to RGB first" in capsys.readouterr().err


OPTIONS = {
    "there is no file no.png": ["no.png"],
    "--spatial must be greater than 0": ["a.png", "--spatial", "0"],
    "--spatial 900.0 is larger than the image": ["a.png", "--spatial", "900"],
    "--range must be a number or numbers like 3,7,7": ["a.png", "--range", "wide"],
    "--regions must be at least 1": ["a.png", "--regions", "0"],
    "--regions and --level do not go together": ["a.png", "--regions", "3", "--level", "2"],
    "--level must be at least 0": ["a.png", "--level", "-2"],
    "--jobs must not be 0": ["a.png", "--jobs", "0"],
    "--min-size must be at least 0": ["a.png", "--min-size", "-1"],
    "--out a.png is a file": ["a.png", "--out", "a.png"],
    "has no pictures": ["empty"],
    "--channel-axis must be a whole number or none": ["a.png", "--channel-axis", "last"],
    "--page needs a picture with two axes": ["video", "--video", "--page"],
    "pass none if it has no bands": ["a.png", "--channel-axis", "7"],
    "--boundaries video.boundaries.tif exists": ["video", "--video", "--boundaries"],
}


@pytest.mark.parametrize("message", OPTIONS)
def test_bad_options_get_one_clear_line(message, folder, capsys):
    save("a.png", RGB)
    (folder / "empty").mkdir()
    (folder / "video").mkdir()
    for time in range(3):
        save(f"video/{time}.png", RGB)
    (folder / "video.boundaries.tif").write_text("mine")
    assert cli.main(["image", *OPTIONS[message]]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_picture_with_all_results(folder, capsys):
    save("a.png", RGB)
    extras = ["--boundaries", "--means", "--polygons", "--page"]
    assert cli.main(["image", "a.png", *extras]) == 0
    assert "a.png: 2 regions" in capsys.readouterr().out
    labels = np.asarray(pillow.open("a.labels.png"))
    assert labels.dtype == np.uint16
    assert_array_equal(labels, segment(RGB))
    lines = np.asarray(pillow.open("a.boundaries.png"))
    assert_array_equal((lines == [255, 255, 0]).all(axis=-1)[0], np.arange(40) == 19)
    means = np.asarray(pillow.open("a.means.png"))
    assert np.abs(means[0, 0] - RGB[:, :20].mean(axis=(0, 1))).max() <= 0.5
    found = json.loads((folder / "a.geojson").read_text())
    assert [each["properties"]["pixels"] for each in found["features"]] == [480, 480]
    assert "Regions" in (folder / "a.html").read_text()


def test_existing_results_force_and_resume(folder, capsys):
    save("a.png", RGB)
    assert cli.main(["image", "a.png", "--quiet"]) == 0
    assert cli.main(["image", "a.png"]) == 2
    assert "--resume to leave it" in capsys.readouterr().err
    written = (folder / "a.labels.png").stat().st_mtime_ns
    assert cli.main(["image", "a.png", "--resume"]) == 0
    assert "1 of 1 pictures are done already" in capsys.readouterr().out
    assert (folder / "a.labels.png").stat().st_mtime_ns == written
    assert cli.main(["image", "a.png", "--force", "--quiet", "--regions", "1"]) == 0
    assert np.asarray(pillow.open("a.labels.png")).max() == 1


def test_a_folder_goes_on_after_a_bad_picture(folder, capsys):
    (folder / "many").mkdir()
    for name in "ac":
        save(f"many/{name}.png", RGB)
    (folder / "many/b.png").write_text("no picture")
    tifffile.imwrite("many/aa.tif", noise((3, 9, 9), np.uint8), photometric="minisblack")
    assert cli.main(["image", "many", "--out", "found/there", "--polygons"]) == 2
    volume, text, *_, last = capsys.readouterr().err.splitlines()
    assert volume == (
        "modeshift: many/aa.tif: --polygons needs a picture with two axes, and many/aa.tif has 3"
    )
    assert text == "modeshift: many/b.png is no picture, or of an unknown format"
    assert last == "modeshift: 2 of 4 pictures could not be segmented"
    assert sorted(path.name for path in (folder / "found/there").iterdir()) == [
        "a.geojson",
        "a.labels.png",
        "c.geojson",
        "c.labels.png",
    ]


def test_frames_are_one_video(folder):
    (folder / "frames").mkdir()
    frames = [np.roll(RGB, shift, axis=1) for shift in range(4)]
    for time, frame in enumerate(frames):
        save(f"frames/{time}.png", frame)
    assert cli.main(["image", "frames", "--video", "--quiet", "--boundaries"]) == 0
    assert_array_equal(tifffile.imread("frames.labels.tif"), segment(np.stack(frames)))
    save("frames/4.png", RGB[:10])
    assert cli.main(["image", "frames", "--video", "--force", "--quiet"]) == 2


def test_transparent_pixels_of_some_frames_do_not_count(folder):
    (folder / "frames").mkdir()
    save("frames/0.png", RGB)
    clear = np.dstack([RGB, np.full(RGB.shape[:2], 255, np.uint8)])
    clear[:4, :4, 3] = 0
    save("frames/1.png", clear)
    assert cli.main(["image", "frames", "--video", "--quiet"]) == 0
    labels = tifffile.imread("frames.labels.tif")
    assert_array_equal(labels[1] == 0, clear[..., 3] == 0)
    assert labels[0].all()


def test_warnings_are_lines_in_the_words_of_the_command(folder, capsys):
    save("a.png", noise((9, 9), np.uint8))
    options = ["--schedule", "stochastic", "--max-iter", "1", "--force"]
    assert cli.main(["image", "a.png", *options]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "modeshift: a.png: The stochastic schedule did not converge in --max-iter 1 sweeps; "
        "raise --max-iter or --tol."
    )
    assert cli.main(["image", "a.png", *options, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_rings_of_a_region_with_holes():
    labels = np.array([[1, 1, 1, 1], [1, 2, 1, 1], [1, 1, 2, 1], [1, 1, 1, 1]])
    labels[2, 2] = 3
    rings = polygons.polygons(labels)
    assert [len(rings[region]) for region in (1, 2, 3)] == [3, 1, 1]
    assert rings[2][0].tolist() == [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]
    assert [polygons.signed_area(ring) for ring in rings[1]] == [16.0, -1.0, -1.0]


@pytest.mark.parametrize("seed", range(5))
def test_polygons_cover_their_pixels_exactly(seed):
    from matplotlib.path import Path

    picture = noise((14, 17), np.uint8, seed)
    labels = segment(picture, range=12, min_size=2, level=0)
    centres = np.stack(np.meshgrid(np.arange(17) + 0.5, np.arange(14) + 0.5), -1).reshape(-1, 2)
    for region, rings in polygons.polygons(labels).items():
        inside = Path(rings[0]).contains_points(centres)
        for hole in rings[1:]:
            inside &= ~Path(hole).contains_points(centres)
        assert_array_equal(inside.reshape(14, 17), labels == region)
        area = sum(polygons.signed_area(ring) for ring in rings)
        assert area == (labels == region).sum()


def geotiff(name, pixels, **options):
    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
    tags = [
        (33550, "d", 3, (10.0, 10.0, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4600000.0, 0.0), True),
        (34735, "H", len(keys), keys, True),
        (42113, "s", 4, "255", True),
    ]
    tifffile.imwrite(name, pixels, extratags=tags, **options)


def test_georeferenced_polygons_and_labels(folder):
    pixels = RGB[..., 0].copy()
    pixels[:3, :3] = 255
    geotiff("map.tif", pixels)
    assert cli.main(["image", "map.tif", "--polygons", "--quiet", "--min-size", "1"]) == 0
    with tifffile.TiffFile("map.labels.tif") as written:
        assert_array_equal(written.asarray() == 0, pixels == 255)
        assert written.pages[0].tags[33922].value[3:5] == (500000.0, 4600000.0)
        assert written.pages[0].tags[34735].value[-1] == 32633
    found = json.loads((folder / "map.geojson").read_text())
    assert found["crs"]["properties"]["name"] == "urn:ogc:def:crs:EPSG::32633"
    corners = np.concatenate([each["geometry"]["coordinates"][0] for each in found["features"]])
    assert corners.min(axis=0).tolist() == [500000.0, 4600000.0 - 240]
    assert corners.max(axis=0).tolist() == [500400.0, 4600000.0]
    for each in found["features"]:
        assert polygons.signed_area(np.array(each["geometry"]["coordinates"][0])) > 0


def test_a_turned_place():
    place = Place(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([5.0, 7.0]), None)
    assert place.coordinates(np.array([[1, 3]])).tolist() == [[11.0, 9.0]]


@pytest.mark.parametrize(
    "options",
    [{}, {"tile": (16, 32)}, {"rowsperstrip": 5}, {"tile": (32, 16), "planarconfig": "separate"}],
)
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_large_tiffs_have_the_same_labels(options, compression, folder, monkeypatch):
    rgb = noise((45, 70, 3), np.uint8)
    stored = np.moveaxis(rgb, -1, 0) if "planarconfig" in options else rgb
    tifffile.imwrite("a.tif", stored, photometric="rgb", compression=compression, **options)
    with tiff.TiffSource(folder / "a.tif", side=32) as source:
        n = tiff.segment_tiff(folder / "b.tif", Request(spatial=3, min_size=5), source, 9, None)
    labels = tifffile.imread("b.tif")
    axis = 0 if "planarconfig" in options else -1
    wanted = hierarchy(stored, channel_axis=axis, spatial=3, min_size=5).cut(9)
    assert n == 9
    assert_array_equal(labels, wanted)


def test_the_command_reads_large_tiffs_by_tiles(folder, monkeypatch, capsys):
    from modeshift.cli import image as command

    monkeypatch.setattr(command, "_LARGE", 100)
    geotiff("a.tif", RGB[..., 0])
    assert cli.main(["image", "a.tif", "--regions", "2"]) == 0
    assert "a.tif: 2 regions" in capsys.readouterr().out
    assert_array_equal(tifffile.imread("a.labels.tif"), segment(RGB[..., 0], n_regions=2))
    with tifffile.TiffFile("a.labels.tif") as written:
        assert written.pages[0].tags[33550].value == (10.0, 10.0, 0.0)
    assert cli.main(["image", "a.tif", "--page", "--force"]) == 2
    assert "--page needs the whole picture in memory" in capsys.readouterr().err
    assert cli.main(["image", "a.tif", "--channel-axis", "0", "--force"]) == 2
    assert "--channel-axis needs the whole picture in memory" in capsys.readouterr().err


def test_labels_beyond_16_bits(folder):
    labels = np.arange(1, 70001).reshape(280, 250)
    assert files.label_ending(70000, 2) == ".tif"
    files.write_labels(folder / "many.tif", labels)
    assert tifffile.imread("many.tif").dtype == np.int32
    assert_array_equal(tifffile.imread("many.tif"), labels)
    with pytest.raises(FileError, match="PNG holds pictures with up to 65535 regions"):
        files.write_labels(folder / "many.png", labels)


def content_of(path):
    text = path.read_text()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_holds_the_labels_and_the_tree(folder):
    save("a.png", noise((30, 40, 3), np.uint8))
    assert cli.main(["image", "a.png", "--page", "--quiet", "--regions", "4"]) == 0
    content = content_of(folder / "a.html")
    tree = hierarchy(noise((30, 40, 3), np.uint8))
    numbers, lengths = (
        np.frombuffer(b64decode(content[key]), "<u4") for key in ("numbers", "lengths")
    )
    assert_array_equal(np.repeat(numbers, lengths).reshape(30, 40), tree.labels)
    assert content["merges"] == tree.merges.tolist()
    assert content["shown"] == min(4, tree.n_regions)
    text = (folder / "a.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', text)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_in_a_browser(folder):
    sync_api = pytest.importorskip("playwright.sync_api")
    save("a.png", np.tile(RGB, (2, 3, 1)))
    assert cli.main(["image", "a.png", "--page", "--quiet"]) == 0
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / "a.html").as_uri())
        page.wait_for_function("document.getElementById('count').textContent !== ''")
        before = page.inner_text("#count")
        page.fill("#level", "0")
        assert page.inner_text("#count").startswith("1 region (")
        assert page.inner_text("#count") != before
        page.click("[data-view='2']")
        box = page.locator("#canvas").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert "100.0 % of the picture" in page.inner_text("#pointed")
        page.fill("#level", "1000")
        assert "100.0 % of the picture" not in page.inner_text("#pointed")
        browser.close()
    assert errors == []


def test_a_large_picture_is_thinned_on_the_page():
    labels = hierarchy(np.zeros((4, 3300), np.uint8))
    from modeshift.image.layout import find_layout

    image = np.zeros((4, 3300), np.uint8)
    content = make_content("a", image, find_layout(image, None), labels)
    assert (content["thinned"], content["shape"]) == (3, [2, 1100])
