"use strict";
// One picture with a clock: at time 0 the data, later the points on their climb, at the end the modes.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);

  // ---- What the page holds -------------------------------------------------------------------

  const bytes = (text) => {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  };
  const labels = new Int32Array(bytes(data.points.labels));
  const allPlaces = new Uint16Array(bytes(data.points.places)); // axis by axis, in 1/65535 of each
  const values = new Float32Array(bytes(data.points.values));
  const rows = new Int32Array(bytes(data.points.rows));
  const climb = data.climb && {
    ...data.climb,
    allPlaces: new Uint16Array(bytes(data.climb.places)),
    points: new Int32Array(bytes(data.climb.points)),
  };
  const UNIT = 65535;
  const n = labels.length;
  let places, axes, box; // of the two axes that are shown
  const bySize = Array.from(labels.keys()).sort((a, b) => rank(labels[a]) - rank(labels[b]));
  const sizes = new Map();
  for (const label of labels) sizes.set(label, (sizes.get(label) || 0) + 1);

  function pairs(all, first, second) { // x, y, x, y ... of two axes
    const m = all.length / data.view.axes.length, out = new Uint16Array(2 * m);
    for (let i = 0; i < m; i++) {
      out[2 * i] = all[first * m + i];
      out[2 * i + 1] = all[second * m + i];
    }
    return out;
  }

  function showAxes(first, second) {
    places = pairs(allPlaces, first, second);
    if (climb) climb.places = pairs(climb.allPlaces, first, second);
    axes = [first, second];
    const [x, y] = axes.map((k) => data.view.axes[k]);
    box = [x.low, x.high, y.low, y.high]; // as clustered
  }
  showAxes(0, 1);

  function rank(label) { // large clusters are drawn first, noise before them
    return label < 0 ? -1 : label;
  }

  // ---- Colours and markers: each says the same, so that either is enough ----------------------

  const GREY = "#8c8c8c";
  const PALE = "#d4d4d4";
  const colour = (label) => (label < 0 ? GREY : data.colours[label % data.colours.length]);
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const SHAPES = [circle, upward, square, diamond, downward, plus, cross, star];
  const STYLES = data.colours.length * SHAPES.length;
  const shape = (label) => SHAPES[(label + Math.floor(label / data.colours.length)) % SHAPES.length];

  function polygon(c, points) {
    points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.fill();
  }
  function circle(c, r) { c.arc(0, 0, r, 0, 7); c.fill(); }
  function square(c, r) { c.rect(-0.85 * r, -0.85 * r, 1.7 * r, 1.7 * r); c.fill(); }
  function upward(c, r) { polygon(c, [[0, -1.15 * r], [r, 0.75 * r], [-r, 0.75 * r]]); }
  function downward(c, r) { polygon(c, [[0, 1.15 * r], [r, -0.75 * r], [-r, -0.75 * r]]); }
  function diamond(c, r) { polygon(c, [[0, -1.2 * r], [r, 0], [0, 1.2 * r], [-r, 0]]); }
  function plus(c, r) { const t = 0.36 * r; c.rect(-r, -t, 2 * r, 2 * t); c.rect(-t, -r, 2 * t, 2 * r); c.fill(); }
  function cross(c, r) { c.rotate(Math.PI / 4); plus(c, 1.1 * r); }
  function star(c, r) {
    const ends = Array.from({ length: 10 }, (_, k) => (k % 2 ? 0.5 : 1.25) * r);
    polygon(c, ends.map((e, k) => [e * Math.sin((k * Math.PI) / 5), -e * Math.cos((k * Math.PI) / 5)]));
  }
  function stamp(c, label, r, fill) {
    c.save();
    c.fillStyle = fill || colour(label);
    c.beginPath();
    (label < 0 ? circle : shape(label % STYLES))(c, label < 0 ? 0.7 * r : r);
    c.restore();
  }

  const sprites = new Map(); // drawing a picture is much faster than drawing a path
  function sprite(label, r, fill) {
    const kind = label < 0 ? -1 : label % STYLES;
    const key = `${kind} ${r} ${fill} ${ratio}`;
    if (!sprites.has(key)) {
      const size = Math.ceil(3 * r + 2);
      const picture = document.createElement("canvas");
      picture.width = picture.height = Math.ceil(size * ratio);
      const c = picture.getContext("2d");
      c.scale(ratio, ratio);
      c.translate(size / 2, size / 2);
      stamp(c, kind, r, fill);
      sprites.set(key, { picture, size });
    }
    return sprites.get(key);
  }

  // ---- Where things are on the screen ---------------------------------------------------------

  const canvas = element("canvas");
  const context = canvas.getContext("2d");
  const MARGIN = { left: 62, right: 16, top: 14, bottom: 40 };
  const state = { zoom: 1, panX: 0, panY: 0, time: 0, playing: false, chosen: null, hover: -1 };
  let width = 0, height = 0, ratio = 1, spanX = 1, spanY = 1, originX = 0, originY = 0;

  const HIGHEST = 640, LOWEST = 320; // pixels
  function fitPicture() {
    ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    const wide = box[1] - box[0] || 1, high = box[3] - box[2] || 1;
    const flat = MARGIN.top + MARGIN.bottom + ((width - MARGIN.left - MARGIN.right) * high) / wide;
    const isEqual = data.view.map !== null || sidesAreSimilar();
    const most = Math.min(0.74 * window.innerHeight, HIGHEST);
    height = isEqual ? Math.max(Math.min(flat, most), Math.min(LOWEST, most)) : most; // no empty room above wide data
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const roomX = width - MARGIN.left - MARGIN.right, roomY = height - MARGIN.top - MARGIN.bottom;
    const scaleX = roomX / wide, scaleY = roomY / high, least = Math.min(scaleX, scaleY);
    spanX = (isEqual ? least : scaleX) * wide; // distances look as they were measured
    spanY = (isEqual ? least : scaleY) * high;
    element("stretched").hidden = isEqual || !data.view.axes[axes[1]].name;
    originX = MARGIN.left + (roomX - spanX) / 2;
    originY = height - MARGIN.bottom - (roomY - spanY) / 2;
  }
  function sidesAreSimilar() {
    const spans = [box[1] - box[0], box[3] - box[2]], longest = Math.max(...spans);
    return longest > 0 && longest <= data.view.mostUnequal * Math.min(...spans);
  }
  const screenX = (q) => originX + state.panX + (q / UNIT) * spanX * state.zoom;
  const screenY = (q) => originY + state.panY - (q / UNIT) * spanY * state.zoom;
  const isInside = (x, y) =>
    x > MARGIN.left - 8 && x < width - MARGIN.right + 8 && y > MARGIN.top - 8 && y < height - MARGIN.bottom + 8;

  function zoomAt(x, y, factor) {
    const zoom = Math.min(Math.max(state.zoom * factor, 0.5), 5000), by = zoom / state.zoom;
    state.panX = x - originX - (x - originX - state.panX) * by;
    state.panY = y - originY - (y - originY - state.panY) * by;
    state.zoom = zoom;
    redraw();
  }

  // ---- The climb ------------------------------------------------------------------------------

  const m = climb ? climb.points.length : 0;
  const lastFrame = climb ? climb.sweeps.length - 1 : 0;
  function climberAt(k, time) { // position of climber k, between two frames
    const frame = Math.min(Math.floor(time), lastFrame), share = time - frame;
    const at = 2 * (frame * m + k), next = 2 * (Math.min(frame + 1, lastFrame) * m + k);
    return [
      climb.places[at] * (1 - share) + climb.places[next] * share,
      climb.places[at + 1] * (1 - share) + climb.places[next + 1] * share,
    ];
  }

  // ---- Drawing --------------------------------------------------------------------------------

  const MANY = 12000; // more points than this on the screen are drawn as a density picture
  const FEW = 200; // clusters of fewer points are drawn as markers even then
  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function draw() {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (land) inPicture(drawMap);
    drawAxes();
    inPicture(drawContent);
    context.strokeStyle = "#bbb";
    context.strokeRect(MARGIN.left + 0.5, MARGIN.top + 0.5, width - MARGIN.left - MARGIN.right - 1, height - MARGIN.top - MARGIN.bottom - 1);
  }

  function inPicture(drawPart) { // nothing is drawn beyond the frame
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
    context.clip();
    drawPart();
    context.restore();
  }

  function drawContent() {
    const climbing = climb && state.time > 0;
    drawPoints(climbing);
    if (climbing) drawClimb();
    if (element("centers").checked) drawCenters();
    drawHover();
  }

  // ---- The map below points that are places on the globe ----------------------------------------

  const unpackLines = (packed) => ({ points: new Float32Array(bytes(packed.points)), stops: packed.stops });
  const land = data.view.map && unpackLines(data.view.map.land);
  const degreeLines = data.view.map && unpackLines(data.view.map.lines);

  function trace({ points, stops }, shift, eachLine) { // each line becomes a path
    let start = 0;
    stops.forEach((stop, k) => {
      context.beginPath();
      for (let i = start; i < stop; i++) context.lineTo(screenX(points[2 * i] + shift), screenY(points[2 * i + 1]));
      eachLine(k, points, start, stop);
      start = stop;
    });
  }

  function drawMap() {
    context.fillStyle = "#f1efe8";
    context.strokeStyle = "#c9c5b8";
    context.lineWidth = 0.8;
    const { period, names } = data.view.map;
    for (const turn of period ? [-1, 0, 1] : [0]) { // a map of the globe repeats
      trace(land, turn * period, () => { context.closePath(); context.fill(); context.stroke(); });
    }
    context.strokeStyle = "#ddd";
    context.fillStyle = "#5b5b5b";
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    trace(degreeLines, 0, (k, points, start, stop) => {
      context.stroke();
      const isRound = stop - start > 2, i = isRound ? Math.floor((start + stop) / 2) : stop - 1;
      const share = isRound ? 1 : 0.6; // names of meridians stand on the way out
      const at = (c) => points[2 * start + c] + share * (points[2 * i + c] - points[2 * start + c]);
      context.fillText(names[k], screenX(isRound ? points[2 * i] : at(0)), screenY(isRound ? points[2 * i + 1] : at(1)));
    });
  }

  function inDegrees(value, digits, sides) { // 12.5° E
    const turned = sides === "EW" ? ((((value + 180) % 360) + 360) % 360) - 180 : value;
    const size = Math.abs(turned).toFixed(digits), side = Number(size) === 0 || (sides === "EW" && Number(size) === 180);
    return `${size}°${side ? "" : ` ${sides[turned < 0 ? 1 : 0]}`}`;
  }

  const isShown = (label) => state.chosen === null || label === state.chosen;

  function drawPoints(asBackground) {
    const visible = [];
    for (const i of bySize) {
      if (isInside(screenX(places[2 * i]), screenY(places[2 * i + 1]))) visible.push(i);
    }
    const many = visible.length > MANY;
    if (many) drawDensity(visible, asBackground);
    const r = Math.min(Math.max(95 / Math.sqrt(visible.length + 1), 2), 5);
    const marked = many ? (asBackground ? [] : visible.filter((i) => sizes.get(labels[i]) < FEW)) : visible;
    for (const pass of [false, true]) { // those of the chosen cluster on top
      for (const i of marked) {
        if (isShown(labels[i]) !== pass) continue;
        const fill = asBackground || !pass ? PALE : undefined;
        const { picture, size } = sprite(labels[i], r, fill);
        const x = screenX(places[2 * i]), y = screenY(places[2 * i + 1]);
        context.drawImage(picture, x - size / 2, y - size / 2, size, size);
      }
    }
  }

  function drawDensity(visible, asBackground) {
    const cell = 2; // pixels
    const across = Math.ceil(width / cell), down = Math.ceil(height / cell);
    const counts = new Float32Array(across * down), sums = new Float32Array(3 * across * down);
    const shades = new Map();
    let most = 1;
    for (const i of visible) {
      const x = Math.floor(screenX(places[2 * i]) / cell), y = Math.floor(screenY(places[2 * i + 1]) / cell);
      if (x < 0 || y < 0 || x >= across || y >= down) continue;
      const label = labels[i], pale = asBackground || !isShown(label);
      const key = pale ? "pale" : label;
      if (!shades.has(key)) shades.set(key, rgb(pale ? PALE : colour(label)));
      const shade = shades.get(key), at = y * across + x;
      counts[at] += 1;
      for (let k = 0; k < 3; k++) sums[3 * at + k] += shade[k];
      if (counts[at] > most) most = counts[at];
    }
    const picture = document.createElement("canvas");
    picture.width = across;
    picture.height = down;
    const c = picture.getContext("2d"), image = c.createImageData(across, down);
    const full = Math.log(1 + most);
    for (let at = 0; at < counts.length; at++) {
      if (!counts[at]) continue;
      for (let k = 0; k < 3; k++) image.data[4 * at + k] = sums[3 * at + k] / counts[at];
      image.data[4 * at + 3] = 255 * (0.35 + 0.65 * Math.log(1 + counts[at]) / full);
    }
    c.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, across * cell, down * cell);
    context.imageSmoothingEnabled = true;
  }

  function drawClimb() {
    if (element("paths").checked) for (let k = 0; k < m; k++) drawPath(k, Math.min(0.5, 150 / m));
    const r = Math.min(Math.max(95 / Math.sqrt(m + 1), 2), 5);
    for (let k = 0; k < m; k++) {
      const label = labels[climb.points[k]];
      if (!isShown(label)) continue;
      const [qx, qy] = climberAt(k, state.time);
      const { picture, size } = sprite(label, r);
      context.drawImage(picture, screenX(qx) - size / 2, screenY(qy) - size / 2, size, size);
    }
  }

  function drawPath(k, opacity) {
    const label = labels[climb.points[k]];
    if (!isShown(label)) return;
    context.globalAlpha = opacity;
    context.strokeStyle = colour(label);
    context.lineWidth = opacity === 1 ? 2 : 1;
    context.beginPath();
    for (let frame = 0; frame <= Math.floor(state.time); frame++) {
      const at = 2 * (frame * m + k);
      context.lineTo(screenX(climb.places[at]), screenY(climb.places[at + 1]));
    }
    const [qx, qy] = climberAt(k, state.time);
    context.lineTo(screenX(qx), screenY(qy));
    context.stroke();
    context.globalAlpha = 1;
  }

  const FEW_NUMBERS = 40; // more centres than this on the screen are drawn small, without numbers
  function drawCenters() {
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const visible = [];
    for (let label = data.view.centers.length - 1; label >= 0; label--) {
      if (!isShown(label)) continue;
      const [x, y] = [screenX(data.view.centers[label][axes[0]]), screenY(data.view.centers[label][axes[1]])];
      if (isInside(x, y)) visible.push([label, x, y]);
    }
    const numbered = visible.length <= FEW_NUMBERS;
    for (const [label, x, y] of visible) {
      context.beginPath();
      context.arc(x, y, numbered ? (label > 99 ? 12 : 9) : 2.5, 0, 7);
      context.fillStyle = "rgba(255,255,255,.88)";
      context.fill();
      context.lineWidth = numbered ? 1.5 : 1;
      context.strokeStyle = "#1b1b1b";
      context.stroke();
      context.fillStyle = "#1b1b1b";
      if (numbered) context.fillText(label, x, y + 0.5);
    }
  }

  function drawHover() {
    if (state.hover < 0) return;
    const onClimb = climb && state.time > 0;
    let qx = places[2 * state.hover], qy = places[2 * state.hover + 1];
    if (onClimb) {
      drawPath(state.hover, 1);
      [qx, qy] = climberAt(state.hover, state.time);
    }
    context.beginPath();
    context.arc(screenX(qx), screenY(qy), 8, 0, 7);
    context.lineWidth = 2.5;
    context.strokeStyle = "#1b1b1b";
    context.stroke();
  }

  function ticks(from, to, room) { // round numbers, some 90 pixels apart
    const rough = ((to - from) * 90) / room, power = 10 ** Math.floor(Math.log10(rough));
    const ofTurn = data.view.map && rough > 10 && [15, 30, 45, 60, 90].find((f) => f >= rough);
    const step = ofTurn || power * ([1, 2, 5].find((f) => f * power >= rough) || 10);
    const out = [];
    for (let k = Math.ceil(from / step); k * step <= to; k++) out.push(k * step);
    return { out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function drawAxes() {
    const [axisX, axisY] = axes.map((k) => data.view.axes[k]);
    context.font = "12px system-ui, sans-serif";
    context.lineWidth = 1;
    const label = (value, digits) => (Math.abs(value) >= 1e6 ? value.toExponential(1) : value.toFixed(Math.min(digits, 8)));
    const inWords = (axis, value, digits) => // of a map: 12.5° E
      data.view.map ? inDegrees(value, digits, axis === axisX ? "EW" : "NS") : label(value, digits);
    const draw = (axis, low, high, fromPixel, toPixel, place) => {
      if (!axis.name) return;
      const inUnits = (pixel) => { // of the data: as clustered, times scale, plus offset
        const share = (pixel - fromPixel(0)) / (fromPixel(UNIT) - fromPixel(0));
        return (low + share * (high - low || 1)) * axis.scale + axis.offset;
      };
      const [a, b] = toPixel, from = inUnits(a), to = inUnits(b);
      const { out, digits } = ticks(Math.min(from, to), Math.max(from, to), Math.abs(b - a));
      const isBeyond = (value) => data.view.map && axis === axisY && Math.abs(value) > 90;
      for (const value of out) {
        if (!isBeyond(value)) place(a + ((value - from) / (to - from)) * (b - a), inWords(axis, value, digits));
      }
    };
    context.fillStyle = "#5b5b5b";
    context.strokeStyle = "#eee";
    context.textAlign = "center";
    context.textBaseline = "top";
    const floor = height - MARGIN.bottom;
    draw(axisX, box[0], box[1], screenX, [MARGIN.left, width - MARGIN.right], (x, text) => {
      line(x, MARGIN.top, x, floor);
      context.fillText(text, x, floor + 5);
    });
    context.fillText(axisX.name, (MARGIN.left + width - MARGIN.right) / 2, floor + 22);
    context.textAlign = "right";
    context.textBaseline = "middle";
    draw(axisY, box[2], box[3], screenY, [floor, MARGIN.top], (y, text) => {
      line(MARGIN.left, y, width - MARGIN.right, y);
      context.fillText(text, MARGIN.left - 6, y);
    });
    context.save();
    context.translate(12, (MARGIN.top + floor) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(axisY.name, 0, 0);
    context.restore();
  }

  function line(x0, y0, x1, y1) {
    context.beginPath();
    context.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    context.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    context.stroke();
  }

  // ---- Hover, zoom, pan -----------------------------------------------------------------------

  const tip = element("tip");
  const short = (value, digits = 5) => Number(value.toPrecision(digits)).toString();

  function nearest(x, y) { // point within 14 pixels: of the data, or of the climb once it has begun
    let best = 14 * 14, found = -1;
    const onClimb = climb && state.time > 0;
    for (let k = 0; k < (onClimb ? m : n); k++) {
      const [qx, qy] = onClimb ? climberAt(k, state.time) : [places[2 * k], places[2 * k + 1]];
      const dx = screenX(qx) - x, dy = screenY(qy) - y, square = dx * dx + dy * dy;
      if (square < best && isShown(labels[onClimb ? climb.points[k] : k])) { best = square; found = k; }
    }
    return found;
  }

  function showTip(x, y) {
    const found = nearest(x, y);
    if (found !== state.hover) { state.hover = found; redraw(); }
    tip.hidden = found < 0;
    if (found < 0) return;
    const i = climb && state.time > 0 ? climb.points[found] : found;
    const names = data.points.names;
    const label = labels[i] < 0 ? "in no cluster" : `cluster ${labels[i]}`;
    const lines = [`${data.points.ids ? data.points.ids[i] : `row ${rows[i]}`}: ${label}`];
    names.forEach((name, k) => lines.push(`${name} = ${short(values[i * names.length + k])}`));
    if (data.points.more) lines.push(`and ${data.points.more} more features`);
    tip.textContent = lines.join("\n");
    const left = x + 16 + tip.offsetWidth > width ? x - 12 - tip.offsetWidth : x + 16;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 12, height - tip.offsetHeight))}px`;
  }

  function hideTip() {
    tip.hidden = true;
    if (state.hover >= 0) { state.hover = -1; redraw(); }
  }

  let drag = null;
  const at = (event) => {
    const edge = canvas.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    drag = [event.clientX - state.panX, event.clientY - state.panY];
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("panning");
    hideTip();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return showTip(...at(event));
    state.panX = event.clientX - drag[0];
    state.panY = event.clientY - drag[1];
    redraw();
  });
  const release = () => { drag = null; canvas.classList.remove("panning"); };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(...at(event), Math.exp(-event.deltaY * 0.0015));
  }, { passive: false });
  const showAll = () => { Object.assign(state, { zoom: 1, panX: 0, panY: 0 }); redraw(); };
  const zoomMiddle = (factor) => zoomAt(width / 2, height / 2, factor);
  canvas.addEventListener("dblclick", showAll);
  element("zoom-in").onclick = () => zoomMiddle(1.5);
  element("zoom-out").onclick = () => zoomMiddle(1 / 1.5);
  element("zoom-all").onclick = showAll;
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (step) { state.panX += step[0]; state.panY += step[1]; redraw(); }
    else if (event.key === "+" || event.key === "=") zoomMiddle(1.5);
    else if (event.key === "-") zoomMiddle(1 / 1.5);
    else if (event.key === "0") showAll();
    else return;
    event.preventDefault();
  });

  // ---- The clock ------------------------------------------------------------------------------

  const slider = element("time"), play = element("play");
  const FRAMES_A_SECOND = Math.min(Math.max(lastFrame / 6, 2), 30);

  function setTime(time) {
    state.time = Math.min(Math.max(time, 0), lastFrame);
    slider.value = state.time;
    if (!climb) return;
    const frame = Math.round(state.time), moving = climb.moving[frame];
    element("clock").textContent = frame === 0
      ? "start: the data"
      : `${data.view.sweep} ${climb.sweeps[frame]} of ${climb.sweeps[lastFrame]}` +
        (moving === null ? "" : `, ${moving.toLocaleString("en")} moving`);
    redraw();
  }
  function setPlaying(playing) {
    state.playing = playing;
    play.textContent = playing ? "❚❚ Pause" : "▶ Play";
    play.setAttribute("aria-label", playing ? "Pause" : "Play the climb");
    if (!playing) return;
    if (state.time >= lastFrame) setTime(0);
    let before = performance.now();
    const tick = (now) => {
      if (!state.playing) return;
      setTime(state.time + ((now - before) / 1000) * FRAMES_A_SECOND);
      before = now;
      if (state.time >= lastFrame) setPlaying(false);
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
  if (climb) {
    slider.max = lastFrame;
    play.onclick = () => { hideTip(); setPlaying(!state.playing); };
    slider.addEventListener("input", () => { setPlaying(false); hideTip(); setTime(Number(slider.value)); });
  } else {
    for (const id of ["play", "time", "clock"]) element(id).hidden = true;
    element("paths").parentElement.hidden = true;
  }
  element("paths").onchange = redraw;
  element("centers").onchange = redraw;

  // ---- Tables and text ------------------------------------------------------------------------

  const make = (tag, text, parent, kind) => {
    const node = document.createElement(tag);
    if (text !== null) node.textContent = text;
    if (kind) node.className = kind;
    parent.append(node);
    return node;
  };

  function choose(label, row) {
    const same = state.chosen === label;
    state.chosen = same ? null : label;
    for (const other of document.querySelectorAll("#cluster-table tr")) {
      other.classList.toggle("chosen", !same && other === row);
      if (other.hasAttribute("aria-pressed")) other.setAttribute("aria-pressed", String(!same && other === row));
    }
    redraw();
  }

  function fillClusters() {
    const table = element("cluster-table");
    const head = make("tr", null, make("thead", null, table));
    for (const name of ["cluster", "points", "share", "", ...data.clusters.features]) make("th", name, head);
    const body = make("tbody", null, table);
    const largest = data.clusters.rows.length ? data.clusters.rows[0].size : 1;
    for (const cluster of data.clusters.rows) {
      const row = make("tr", null, body);
      row.tabIndex = 0;
      row.setAttribute("role", "button");
      row.setAttribute("aria-pressed", "false");
      const mark = make("td", null, row, "mark");
      const swatch = make("canvas", null, mark);
      swatch.width = swatch.height = 16 * ratio;
      swatch.style.width = swatch.style.height = "16px";
      const c = swatch.getContext("2d");
      c.scale(ratio, ratio);
      c.translate(8, 8);
      stamp(c, cluster.label, 5.5);
      mark.append(String(cluster.label));
      make("td", cluster.size.toLocaleString("en"), row);
      make("td", `${((100 * cluster.size) / data.clusters.total).toFixed(1)} %`, row);
      make("span", null, make("td", null, row, "bar")).style.width = `${(2.4 * cluster.size) / largest}rem`;
      cluster.values.forEach(([center, spread]) => make("td", spread === null ? short(center, 5) : `${short(center, 4)} ± ${short(spread, 3)}`, row));
      row.onclick = () => choose(cluster.label, row);
      row.onkeydown = (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(cluster.label, row); }
      };
    }
    element("cluster-note").textContent = data.clusters.note;
    element("cluster-rest").textContent = data.clusters.rest;
  }

  function fillText() {
    document.title = element("title").textContent = data.title;
    element("lead").textContent = data.lead;
    element("view-note").textContent = data.view.note;
    element("command").textContent = data.command;
    element("by-command").hidden = data.command === null;
    element("python").textContent = data.python;
    element("profile").hidden = data.profile === null;
    element("profile-note").textContent = data.profileNote;
    if (data.profile) element("profile-picture").src = "data:image/svg+xml;base64," + data.profile;
    for (const [name, value] of data.facts) {
      const row = make("div", null, element("fact-list"), value.length > 40 ? "long" : "");
      make("dt", name, row);
      make("dd", value, row);
    }
  }

  function drawMoving() { // how many points still moved, sweep by sweep
    const counts = climb ? data.moving : [];
    element("moving").hidden = counts.length < 2;
    if (counts.length < 2) return;
    const picture = element("moving-canvas"), c = picture.getContext("2d");
    const w = picture.clientWidth, h = picture.clientHeight;
    picture.width = w * ratio;
    picture.height = h * ratio;
    c.scale(ratio, ratio);
    const left = 62, right = w - 12, top = 12, bottom = h - 36, most = Math.max(...counts);
    const x = (k) => left + ((right - left) * k) / (counts.length - 1);
    const y = (count) => bottom - ((bottom - top) * count) / most;
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = "#5b5b5b";
    c.strokeStyle = "#bbb";
    c.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const count of [0, most]) c.fillText(count.toLocaleString("en"), left - 6, y(count));
    c.textAlign = "center";
    c.textBaseline = "top";
    const step = Math.max(1, Math.ceil((counts.length - 1) / 8));
    for (let k = 0; k < counts.length; k += step) c.fillText(k + 1, x(k), bottom + 5);
    c.fillText(data.view.sweep, (left + right) / 2, bottom + 20);
    c.strokeStyle = "#0072b2";
    c.lineWidth = 2;
    c.beginPath();
    counts.forEach((count, k) => c.lineTo(x(k), y(count)));
    c.stroke();
    picture.setAttribute("aria-label", `Points still moving: ${counts[0]} at first, ${counts[counts.length - 1]} at the end`);
    element("moving-note").textContent = data.movingNote;
  }

  function fillAxes() { // two features are shown both; of more, any two can be chosen
    const chosen = [element("axis-x"), element("axis-y")];
    chosen.forEach((select, k) => {
      data.view.axes.forEach((axis, i) => { make("option", axis.name, select).value = i; });
      select.value = k;
      select.parentElement.hidden = data.view.axes.length < 3;
      select.onchange = () => {
        showAxes(...chosen.map((each) => Number(each.value)));
        hideTip();
        fitPicture();
        showAll();
      };
    });
  }

  fitPicture();
  fillText();
  fillAxes();
  fillClusters();
  drawMoving();
  setTime(0);
  redraw();
  window.addEventListener("resize", () => { fitPicture(); drawMoving(); redraw(); });
})();
