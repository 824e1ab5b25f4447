"use strict";
// A turn is [recording, start, end, speaker]. Merging sets owner[speaker]; turns never change.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a7d00", "#7a4fbf"];
const ROW = 34; // pixels of a speaker
const HEAD = 24; // pixels of the scale of time
const sound = $("sound");
const names = data.speakers.slice();
const owner = data.speakers.map((_, k) => k);
const merges = []; // speakers that were merged, the last one last
let recording = 0;
let range = [0, 1]; // seconds that are shown
let pressed = null; // where a drag began

const colour = (k) => PALETTE[k] ?? `hsl(${(k * 137.5) % 360} 60% 45%)`;
const clock = (seconds) => {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((n) => String(n).padStart(2, "0"));
  return (whole >= 3600 ? [Math.floor(whole / 3600), ...parts] : parts).join(":");
};
const ownerOf = (k) => (owner[k] === k ? k : ownerOf(owner[k]));
const kept = () => names.map((_, k) => k).filter((k) => ownerOf(k) === k);
const turnsHere = () => data.turns.filter((turn) => turn[0] === recording);
const lengthHere = () => {
  const last = turnsHere().reduce((end, turn) => Math.max(end, turn[2]), 1);
  return Number.isFinite(sound.duration) ? Math.max(sound.duration, last) : last;
};

function prepared(canvas, height) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = "13px system-ui, sans-serif";
  return [context, width];
}

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
const toX = (time, width) => ((time - range[0]) / (range[1] - range[0])) * width;
const toTime = (x) => range[0] + (x / $("timeline").clientWidth) * (range[1] - range[0]);

function drawTimeline() {
  const rows = kept();
  const height = HEAD + rows.length * ROW;
  const [context, width] = prepared($("timeline"), height);
  drawScale(context, width, height);
  rows.forEach((speaker, row) => {
    context.fillStyle = colour(speaker);
    for (const [, start, end, k] of turnsHere()) {
      if (ownerOf(k) !== speaker || end < range[0] || start > range[1]) continue;
      const x = toX(start, width);
      context.fillRect(x, HEAD + row * ROW + 6, Math.max(toX(end, width) - x, 1), ROW - 12);
    }
    label(context, names[speaker], 6, HEAD + row * ROW + ROW / 2);
  });
  const now = toX(sound.currentTime, width);
  context.fillStyle = styleOf("--ink");
  context.fillRect(now - 0.75, 0, 1.5, height);
}

function label(context, text, x, y) {
  context.textBaseline = "middle";
  const wide = context.measureText(text).width;
  context.globalAlpha = 0.8;
  context.fillStyle = styleOf("--paper");
  context.fillRect(x - 3, y - 9, wide + 6, 18);
  context.globalAlpha = 1;
  context.fillStyle = styleOf("--ink");
  context.fillText(text, x, y);
}

function drawScale(context, width, height) {
  const steps = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];
  const step = steps.find((s) => toX(range[0] + s, width) >= 80) ?? 14400;
  context.textBaseline = "top";
  for (let k = Math.ceil(range[0] / step); k * step <= range[1]; k++) {
    const x = toX(k * step, width);
    context.fillStyle = styleOf("--line");
    context.fillRect(x, 0, 1, height);
    context.fillStyle = styleOf("--soft");
    const tenths = step < 1 ? `.${Math.round((k * step * 10) % 10)}` : "";
    context.fillText(clock(k * step + 1e-6) + tenths, x + 4, 4);
  }
}

function drawCurve() {
  $("choice").hidden = data.curve.length === 0;
  if (!data.curve.length) return;
  const [context, width] = prepared($("curve"), 230);
  const [left, right, top, bottom] = [40, width - 12, 12, 190];
  const widths = data.curve.map((trial) => Math.log(trial[0]));
  const most = Math.max(...data.curve.map((trial) => trial[2]), 2);
  const low = Math.min(...widths);
  const spread = Math.max(...widths) - low || 1;
  const x = (h) => left + ((Math.log(h) - low) / spread) * (right - left);
  const y = (n) => bottom - (Math.log(n) / Math.log(most)) * (bottom - top);
  context.textBaseline = "middle";
  for (const n of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((n) => n <= most)) {
    context.fillStyle = styleOf("--line");
    context.fillRect(left, y(n), right - left, 1);
    context.fillStyle = styleOf("--soft");
    context.fillText(n, 8, y(n));
  }
  const all = [...new Set(data.curve.map((trial) => trial[0]))].sort((a, b) => a - b);
  context.textAlign = "center";
  for (const h of [all[0], all[Math.floor(all.length / 2)], all[all.length - 1]]) {
    context.fillText(h.toPrecision(2), Math.min(Math.max(x(h), left + 12), right - 12), bottom + 14);
  }
  context.fillText("bandwidth h", (left + right) / 2, bottom + 32);
  context.textAlign = "left";
  for (const k of new Set(data.curve.map((trial) => trial[1]))) {
    const line = data.curve.filter((trial) => trial[1] === k).sort((a, b) => a[0] - b[0]);
    context.strokeStyle = k === data.neighbors ? "#0072b2" : styleOf("--soft");
    context.lineWidth = k === data.neighbors ? 2.5 : 0.8;
    context.beginPath();
    line.forEach(([h, , n], i) => context[i ? "lineTo" : "moveTo"](x(h), y(n)));
    context.stroke();
  }
  const chosen = data.curve.find((trial) => trial[0] === data.bandwidth && trial[1] === data.neighbors);
  if (chosen) {
    context.strokeStyle = styleOf("--ink");
    context.beginPath();
    context.arc(x(chosen[0]), y(chosen[2]), 6, 0, 7);
    context.stroke();
  }
  $("chosen").textContent =
    "One line for each number of neighbours." +
    (chosen
      ? ` Chosen (circle): h = ${chosen[0].toPrecision(3)} and ${chosen[1]} neighbours, ${chosen[2]} speakers.`
      : " None of these answers was taken as it is.");
}

function fillTable() {
  const rows = kept();
  $("speakers").replaceChildren(...rows.map((k) => rowOf(k, rows)));
  $("undo").disabled = merges.length === 0;
  const total = data.turns.reduce((sum, turn) => sum + turn[2] - turn[1], 0);
  $("summary").textContent =
    `${rows.length} speaker${rows.length === 1 ? "" : "s"}, ${clock(total)} of speech` +
    (data.recordings.length > 1 ? `, ${data.recordings.length} recordings` : "");
}

function rowOf(k, rows) {
  const turns = data.turns.filter((turn) => ownerOf(turn[3]) === k);
  const seconds = turns.reduce((sum, turn) => sum + turn[2] - turn[1], 0);
  const swatch = document.createElement("i");
  swatch.style.background = colour(k);
  const name = document.createElement("input");
  name.value = names[k];
  name.setAttribute("aria-label", `Name of ${data.speakers[k]}`);
  name.addEventListener("change", () => {
    names[k] = name.value.trim() || data.speakers[k];
    refresh();
  });
  const hear = document.createElement("button");
  hear.textContent = "▶";
  hear.title = "Hear the longest turn";
  hear.setAttribute("aria-label", `Hear ${names[k]}`);
  hear.disabled = turns.length === 0 || turns.every((turn) => !data.recordings[turn[0]].sound);
  hear.addEventListener("click", () => play(turns.reduce((a, b) => (b[2] - b[1] > a[2] - a[1] ? b : a))));
  const into = document.createElement("select");
  into.setAttribute("aria-label", `Merge ${names[k]} with`);
  into.append(new Option("", ""), ...rows.filter((o) => o !== k).map((o) => new Option(names[o], o)));
  into.addEventListener("change", () => {
    merges.push(k);
    owner[k] = Number(into.value);
    refresh();
  });
  const row = document.createElement("tr");
  for (const parts of [[swatch, name], [clock(seconds)], [turns.length], [hear], [into]]) {
    row.insertCell().append(...parts);
  }
  return row;
}

function play(turn) {
  if (turn[0] !== recording) choose(turn[0]);
  if (!data.recordings[recording].sound) return;
  sound.currentTime = turn[1];
  sound.play().catch(() => {}); // an error of the file is shown by its own event
  drawTimeline();
}

function choose(number) {
  recording = number;
  $("recording").value = number;
  $("message").textContent = "";
  const { sound: link, name } = data.recordings[number];
  sound.hidden = !link;
  if (link) sound.src = link;
  document.title = `Speakers of ${name}`;
  $("title").textContent = name;
  range = [0, lengthHere()];
  drawTimeline();
}

function zoom(factor, centre = (range[0] + range[1]) / 2) {
  const whole = lengthHere();
  const width = Math.min(Math.max((range[1] - range[0]) * factor, 0.5), whole);
  const share = (centre - range[0]) / (range[1] - range[0]);
  move(centre - share * width, width);
}

function move(start, width = range[1] - range[0]) {
  const first = Math.min(Math.max(start, 0), lengthHere() - width);
  range = [first, first + width];
  drawTimeline();
}

function turnAt(event) {
  const box = $("timeline").getBoundingClientRect();
  const speaker = kept()[Math.floor((event.clientY - box.top - HEAD) / ROW)];
  const time = toTime(event.clientX - box.left);
  return turnsHere().find(([, start, end, k]) => ownerOf(k) === speaker && start <= time && time <= end);
}

// Turns of one speaker that touch are one, after a merge.
function answer() {
  const joined = [];
  for (const [where, start, end, k] of data.turns) {
    const name = names[ownerOf(k)];
    const before = joined.findLast((turn) => turn[0] === where && turn[3] === name);
    if (before && start <= before[2] + 0.0005) before[2] = Math.max(before[2], end);
    else joined.push([where, start, end, name]);
  }
  return joined;
}

const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const FORMS = {
  rttm: (turns) =>
    turns.map(([where, start, end, name]) => {
      const [file, speaker] = [data.recordings[where].name, name].map((t) => t.replace(/\s+/g, "_"));
      return `SPEAKER ${file} 1 ${start.toFixed(3)} ${(end - start).toFixed(3)} <NA> <NA> ${speaker} <NA> <NA>`;
    }),
  csv: (turns) => [
    "recording,start,end,speaker",
    ...turns.map(([where, start, end, name]) =>
      [quoted(data.recordings[where].name), start.toFixed(3), end.toFixed(3), quoted(name)].join(",")),
  ],
  txt: (turns) =>
    turns
      .filter((turn) => turn[0] === recording)
      .map(([, start, end, name]) => `${start.toFixed(3)}\t${end.toFixed(3)}\t${name.replace(/\s+/g, " ")}`),
};

function save(form) {
  const text = FORMS[form](answer()).map((line) => `${line}\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${data.recordings[recording].name}.named.${form}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function refresh() {
  fillTable();
  drawTimeline();
}

const timeline = $("timeline");
timeline.addEventListener("pointerdown", (event) => {
  pressed = { x: event.clientX, start: range[0], moved: false };
  timeline.setPointerCapture(event.pointerId);
});
timeline.addEventListener("pointermove", (event) => {
  if (pressed && Math.abs(event.clientX - pressed.x) > 4) pressed.moved = true;
  if (pressed?.moved) {
    move(pressed.start - ((event.clientX - pressed.x) / timeline.clientWidth) * (range[1] - range[0]));
    return;
  }
  const turn = turnAt(event);
  if (turn) {
    $("pointed").textContent = `${names[ownerOf(turn[3])]}: ${turn[1].toFixed(2)} to ${turn[2].toFixed(2)} s`;
  }
});
timeline.addEventListener("pointerup", (event) => {
  const turn = pressed && !pressed.moved ? turnAt(event) : null;
  pressed = null;
  if (turn) play(turn);
});
timeline.addEventListener("wheel", (event) => {
  event.preventDefault();
  const x = event.clientX - timeline.getBoundingClientRect().left;
  zoom(event.deltaY > 0 ? 1.25 : 0.8, toTime(x));
}, { passive: false });
timeline.addEventListener("keydown", (event) => {
  const width = range[1] - range[0];
  const act = {
    "+": () => zoom(0.7),
    "-": () => zoom(1.4),
    ArrowRight: () => move(range[0] + width / 4),
    ArrowLeft: () => move(range[0] - width / 4),
    " ": () => (sound.paused ? sound.play() : sound.pause()),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
sound.addEventListener("timeupdate", () => {
  if (sound.currentTime > range[1] || sound.currentTime < range[0]) move(sound.currentTime);
  drawTimeline();
});
sound.addEventListener("loadedmetadata", () => {
  if (range[0] === 0) range = [0, lengthHere()];
  drawTimeline();
});
sound.addEventListener("error", () => {
  const { sound: link } = data.recordings[recording];
  $("message").textContent =
    `The sound cannot be played: ${decodeURI(link)} is not there, or the browser does not know its format.`;
});
$("recording").append(...data.recordings.map(({ name }, k) => new Option(name, k)));
$("recording").hidden = data.recordings.length < 2;
$("recording").addEventListener("change", () => choose(Number($("recording").value)));
$("closer").addEventListener("click", () => zoom(0.5));
$("farther").addEventListener("click", () => zoom(2));
$("all").addEventListener("click", () => {
  range = [0, lengthHere()];
  drawTimeline();
});
$("undo").addEventListener("click", () => {
  const speaker = merges.pop();
  owner[speaker] = speaker;
  refresh();
});
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => save(button.dataset.save));
}
for (const change of [window, window.matchMedia("(prefers-color-scheme: dark)")]) {
  change.addEventListener(change === window ? "resize" : "change", () => {
    drawTimeline();
    drawCurve();
  });
}
choose(0);
fillTable();
drawCurve();
