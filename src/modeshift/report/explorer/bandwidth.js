// The slider of the bandwidth, below the tree of clusters and the score over the same axis.

import { make, makeDrawn } from "./elements.js";

const LEFT = 46, RIGHT = 16; // pixels beside the axis; the style gives the slider the same
const TREE = [10, 138], SCORE = [156, 226], HEIGHT = 252; // from top to bottom
const LINES = [["score", "score"], ["apart", "set apart"], ["persistence", "persistence"]];

export function makeBandwidth(scene, part, look, take) {
  const { levels } = scene.data;
  part("bandwidth").hidden = levels === null;
  part("given").hidden = levels !== null;
  if (levels === null) return { fit() {} };
  const { steps, tree } = levels, chart = part("chart"), slider = part("level");
  const last = steps.length - 1;
  let width = 0;

  const x = (level) => LEFT + (last ? level / last : 0.5) * (width - LEFT - RIGHT);
  const highest = Math.max(1, ...tree.place);
  const y = (place) => TREE[0] + (place / highest) * (TREE[1] - TREE[0]);
  const scoreY = (value) => SCORE[1] - Math.min(value, 1) * (SCORE[1] - SCORE[0]);

  function drawTree(chart) { // a line for each cluster; where it splits, its children begin
    tree.parent.forEach((_, k) => {
      const children = tree.parent.flatMap((parent, child) => (parent === k ? [child] : []));
      const from = children.length ? Math.max(...children.map((child) => tree.high[child])) : tree.low[k] - 0.5;
      const thick = { "stroke-width": 1 + 6 * tree.share[k] };
      makeDrawn("line", { x1: x(from), x2: x(tree.high[k]), y1: y(tree.place[k]), y2: y(tree.place[k]), class: "branch", ...thick }, chart);
      if (children.length < 1) return;
      const ends = [tree.place[k], ...children.map((child) => tree.place[child])];
      makeDrawn("line", { x1: x(from), x2: x(from), y1: y(Math.min(...ends)), y2: y(Math.max(...ends)), class: "joint" }, chart);
    });
  }

  function drawScores(chart) {
    makeDrawn("line", { x1: LEFT, x2: width - RIGHT, y1: SCORE[1], y2: SCORE[1], class: "joint" }, chart);
    LINES.forEach(([key]) => {
      const line = steps.flatMap((step, level) => (step.row === null ? [] : [`${x(level)},${scoreY(step[key])}`]));
      makeDrawn("polyline", { points: line.join(" "), class: key }, chart);
    });
    const tick = Math.max(1, Math.ceil((last * 56) / Math.max(width - LEFT - RIGHT, 1)));
    for (let level = 0; level <= last; level += tick) {
      makeDrawn("text", { x: x(level), y: HEIGHT - 8, "text-anchor": "middle" }, chart, steps[level].name.replace("h = ", ""));
    }
    for (const [text, [top, bottom]] of [["clusters", TREE], ["score", SCORE]]) {
      const middle = (top + bottom) / 2;
      makeDrawn("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, chart, text);
    }
    for (const [value, text] of [[0, "0"], [1, "1"]]) {
      makeDrawn("text", { x: LEFT - 14, y: scoreY(value) + 4, "text-anchor": "end" }, chart, text);
    }
  }

  function drawAll() {
    chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    chart.setAttribute("height", HEIGHT);
    chart.replaceChildren();
    for (const level of levels.marked) {
      makeDrawn("line", { x1: x(level), x2: x(level), y1: TREE[0], y2: SCORE[1], class: "marked" }, chart);
    }
    drawTree(chart);
    drawScores(chart);
    makeDrawn("g", { class: "cut" }, chart);
    drawCut();
  }

  function drawCut() { // what the bandwidth cuts: the clusters, in their colours
    const cut = chart.querySelector(".cut");
    if (!cut) return;
    cut.replaceChildren();
    const at = x(scene.level);
    makeDrawn("line", { x1: at, x2: at, y1: TREE[0] - 8, y2: SCORE[1], class: "cursor" }, cut);
    for (const [node, label] of tree.cuts[scene.level]) {
      if (label < 0 || !scene.isClusterShown(label)) continue;
      const fill = look.marks.colour(label);
      makeDrawn("circle", { cx: at, cy: y(tree.place[node]), r: 4.5, fill, class: "crossing" }, cut);
    }
    if (scene.step.row !== null) makeDrawn("circle", { cx: at, cy: scoreY(scene.step.score), r: 4, class: "at-score" }, cut);
  }

  function describe() {
    const { step } = scene, text = `${step.text}${scene.isFit ? " (the fit)" : ""}`;
    slider.value = scene.level;
    slider.setAttribute("aria-valuetext", text);
    part("level-text").textContent = text;
    part("level-more").textContent = scene.isFit || !step.small ? "" :
      `${(100 * step.small).toFixed(1)} % of the points are in very small clusters.`;
    part("take").textContent = `Take ${step.name}`;
    part("taken").hidden = true;
    for (const button of part("marked").children) {
      button.setAttribute("aria-pressed", String(Number(button.value) === scene.level));
    }
  }

  slider.max = last;
  slider.addEventListener("input", () => scene.set({ level: Number(slider.value) }));
  for (const level of levels.marked) {
    const text = `${steps[level].text.replace("h = ", "")}${level === levels.fit ? " (the fit)" : ""}`;
    const button = make("button", text, part("marked"));
    Object.assign(button, { type: "button", value: level, onclick: () => scene.set({ level }) });
  }
  for (const [key, name] of LINES) make("span", name, part("legend"), key);
  part("level-note").textContent = levels.note;
  const slide = (event) => {
    if (event.type === "pointermove" && event.buttons !== 1) return;
    const share = (event.clientX - chart.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
    scene.set({ level: Math.round(Math.min(Math.max(share, 0), 1) * last) });
    event.preventDefault();
  };
  chart.addEventListener("pointerdown", slide);
  chart.addEventListener("pointermove", slide);
  part("take").onclick = () => {
    take(scene.level);
    part("code").textContent = scene.step.code;
    part("taken").hidden = false;
  };
  part("copy-code").onclick = () => look.copy(scene.step.code, part("copied-code"));
  scene.follow((changed) => {
    if (changed.has("level")) describe();
    if (changed.has("level") || changed.has("focus")) drawCut();
  });
  return {
    fit() {
      if (chart.clientWidth === width) return drawCut();
      width = chart.clientWidth;
      drawAll();
    },
  };
}
