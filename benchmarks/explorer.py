"""Frames a second of the explorer with 100,000 points, in a headless Chromium without a GPU.

PYTHONPATH=src python benchmarks/explorer.py
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import sync_playwright

from modeshift import MeanShift, report

N = 100_000
SECONDS = 3
ACTIONS = {
    "move the picture": """(n) => {
        if (n === 0) send("pointerdown", 300, 300);
        send("pointermove", 300 + 80 * Math.sin(n / 9), 300 + 50 * Math.cos(n / 9));
    }""",
    "zoom": """(n) => canvas.dispatchEvent(new WheelEvent("wheel", {
        deltaY: n % 40 < 20 ? -40 : 40, clientX: 300, clientY: 300, cancelable: true }))""",
    "hover": """(n) => {
        if (n === 0) send("pointerup", 300, 300);
        send("pointermove", 100 + ((3 * n) % 400), 100 + ((5 * n) % 300));
    }""",
    "slide the bandwidth": """(n) => {
        slider.value = n % (Number(slider.max) + 1);
        slider.dispatchEvent(new Event("input"));
    }""",
}
MEASURE = """(seconds) => new Promise((done) => {
    const canvas = document.querySelector("[data-part=canvas]");
    const slider = document.querySelector("[data-part=level]");
    canvas.setPointerCapture = () => {};
    const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {
        clientX: x, clientY: y, pointerId: 1, buttons: 1 }));
    const act = ACTION, times = [], start = performance.now();
    let before = start, n = 0;
    const tick = (now) => {
        times.push(now - before);
        before = now;
        act(n++);
        if (now - start < 1000 * seconds) return requestAnimationFrame(tick);
        times.sort((a, b) => a - b);
        done([(1000 * n) / (now - start), times[Math.floor(0.95 * n)]]);
    };
    requestAnimationFrame(tick);
})"""


def write_page(path: Path) -> None:
    rng = np.random.default_rng(0)
    middles = rng.uniform(-10, 10, (12, 3))
    points = middles[rng.integers(12, size=N)] + rng.normal(size=(N, 3))
    report.write(MeanShift(resolution=4).fit(points), points, path)


def main() -> None:
    with TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder) / "page.html"
        write_page(path)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = play.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"file://{path}")
        page.wait_for_timeout(1000)
        print(f"{N:,} points; frames a second, and the time that 95% of the frames stay below")
        for name, action in ACTIONS.items():
            rate, slow = page.evaluate(MEASURE.replace("ACTION", action), SECONDS)
            print(f"{name:20s} {rate:5.1f} {slow:6.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
