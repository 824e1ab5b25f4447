// Ticks, lines and names of the two axes, and the map below places on the globe.

import { UNIT } from "./unpack.js";

export const FONT = "12px system-ui, sans-serif";

function ticks(from, to, room, isMap) { // round numbers, some 90 pixels apart
  const rough = ((to - from) * 90) / room, power = 10 ** Math.floor(Math.log10(rough));
  const ofTurn = isMap && rough > 10 && [15, 30, 45, 60, 90].find((f) => f >= rough);
  const step = ofTurn || power * ([1, 2, 5].find((f) => f * power >= rough) || 10);
  const out = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) out.push(k * step);
  return { out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function inDegrees(value, digits, sides) { // 12.5° E
  const turned = sides === "EW" ? ((((value + 180) % 360) + 360) % 360) - 180 : value;
  const size = Math.abs(turned).toFixed(digits);
  const side = Number(size) === 0 || (sides === "EW" && Number(size) === 180);
  return `${size}°${side ? "" : ` ${sides[turned < 0 ? 1 : 0]}`}`;
}

const asNumber = (value, digits) => (Math.abs(value) >= 1e6 ? value.toExponential(1) : value.toFixed(Math.min(digits, 8)));

function line(c, x0, y0, x1, y1) {
  c.beginPath();
  c.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  c.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  c.stroke();
}

export function drawAxes(c, frame, axes, isMap, theme) {
  const drawAxis = (axis, sides, onScreen, [a, b], place) => {
    if (!axis.name) return;
    const inUnits = (pixel) => { // of the data: as clustered, times scale, plus offset
      const share = (pixel - onScreen(0)) / (onScreen(UNIT) - onScreen(0));
      return (axis.low + share * (axis.high - axis.low || 1)) * axis.scale + axis.offset;
    };
    const from = inUnits(a), to = inUnits(b);
    const { out, digits } = ticks(Math.min(from, to), Math.max(from, to), Math.abs(b - a), isMap);
    for (const value of out) {
      if (isMap && sides === "NS" && Math.abs(value) > 90) continue;
      const text = isMap ? inDegrees(value, digits, sides) : asNumber(value, digits);
      place(a + ((value - from) / (to - from)) * (b - a), text);
    }
  };
  const { left, right, top, bottom } = frame, [across, up] = axes;
  c.font = FONT;
  c.lineWidth = 1;
  c.fillStyle = theme.soft;
  c.strokeStyle = theme.faint;
  c.textAlign = "center";
  c.textBaseline = "top";
  drawAxis(across, "EW", (q) => frame.x(q), [left, right], (x, text) => {
    line(c, x, top, x, bottom);
    c.fillText(text, x, bottom + 5);
  });
  c.fillText(across.name, (left + right) / 2, bottom + 22);
  c.textAlign = "right";
  c.textBaseline = "middle";
  drawAxis(up, "NS", (q) => frame.y(q), [bottom, top], (y, text) => {
    line(c, left, y, right, y);
    c.fillText(text, left - 6, y);
  });
  c.save();
  c.translate(12, (top + bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText(up.name, 0, 0);
  c.restore();
}

function trace(c, frame, { points, stops }, shift, eachLine) { // each line becomes a path
  let start = 0;
  stops.forEach((stop, k) => {
    c.beginPath();
    for (let i = start; i < stop; i++) c.lineTo(frame.x(points[2 * i] + shift), frame.y(points[2 * i + 1]));
    eachLine(k, start, stop);
    start = stop;
  });
}

export function drawMap(c, frame, { land, lines, names, period }, theme) {
  c.fillStyle = theme.land;
  c.strokeStyle = theme.shore;
  c.lineWidth = 0.8;
  for (const turn of period ? [-1, 0, 1] : [0]) { // a map of the globe repeats
    trace(c, frame, land, turn * period, () => { c.closePath(); c.fill(); c.stroke(); });
  }
  c.strokeStyle = theme.line;
  c.fillStyle = theme.soft;
  c.font = FONT;
  c.textAlign = "center";
  c.textBaseline = "middle";
  const { points } = lines;
  trace(c, frame, lines, 0, (k, start, stop) => {
    c.stroke();
    const isRound = stop - start > 2, i = isRound ? Math.floor((start + stop) / 2) : stop - 1;
    const share = 0.6; // names of meridians stand on the way out
    const at = (e) => (isRound ? points[2 * i + e] : points[2 * start + e] + share * (points[2 * i + e] - points[2 * start + e]));
    c.fillText(names[k], frame.x(at(0)), frame.y(at(1)));
  });
}
