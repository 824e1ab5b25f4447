// Where places are on the screen.

import { UNIT } from "./unpack.js";

const MARGIN = { left: 62, right: 16, top: 14, bottom: 40 };
const HIGHEST = 640, LOWEST = 320; // pixels

export class Frame {
  constructor(canvas) {
    this.canvas = canvas;
    this.reset();
  }

  reset() { Object.assign(this, { zoom: 1, panX: 0, panY: 0 }); }

  fit(box, isEqual) { // room for the box; with equal scales distances look as they were measured
    this.ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    const wide = box[1] - box[0] || 1, high = box[3] - box[2] || 1;
    const roomX = this.width - MARGIN.left - MARGIN.right;
    const flat = MARGIN.top + MARGIN.bottom + (roomX * high) / wide; // no empty room above wide data
    const most = Math.max(Math.min(0.74 * window.innerHeight, HIGHEST), LOWEST);
    this.height = isEqual ? Math.max(Math.min(flat, most), LOWEST) : most;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    const roomY = this.height - MARGIN.top - MARGIN.bottom;
    const scaleX = roomX / wide, scaleY = roomY / high, least = Math.min(scaleX, scaleY);
    this.spanX = (isEqual ? least : scaleX) * wide;
    this.spanY = (isEqual ? least : scaleY) * high;
    this.originX = MARGIN.left + (roomX - this.spanX) / 2;
    this.originY = this.height - MARGIN.bottom - (roomY - this.spanY) / 2;
  }

  get left() { return MARGIN.left; }
  get right() { return this.width - MARGIN.right; }
  get top() { return MARGIN.top; }
  get bottom() { return this.height - MARGIN.bottom; }
  // A place q is drawn at x0 + q * perX, y0 - q * perY.
  get x0() { return this.originX + this.panX; }
  get y0() { return this.originY + this.panY; }
  get perX() { return (this.spanX * this.zoom) / UNIT; }
  get perY() { return (this.spanY * this.zoom) / UNIT; }

  x(q) { return this.x0 + q * this.perX; }
  y(q) { return this.y0 - q * this.perY; }

  isInside(x, y) {
    return x > this.left - 8 && x < this.right + 8 && y > this.top - 8 && y < this.bottom + 8;
  }

  zoomAt(x, y, factor) {
    const zoom = Math.min(Math.max(this.zoom * factor, 0.5), 5000), by = zoom / this.zoom;
    this.panX = x - this.originX - (x - this.originX - this.panX) * by;
    this.panY = y - this.originY - (y - this.originY - this.panY) * by;
    this.zoom = zoom;
  }

  clipped(c, draw) { // nothing is drawn beyond the frame
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, this.right - this.left, this.bottom - this.top);
    c.clip();
    draw();
    c.restore();
  }
}
