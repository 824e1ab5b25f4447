"use strict";
// Regions are numbered from 0 here, in the order of the finest segmentation; -1 is "no data".

const data = JSON.parse(document.getElementById("data").textContent);
const [height, width] = data.shape;
const canvas = document.getElementById("canvas");
const context = canvas.getContext("2d");
const viewSlider = document.getElementById("view");
const levelSlider = document.getElementById("level");
const nFinest = data.sizes.length;
const nFewest = nFinest - data.merges.length;
canvas.width = width;
canvas.height = height;

function numbersIn(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Uint32Array(bytes.buffer);
}

function unrolled() {
  const finest = new Int32Array(width * height);
  const numbers = numbersIn(data.numbers);
  const lengths = numbersIn(data.lengths);
  let at = 0;
  numbers.forEach((label, i) => {
    finest.fill(label - 1, at, at + lengths[i]);
    at += lengths[i];
  });
  return finest;
}

const finest = unrolled();
let owners = new Int32Array(nFinest); // the region of the cut that a finest region is a part of
let sizes = [];
let colours = [];
const outline = document.createElement("canvas"); // boundaries, transparent elsewhere
const painted = document.createElement("canvas"); // mean colours
for (const layer of [outline, painted]) {
  layer.width = width;
  layer.height = height;
}
const picture = new Image();
picture.src = data.picture;

// The slider runs evenly over the logarithm of the number of regions.
const toCount = (value) => Math.round(nFewest * (nFinest / nFewest) ** (value / 1000));
const toValue = (count) =>
  nFinest === nFewest ? 1000 : (1000 * Math.log(count / nFewest)) / Math.log(nFinest / nFewest);

function cut(count) {
  owners = Int32Array.from({ length: nFinest }, (_, i) => i);
  sizes = data.sizes.slice();
  colours = data.colours.map((colour) => colour.slice());
  const merges = data.merges.slice(0, nFinest - count);
  for (const [into, other] of merges) {
    const total = sizes[into] + sizes[other];
    colours[into] = colours[into].map(
      (value, k) => (value * sizes[into] + colours[other][k] * sizes[other]) / total,
    );
    sizes[into] = total;
  }
  for (const [into, other] of merges.reverse()) owners[other] = owners[into];
  drawLayers();
  const level = count < nFinest ? data.heights[nFinest - count - 1] : 0;
  document.getElementById("count").textContent =
    `${count} region${count === 1 ? "" : "s"} (level ${level.toFixed(1)})`;
}

const regionAt = (i) => (finest[i] < 0 ? -1 : owners[finest[i]]);

function drawLayers() {
  const lines = outline.getContext("2d").createImageData(width, height);
  const areas = painted.getContext("2d").createImageData(width, height);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const region = regionAt(i);
      const colour = region < 0 ? [0, 0, 0] : colours[region];
      areas.data.set([colour[0], colour[1], colour[2], 255], 4 * i);
      const differs =
        (x + 1 < width && regionAt(i + 1) !== region) ||
        (y + 1 < height && regionAt(i + width) !== region);
      if (differs) lines.data.set([255, 255, 0, 255], 4 * i);
    }
  }
  outline.getContext("2d").putImageData(lines, 0, 0);
  painted.getContext("2d").putImageData(areas, 0, 0);
}

function draw() {
  const view = Number(viewSlider.value);
  context.globalAlpha = 1;
  context.drawImage(picture, 0, 0, width, height);
  context.globalAlpha = Math.max(0, view - 1);
  context.drawImage(painted, 0, 0);
  context.globalAlpha = Math.min(1, view, 2 - view); // no lines over the picture, nor over regions
  context.drawImage(outline, 0, 0);
}

function fit() {
  const room = Math.max(300, window.innerHeight - 230);
  const wide = document.querySelector("main").clientWidth;
  canvas.style.width = `${Math.floor(Math.min(wide, (room * width) / height))}px`;
}

let pointer = null; // the last event of the mouse over the picture

function point(event) {
  pointer = event;
  const box = canvas.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * width);
  const y = Math.floor(((event.clientY - box.top) / box.height) * height);
  const region = x < width && y < height && x >= 0 && y >= 0 ? regionAt(y * width + x) : -1;
  const line = document.getElementById("pointed");
  if (region < 0) {
    line.textContent = "No data here.";
    return;
  }
  const share = ((100 * sizes[region]) / data.sizes.reduce((a, b) => a + b, 0)).toFixed(1);
  const colour = colours[region].map(Math.round);
  const swatch = document.createElement("i");
  swatch.style.background = `rgb(${colour.join(",")})`;
  line.replaceChildren(
    swatch,
    `${sizes[region].toLocaleString("en")} pixels, ${share} % of the picture, mean colour ${colour.join(", ")}`,
  );
}

document.title = `Regions of ${data.name}`;
document.getElementById("title").textContent = data.name;
document.getElementById("summary").textContent =
  `${width * data.thinned} x ${height * data.thinned} pixels, ${nFewest} to ${nFinest} regions` +
  (data.thinned > 1 ? `; the page shows every ${data.thinned}th row and column` : "");
for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => {
    viewSlider.value = button.dataset.view;
    draw();
  });
}
viewSlider.addEventListener("input", draw);
levelSlider.addEventListener("input", () => {
  cut(toCount(Number(levelSlider.value)));
  draw();
  if (pointer) point(pointer);
});
canvas.addEventListener("mousemove", point);
window.addEventListener("resize", fit);
fit();
levelSlider.value = toValue(data.shown);
cut(data.shown);
picture.decode().then(draw);
