// The points: markers, or where there are many a density picture, at 100,000 points in a few ms.

import { rgb } from "./theme.js";

const MANY = 12000; // more points than this on the screen are drawn as a density picture
const FEW = 200; // clusters of fewer points are drawn as markers even then,
const SPARE = 3000; // unless those are more points than this
const CELL = 2; // pixels of the density picture
const LEAST = 0.35; // opacity of a cell with one point

export class PointPainter {
  constructor(scene, frame) {
    Object.assign(this, { scene, frame });
    this.picture = document.createElement("canvas");
  }

  draw(c, marks, asBackground) {
    const { scene, frame } = this, { order, places, labels } = scene;
    const visible = new Int32Array(order.length);
    const { x0, y0, perX, perY } = frame;
    const [left, right, top, bottom] = [frame.left - 8, frame.right + 8, frame.top - 8, frame.bottom + 8];
    let m = 0;
    for (let k = 0; k < order.length; k++) {
      const i = order[k], x = x0 + places[2 * i] * perX, y = y0 - places[2 * i + 1] * perY;
      if (x > left && x < right && y > top && y < bottom) visible[m++] = i;
    }
    const shown = visible.subarray(0, m), many = m > MANY;
    if (many) this.drawDensity(c, marks, shown, asBackground);
    if (many && asBackground) return;
    const r = Math.min(Math.max(95 / Math.sqrt(m + 1), 2), 5);
    const inFocus = (i) => scene.isInFocus(i);
    const marked = many ? this.small(shown) : shown;
    const isPale = (i) => asBackground || !inFocus(i);
    for (const pass of scene.focus ? [false, true] : [true]) { // those in focus on top
      let label, look, fill;
      for (const i of marked) {
        if (scene.focus && inFocus(i) !== pass) continue;
        const wanted = isPale(i) ? marks.theme.pale : undefined;
        if (!look || labels[i] !== label || wanted !== fill) {
          [label, fill] = [labels[i], wanted];
          look = marks.sprite(label, r, frame.ratio, fill);
        }
        const x = x0 + places[2 * i] * perX, y = y0 - places[2 * i + 1] * perY;
        c.drawImage(look.picture, x - look.size / 2, y - look.size / 2, look.size, look.size);
      }
    }
  }

  small(shown) { // points of small clusters, if they are not too many to draw
    const { labels } = this.scene, found = shown.filter((i) => this.scene.size(labels[i]) < FEW);
    return found.length > SPARE ? found.subarray(0, 0) : found;
  }

  drawDensity(c, marks, shown, asBackground) { // each cell has the mean colour of its points
    const { scene, frame } = this, { places } = scene;
    const across = Math.ceil(frame.width / CELL), down = Math.ceil(frame.height / CELL);
    const { shades, red, green, blue } = this.shades(marks, asBackground);
    const counts = new Uint32Array(across * down), sums = new Float32Array(3 * across * down);
    const x0 = frame.x0 / CELL, y0 = frame.y0 / CELL, perX = frame.perX / CELL, perY = frame.perY / CELL;
    let most = 1;
    for (let k = 0; k < shown.length; k++) {
      const i = shown[k];
      const x = Math.floor(x0 + places[2 * i] * perX), y = Math.floor(y0 - places[2 * i + 1] * perY);
      if (x < 0 || y < 0 || x >= across || y >= down) continue;
      const at = y * across + x, shade = shades[i];
      sums[3 * at] += red[shade];
      sums[3 * at + 1] += green[shade];
      sums[3 * at + 2] += blue[shade];
      if (++counts[at] > most) most = counts[at];
    }
    if (this.picture.width !== across || this.picture.height !== down) {
      Object.assign(this.picture, { width: across, height: down });
    }
    const context = this.picture.getContext("2d"), image = context.createImageData(across, down);
    const full = Math.log(1 + most), pixels = image.data;
    for (let at = 0; at < counts.length; at++) {
      const count = counts[at];
      if (count === 0) continue;
      for (let k = 0; k < 3; k++) pixels[4 * at + k] = sums[3 * at + k] / count;
      pixels[4 * at + 3] = 255 * (LEAST + ((1 - LEAST) * Math.log(1 + count)) / full);
    }
    context.putImageData(image, 0, 0);
    c.imageSmoothingEnabled = false;
    c.drawImage(this.picture, 0, 0, across * CELL, down * CELL);
    c.imageSmoothingEnabled = true;
  }

  shades(marks, asBackground) { // the number of the colour of each point, and the colours
    const { scene } = this, { labels, focus } = scene, { theme } = marks;
    if (this.known && this.known.labels === labels && this.known.focus === focus &&
        this.known.theme === theme && this.known.asBackground === asBackground) return this.known;
    const colours = [theme.pale, theme.grey, ...marks.colours.map((_, k) => marks.colour(k))].map(rgb);
    const shades = new Uint8Array(labels.length), n = marks.colours.length;
    for (let i = 0; i < labels.length; i++) {
      if (asBackground || !scene.isInFocus(i)) continue; // pale
      shades[i] = labels[i] < 0 ? 1 : 2 + (labels[i] % n);
    }
    const [red, green, blue] = [0, 1, 2].map((k) => Float32Array.from(colours, (colour) => colour[k]));
    this.known = { labels, focus, theme, asBackground, shades, red, green, blue };
    return this.known;
  }
}
