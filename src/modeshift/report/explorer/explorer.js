// The explorer of a fit. `render` fills an element for a notebook, `show` on a page without Python.
//
// `model` is that of anywidget, or like it: get(name), set(name, value), save_changes(), send(message).
//   content          what is shown
//   selected         rows of the points that are chosen
//   { take: level }  message: the reader takes the bandwidth of a step of the slider

import { makeBandwidth } from "./bandwidth.js";
import { makePlayer } from "./climb.js";
import { makeClusters } from "./clusters.js";
import { make } from "./elements.js";
import { Marks } from "./marks.js";
import { makePicture } from "./picture.js";
import { Scene } from "./scene.js";
import { makeSelection } from "./selection.js";
import { readTheme, whenThemeChanges } from "./theme.js";
import { unpack } from "./unpack.js";

const HTML = `
  <section class="picture" aria-label="Picture of the points">
    <div class="stage">
      <canvas data-part="canvas" tabindex="0" role="img"></canvas>
      <div data-part="tip" class="tip" hidden></div>
      <div class="tools" role="group" aria-label="Tools of the picture">
        <button type="button" data-part="lasso" aria-pressed="false" title="Draw around points (or hold Shift)">lasso</button>
        <button type="button" data-part="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" data-part="zoom-out" aria-label="Zoom out" title="Zoom out (−)">−</button>
        <button type="button" data-part="zoom-all" aria-label="Show all" title="Show all (0)">all</button>
      </div>
    </div>
    <div class="line" data-part="player">
      <button type="button" data-part="play">▶ Play</button>
      <input type="range" data-part="time" min="0" value="0" step="0.01" aria-label="Time of the climb">
      <span data-part="clock" class="clock"></span>
    </div>
    <div class="line">
      <label data-part="with-paths"><input type="checkbox" data-part="paths"> paths</label>
      <label><input type="checkbox" data-part="centers" checked> centres</label>
      <label data-part="across">across <select data-part="axis-x"></select></label>
      <label data-part="up">up <select data-part="axis-y"></select></label>
      <span data-part="stretched" class="note">The axes have different scales.</span>
    </div>
    <p data-part="view-note" class="note"></p>
  </section>
  <div class="beside">
    <section data-part="bandwidth" class="bandwidth" aria-label="Bandwidth">
      <h2>Bandwidth</h2>
      <p class="now"><strong data-part="level-text"></strong> <span data-part="level-more" class="note"></span></p>
      <svg data-part="chart" class="chart" role="img" aria-label="Tree of the clusters, and the score, over the bandwidth"></svg>
      <input type="range" data-part="level" class="level" min="0" step="1" aria-label="Bandwidth">
      <p data-part="legend" class="legend" aria-hidden="true"></p>
      <div class="line" data-part="marked" role="group" aria-label="Bandwidths worth a look"></div>
      <div class="line"><button type="button" data-part="take" class="take"></button></div>
      <div data-part="taken" role="status" hidden>
        <p data-part="taken-note" class="note"></p>
        <pre data-part="code"></pre>
        <div class="line"><button type="button" data-part="copy-code">Copy</button><span data-part="copied-code" class="note"></span></div>
      </div>
      <p data-part="level-note" class="note"></p>
    </section>
    <p data-part="given" class="note">The bandwidth of this fit was given. With <code>bandwidth=None</code> it is
      chosen, and there is a slider here.</p>
    <section aria-label="Clusters">
      <h2>Clusters</h2>
      <p data-part="cluster-note" class="note"></p>
      <div class="scroll" tabindex="0" role="group" aria-label="Table of the clusters"><table data-part="cluster-table"></table></div>
      <p data-part="cluster-rest" class="note"></p>
    </section>
  </div>
  <section class="selection" aria-label="Points">
    <h2>Points</h2>
    <p data-part="no-selection" class="note">Choose a cluster in the table or click one of its points, or draw around points
      with the lasso. They are listed here.</p>
    <p data-part="selected-text" role="status"></p>
    <div data-part="selected" hidden>
      <div class="line">
        <button type="button" data-part="copy">Copy</button>
        <button type="button" data-part="clear">Show all points</button>
        <span data-part="copied" class="note" role="status"></span>
      </div>
      <div class="scroll" tabindex="0" role="group" aria-label="Table of the points"><table data-part="selected-table"></table></div>
      <p data-part="selected-rest" class="note"></p>
    </div>
  </section>`;

export function render({ model, el }) {
  const root = make("div", null, el, "modeshift-explorer");
  make("div", null, root, "layout").innerHTML = HTML;
  const parts = new Map([...root.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));
  const part = (name) => parts.get(name);
  const data = unpack(model.get("content")), scene = new Scene(data);
  const look = {
    marks: new Marks(data.colours, readTheme(root)),
    nameOf: (i) => (data.points.ids ? data.points.ids[i] : `row ${data.points.rows[i]}`),
    short: (value, digits = 5) => Number(value.toPrecision(digits)).toString(),
    copy: async (text, answer) => {
      try {
        await navigator.clipboard.writeText(text);
        answer.textContent = "Copied.";
      } catch {
        answer.textContent = "The browser does not allow copying here.";
      }
    },
  };

  part("view-note").textContent = data.view.note;
  part("taken-note").textContent = data.taken;
  const picture = makePicture(scene, part, look);
  const bandwidth = makeBandwidth(scene, part, look, (level) => model.send({ take: level }));
  const clusters = makeClusters(scene, part, look);
  makeSelection(scene, part, look, (chosen) => {
    model.set("selected", chosen.map((i) => data.points.rows[i]));
    model.save_changes();
  });
  makePlayer(scene, part);
  makeAxisChoice(scene, part);

  const fit = () => { picture.fit(); bandwidth.fit(); };
  const dress = () => {
    look.marks = new Marks(data.colours, readTheme(root));
    clusters.fill();
    fit();
  };
  let isDressed = root.isConnected; // a notebook puts the element on the page later, and gives it colours there
  const observer = new ResizeObserver(() => {
    if (isDressed) return fit();
    isDressed = root.isConnected;
    if (isDressed) dress();
  });
  observer.observe(root);
  whenThemeChanges(root, dress);
  keepKeys(root);
  return () => observer.disconnect();
}

export function show(content, el) { // nobody hears what is chosen and taken
  render({ model: { get: () => content, set() {}, save_changes() {}, send() {} }, el });
}

function keepKeys(root) { // from a notebook, where 0, arrows and others are commands
  root.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

function makeAxisChoice(scene, part) { // two features are shown both; of more, any two can be chosen
  const { axes } = scene.data.view, selects = [part("axis-x"), part("axis-y")];
  part("across").hidden = part("up").hidden = axes.length < 3;
  selects.forEach((select, k) => {
    axes.forEach((axis, i) => { make("option", axis.name, select).value = i; });
    select.value = k;
    select.onchange = () => scene.set({ axes: selects.map((each) => Number(each.value)) });
  });
}
