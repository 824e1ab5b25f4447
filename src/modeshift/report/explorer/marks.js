// Colours and markers of the clusters: each says the same, so that either is enough.

const SHAPES = [circle, upward, square, diamond, downward, plus, cross, star];

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

export class Marks {
  constructor(colours, theme) {
    this.colours = colours;
    this.theme = theme;
    this.nStyles = colours.length * SHAPES.length;
    this.sprites = new Map();
  }

  colour(label) {
    if (label < 0) return this.theme.grey;
    const colour = this.colours[label % this.colours.length];
    return colour === "#000000" ? this.theme.ink : colour; // black is not seen on black
  }

  stamp(c, label, r, fill) { // draw a marker around (0, 0)
    const kind = label < 0 ? label : label % this.nStyles;
    const shape = kind < 0 ? circle : SHAPES[(kind + Math.floor(kind / this.colours.length)) % SHAPES.length];
    c.save();
    c.fillStyle = fill || this.colour(kind);
    c.beginPath();
    shape(c, kind < 0 ? 0.7 * r : r);
    c.restore();
  }

  sprite(label, r, ratio, fill) { // drawing a picture is much faster than drawing a path
    const kind = label < 0 ? -1 : label % this.nStyles, key = `${kind} ${r} ${fill} ${ratio}`;
    if (!this.sprites.has(key)) {
      if (this.sprites.size > 2000) this.sprites.clear();
      const size = Math.ceil(3 * r + 2), picture = document.createElement("canvas");
      picture.width = picture.height = Math.ceil(size * ratio);
      const c = picture.getContext("2d");
      c.scale(ratio, ratio);
      c.translate(size / 2, size / 2);
      this.stamp(c, kind, r, fill);
      this.sprites.set(key, { picture, size });
    }
    return this.sprites.get(key);
  }
}

export function swatch(marks, label) { // a marker for tables
  const { picture } = marks.sprite(label, 5.5, window.devicePixelRatio || 1), node = document.createElement("i");
  if (!picture.address) picture.address = `url(${picture.toDataURL()})`;
  node.className = "swatch";
  node.style.backgroundImage = picture.address;
  return node;
}
