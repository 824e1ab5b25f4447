// The table of the clusters. A row chooses its cluster.

import { make, makeHead, makeRow } from "./elements.js";
import { swatch } from "./marks.js";
import { statistics } from "./statistics.js";

const MOST_CLUSTERS = 50; // rows, so that the table keeps up with the slider

export function makeClusters(scene, part, look) {
  const { clusters, points, view } = scene.data, table = part("cluster-table");

  function contentNow() { // of the fit as it was summarized, of another level as its points are
    if (scene.isFit) return clusters;
    const rows = [], names = view.map ? [] : points.names; // degrees have no mean across the date line
    const { means, spreads } = statistics(points, scene.labels, scene.nClusters);
    for (let label = 0; label < Math.min(scene.nClusters, MOST_CLUSTERS); label++) {
      const at = label * points.names.length;
      rows.push({ label, size: scene.size(label), values: names.map((_, k) => [means[at + k], spreads[at + k]]) });
    }
    const more = scene.nClusters - rows.length;
    return {
      features: names,
      rows,
      total: points.n,
      note: names.length ? "Mean ± standard deviation of the points." : "",
      rest: more > 0 ? `${more.toLocaleString("en")} smaller clusters are not listed.` : "",
    };
  }

  function fill() {
    const { features, rows, total, note, rest } = contentNow(), { short } = look;
    table.replaceChildren();
    makeHead(table, ["cluster", "points", "share", "", ...features]);
    const body = make("tbody", null, table), largest = rows.length ? rows[0].size : 1;
    for (const { label, size, values } of rows) {
      const button = document.createElement("button"), bar = document.createElement("span");
      Object.assign(button, { type: "button", value: label });
      button.append(swatch(look.marks, label), String(label));
      bar.className = "bar";
      bar.style.width = `${(2.4 * size) / largest}rem`;
      const row = makeRow(body, [
        button, size.toLocaleString("en"), `${((100 * size) / total).toFixed(1)} %`, bar,
        ...values.map(([middle, spread]) => (spread === null ? short(middle, 5) : `${short(middle, 4)} ± ${short(spread, 3)}`)),
      ]);
      row.onclick = () => scene.chooseCluster(label);
    }
    part("cluster-note").textContent = `Choose a cluster to see only its points. ${note}`;
    part("cluster-rest").textContent = rest;
  }

  function mark() {
    const chosen = scene.focus && "cluster" in scene.focus ? scene.focus.cluster : null;
    for (const button of table.querySelectorAll("button")) {
      const isChosen = Number(button.value) === chosen;
      button.setAttribute("aria-pressed", String(isChosen));
      button.closest("tr").classList.toggle("chosen", isChosen);
    }
  }

  scene.follow((changed) => {
    if (changed.has("level")) fill();
    if (changed.has("level") || changed.has("focus")) mark();
  });
  return { fill() { fill(); mark(); } };
}
