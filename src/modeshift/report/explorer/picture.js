// The picture of the points: it draws, and answers the mouse and the keyboard.

import { drawAxes, drawMap } from "./axes.js";
import { drawClimbers, drawPath, drawPaths } from "./climb.js";
import { Frame } from "./frame.js";
import { Lasso } from "./lasso.js";
import { PointPainter } from "./points.js";

const FEW_NUMBERS = 40; // more centres than this on the screen are drawn small, without numbers
const REACH = 14; // pixels within which the mouse finds a point
const STILL = 4; // pixels that the mouse may move in a click

export function makePicture(scene, part, look) {
  const { points, climb, view } = scene.data;
  const canvas = part("canvas"), context = canvas.getContext("2d"), tip = part("tip");
  const frame = new Frame(canvas), painter = new PointPainter(scene, frame), lasso = new Lasso(scene, frame);
  let hover = -1, asked = false;

  // ---- Drawing --------------------------------------------------------------------------------

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function draw() {
    if (!frame.width) return; // not on the page yet
    const { marks } = look, { theme } = marks;
    context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    context.clearRect(0, 0, frame.width, frame.height);
    if (view.map) frame.clipped(context, () => drawMap(context, frame, view.map, theme));
    drawAxes(context, frame, scene.axes.map((k) => view.axes[k]), view.map !== null, theme);
    frame.clipped(context, () => {
      painter.draw(context, marks, scene.isClimbing);
      drawFilm(marks);
      if (part("centers").checked) drawCenters(theme);
      drawHover(marks);
      lasso.draw(context, theme);
    });
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(frame.left + 0.5, frame.top + 0.5, frame.right - frame.left - 1, frame.bottom - frame.top - 1);
  }

  function drawFilm(marks) { // a cluster that is chosen shows its paths
    if (!climb || !scene.isFit) return;
    if (scene.isClimbing && part("paths").checked) drawPaths(context, frame, scene, marks, scene.time);
    if (scene.isClimbing) drawClimbers(context, frame, scene, marks);
    else if (scene.focus) drawPaths(context, frame, scene, marks, climb.last);
  }

  function drawCenters(theme) {
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const centers = scene.centers(), visible = [];
    for (let label = centers.length - 1; label >= 0; label--) {
      if (!scene.isClusterShown(label)) continue;
      const [x, y] = [frame.x(centers[label][scene.axes[0]]), frame.y(centers[label][scene.axes[1]])];
      if (frame.isInside(x, y)) visible.push([label, x, y]);
    }
    const numbered = visible.length <= FEW_NUMBERS;
    for (const [label, x, y] of visible) {
      context.beginPath();
      context.arc(x, y, numbered ? (label > 99 ? 12 : 9) : 2.5, 0, 7);
      context.globalAlpha = 0.88;
      context.fillStyle = theme.paper;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = numbered ? 1.5 : 1;
      context.strokeStyle = context.fillStyle = theme.ink;
      context.stroke();
      if (numbered) context.fillText(label, x, y + 0.5);
    }
  }

  function drawHover(marks) {
    if (hover < 0) return;
    let [x, y] = [scene.places[2 * hover], scene.places[2 * hover + 1]];
    if (scene.isClimbing) {
      drawPath(context, frame, scene, marks, hover, { opacity: 1, until: scene.time });
      [x, y] = scene.climberAt(hover, scene.time);
    }
    context.beginPath();
    context.arc(frame.x(x), frame.y(y), 8, 0, 7);
    context.lineWidth = 2.5;
    context.strokeStyle = marks.theme.ink;
    context.stroke();
  }

  // ---- Hover and click ------------------------------------------------------------------------

  function nearest(x, y) { // point of the data, or of the climb once it has begun; -1: none is near
    let best = REACH * REACH, found = -1;
    const onClimb = scene.isClimbing, n = onClimb ? climb.points.length : points.n;
    for (let k = 0; k < n; k++) {
      let x1 = scene.places[2 * k], y1 = scene.places[2 * k + 1];
      if (onClimb) [x1, y1] = scene.climberAt(k, scene.time);
      const dx = frame.x(x1) - x, dy = frame.y(y1) - y, square = dx * dx + dy * dy;
      if (square < best && scene.isInFocus(onClimb ? climb.points[k] : k)) [best, found] = [square, k];
    }
    return found;
  }

  const pointAt = (found) => (scene.isClimbing ? climb.points[found] : found);

  function showTip(x, y) {
    const found = nearest(x, y);
    if (found !== hover) { hover = found; redraw(); }
    tip.hidden = found < 0;
    if (found < 0) return;
    const i = pointAt(found), label = scene.labels[i];
    const lines = [`${look.nameOf(i)}: ${label < 0 ? "in no cluster" : `cluster ${label}`}`];
    points.names.forEach((name, k) => lines.push(`${name} = ${look.short(points.values[i * points.names.length + k])}`));
    if (points.more) lines.push(`and ${points.more} more features`);
    tip.textContent = lines.join("\n");
    const left = x + 16 + tip.offsetWidth > frame.width ? x - 12 - tip.offsetWidth : x + 16;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 12, frame.height - tip.offsetHeight))}px`;
  }

  function hideTip() {
    tip.hidden = true;
    if (hover >= 0) { hover = -1; redraw(); }
  }

  function click(x, y) { // a point chooses its cluster; none gives all points back
    const found = nearest(x, y);
    if (found < 0) return scene.set({ focus: null });
    const label = scene.labels[pointAt(found)];
    if (!scene.focus || scene.focus.cluster !== label) scene.chooseCluster(label);
  }

  // ---- Drag, zoom, keys -----------------------------------------------------------------------

  let drag = null;
  const at = (event) => {
    const edge = canvas.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = at(event), draws = event.shiftKey || part("lasso").getAttribute("aria-pressed") === "true";
    drag = { x, y, draws, panX: frame.panX - x, panY: frame.panY - y, moved: false };
    canvas.setPointerCapture(event.pointerId);
    hideTip();
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (!drag) return showTip(x, y);
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < STILL) return;
    if (!drag.moved && drag.draws) lasso.begin(drag.x, drag.y);
    drag.moved = true;
    canvas.classList.toggle("panning", !drag.draws);
    if (drag.draws) lasso.add(x, y);
    else Object.assign(frame, { panX: drag.panX + x, panY: drag.panY + y });
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) click(...at(event));
    else if (drag && drag.draws) lasso.end();
    release();
  });
  const release = () => {
    drag = null;
    lasso.forget();
    canvas.classList.remove("panning");
  };
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  const zoom = (factor, x = frame.width / 2, y = frame.height / 2) => { frame.zoomAt(x, y, factor); redraw(); };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), ...at(event));
  }, { passive: false });
  const showAll = () => { frame.reset(); redraw(); };
  canvas.addEventListener("dblclick", showAll);
  part("zoom-in").onclick = () => zoom(1.5);
  part("zoom-out").onclick = () => zoom(1 / 1.5);
  part("zoom-all").onclick = showAll;
  part("lasso").onclick = () => {
    const wanted = part("lasso").getAttribute("aria-pressed") !== "true";
    part("lasso").setAttribute("aria-pressed", String(wanted));
    canvas.classList.toggle("lasso", wanted);
  };
  part("paths").onchange = part("centers").onchange = redraw;
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (step) { frame.panX += step[0]; frame.panY += step[1]; redraw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") showAll();
    else if (event.key === "Escape") scene.set({ focus: null });
    else return;
    event.preventDefault();
  });

  // ---- What changes it ------------------------------------------------------------------------

  function fit() {
    const [across, up] = scene.axes.map((k) => view.axes[k]);
    const spans = [across.high - across.low, up.high - up.low], longest = Math.max(...spans);
    const isEqual = view.map !== null || (longest > 0 && longest <= view.mostUnequal * Math.min(...spans));
    part("stretched").hidden = isEqual || !up.name;
    frame.fit([across.low, across.high, up.low, up.high], isEqual);
    redraw();
  }

  function describe() {
    const [across, up] = scene.axes.map((k) => view.axes[k].name || "no feature");
    const clusters = scene.step ? scene.step.text : `${scene.nClusters} clusters`;
    canvas.setAttribute("aria-label",
      `${points.n.toLocaleString("en")} points (${clusters}), ${across} across, ${up} up. ` +
      "Arrow keys move the picture, plus and minus zoom, 0 shows all, Escape ends a selection.");
  }

  scene.follow((changed) => {
    if (changed.has("level") || changed.has("time")) { hover = -1; tip.hidden = true; }
    if (changed.has("axes")) { frame.reset(); fit(); }
    if (changed.has("axes") || changed.has("level")) describe();
    redraw();
  });
  return { fit, redraw };
}
