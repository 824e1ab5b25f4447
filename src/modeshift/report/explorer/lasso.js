// A line drawn around points: those inside come into focus.

export class Lasso {
  constructor(scene, frame) {
    Object.assign(this, { scene, frame, line: [] });
  }

  begin(x, y) {
    this.scene.set({ time: 0 }); // points are chosen where the data are
    this.line = [[x, y]];
  }

  add(x, y) { this.line.push([x, y]); }

  forget() { this.line = []; }

  end() {
    const { scene, frame, line } = this, n = scene.data.points.n, mask = new Uint8Array(n);
    const xs = line.map(([x]) => x), ys = line.map(([, y]) => y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    let some = false;
    for (let i = 0; i < n; i++) {
      const x = frame.x(scene.places[2 * i]), y = frame.y(scene.places[2 * i + 1]);
      if (x < left || x > right || y < top || y > bottom || !isWithin(line, x, y)) continue;
      mask[i] = 1;
      some = true;
    }
    scene.set({ focus: some ? { mask } : null });
  }

  draw(c, theme) {
    if (this.line.length < 2) return;
    c.beginPath();
    for (const [x, y] of this.line) c.lineTo(x, y);
    c.closePath();
    c.globalAlpha = 0.12;
    c.fillStyle = c.strokeStyle = theme.accent;
    c.fill();
    c.globalAlpha = 1;
    c.lineWidth = 1.5;
    c.stroke();
  }
}

function isWithin(line, x, y) { // a ray from the place crosses the closed line an odd number of times
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [xi, yi] = line[i], [xj, yj] = line[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
