// The points in focus, to read: how many, their statistics, and their rows.

import { make, makeHead, makeRow } from "./elements.js";
import { statistics } from "./statistics.js";

const MOST_LISTED = 100; // rows on the page; a copy has all

export function makeSelection(scene, part, look, select) {
  const { points, view } = scene.data, { names, values } = points, d = names.length;
  const table = part("selected-table");

  const clusterOf = (i) => (scene.labels[i] < 0 ? "none" : String(scene.labels[i]));
  const row = (i, text) => [look.nameOf(i), clusterOf(i), ...names.map((_, k) => text(values[i * d + k]))];

  function describe(chosen) {
    const count = `${chosen.length.toLocaleString("en")} point${chosen.length === 1 ? "" : "s"}`;
    if ("cluster" in scene.focus) {
      return scene.focus.cluster < 0 ? `${count} in no cluster` : `Cluster ${scene.focus.cluster}: ${count}`;
    }
    const sizes = new Map();
    for (const i of chosen) sizes.set(scene.labels[i], (sizes.get(scene.labels[i]) || 0) + 1);
    const parts = [...sizes].sort((a, b) => b[1] - a[1]).map(([label, size]) =>
      `${size.toLocaleString("en")} ${label < 0 ? "in no cluster" : `of cluster ${label}`}`);
    const more = parts.length > 6 ? `, and ${parts.length - 6} more clusters` : "";
    return `${count} in the lasso: ${parts.slice(0, 6).join(", ")}${more}`;
  }

  function summaryRows(chosen) {
    const group = new Int32Array(points.n).fill(-1);
    const least = new Array(d).fill(Infinity), most = new Array(d).fill(-Infinity);
    for (const i of chosen) {
      group[i] = 0;
      for (let k = 0; k < d; k++) {
        least[k] = Math.min(least[k], values[i * d + k]);
        most[k] = Math.max(most[k], values[i * d + k]);
      }
    }
    const { means, spreads } = statistics(points, group, 1);
    const middle = names.map((_, k) => `${look.short(means[k], 4)} ± ${look.short(spreads[k], 3)}`);
    const rows = [["least", "", ...least.map((value) => look.short(value))], ["most", "", ...most.map((value) => look.short(value))]];
    return view.map ? rows : [["mean ± spread", "", ...middle], ...rows]; // degrees have no mean
  }

  function fill() {
    const chosen = scene.inFocus();
    part("selected").hidden = chosen.length === 0;
    part("no-selection").hidden = chosen.length > 0;
    part("copied").textContent = "";
    table.replaceChildren();
    if (chosen.length === 0) {
      part("selected-text").textContent = "";
      return chosen;
    }
    part("selected-text").textContent = describe(chosen);
    makeHead(table, ["point", "cluster", ...names]);
    const summary = make("tbody", null, table, "summary"), body = make("tbody", null, table);
    for (const cells of summaryRows(chosen)) makeRow(summary, cells);
    for (const i of chosen.slice(0, MOST_LISTED)) makeRow(body, row(i, (value) => look.short(value)));
    part("selected-rest").textContent = chosen.length > MOST_LISTED
      ? `The first ${MOST_LISTED} points are listed; a copy has all ${chosen.length.toLocaleString("en")}.` : "";
    return chosen;
  }

  part("copy").onclick = () => {
    const lines = [["point", "cluster", ...names], ...scene.inFocus().map((i) => row(i, (value) => look.short(value, 7)))];
    look.copy(lines.map((cells) => cells.join("\t")).join("\n"), part("copied"));
  };
  part("clear").onclick = () => scene.set({ focus: null });
  scene.follow((changed) => {
    if (changed.has("focus")) select(fill());
    else if (changed.has("level") && scene.focus) fill();
  });
}
