// The page: the explorer, and the text around it. The script of the explorer stands before this one.

const content = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);

function fillText() {
  document.title = element("title").textContent = content.title;
  element("lead").textContent = content.lead;
  element("command").textContent = content.command;
  element("by-command").hidden = content.command === null;
  element("python").textContent = content.python;
  for (const [name, value] of content.facts) {
    const row = make("div", null, element("fact-list"), value.length > 40 ? "long" : "");
    make("dt", name, row);
    make("dd", value, row);
  }
}

function drawMoving() { // how many points still moved, sweep by sweep
  const counts = content.moving;
  element("moving").hidden = counts.length < 2;
  if (counts.length < 2) return;
  const theme = readTheme(document.body);
  const picture = element("moving-canvas"), c = picture.getContext("2d"), ratio = window.devicePixelRatio || 1;
  const w = picture.clientWidth, h = picture.clientHeight;
  picture.width = w * ratio;
  picture.height = h * ratio;
  c.scale(ratio, ratio);
  const left = 62, right = w - 12, top = 12, bottom = h - 36, most = Math.max(...counts);
  const x = (k) => left + ((right - left) * k) / (counts.length - 1);
  const y = (count) => bottom - ((bottom - top) * count) / most;
  c.font = FONT;
  c.fillStyle = theme.soft;
  c.strokeStyle = theme.line;
  c.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const count of [0, most]) c.fillText(count.toLocaleString("en"), left - 6, y(count));
  c.textAlign = "center";
  c.textBaseline = "top";
  const step = Math.max(1, Math.ceil((counts.length - 1) / 8));
  for (let k = 0; k < counts.length; k += step) c.fillText(k + 1, x(k), bottom + 5);
  c.fillText(content.explorer.view.sweep, (left + right) / 2, bottom + 20);
  c.strokeStyle = theme.accent;
  c.lineWidth = 2;
  c.beginPath();
  counts.forEach((count, k) => c.lineTo(x(k), y(count)));
  c.stroke();
  picture.setAttribute("aria-label", `Points still moving: ${counts[0]} at first, ${counts[counts.length - 1]} at the end`);
  element("moving-note").textContent = content.movingNote;
}

fillText();
document.querySelector("main").hidden = false; // until here there was nothing to see
show(content.explorer, element("explorer"));
drawMoving();
window.addEventListener("resize", drawMoving);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMoving);
