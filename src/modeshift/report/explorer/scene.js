// What is shown: the bandwidth, the axes, the time of the climb, the points in focus. Every part of
// the explorer follows it, and changes it by `set` only.

export class Scene {
  constructor(data) {
    this.data = data;
    this.level = data.levels ? data.levels.fit : null;
    this.axes = [0, 1];
    this.time = 0; // in frames of the climb
    this.focus = null; // { cluster: label }, or { mask: a 1 for each point } of the lasso
    this.followers = [];
    this.relabel();
    this.replace();
  }

  follow(follower) {
    this.followers.push(follower);
    follower(new Set(["level", "axes", "time", "focus"]));
  }

  set(wanted) {
    const changes = { ...wanted };
    if (changes.time > 0) changes.level = this.fitLevel; // the film is that of the fit
    if ("level" in changes && changes.level !== this.level) {
      changes.time = changes.time || 0;
      if (this.focus && "cluster" in this.focus && !("focus" in changes)) changes.focus = null;
    }
    const changed = new Set(Object.keys(changes).filter((name) => changes[name] !== this[name]));
    Object.assign(this, changes);
    if (changed.has("level")) this.relabel();
    if (changed.has("axes")) this.replace();
    for (const follower of this.followers) follower(changed);
  }

  get fitLevel() { return this.data.levels ? this.data.levels.fit : null; }
  get isFit() { return this.level === this.fitLevel; }
  get step() { return this.data.levels && this.data.levels.steps[this.level]; }
  get isClimbing() { return this.data.climb !== null && this.time > 0; }

  relabel() { // labels of the points at this level, the order of drawing, and sizes
    const { points, levels } = this.data;
    const { n } = points;
    if (this.isFit) this.labels = points.labels;
    else {
      const start = this.step.row * levels.sampled;
      this.labels = new Int32Array(n);
      for (let i = 0; i < n; i++) this.labels[i] = levels.labels[start + levels.nearest[i]];
    }
    let most = -1;
    for (let i = 0; i < n; i++) most = Math.max(most, this.labels[i]);
    this.counts = new Int32Array(most + 2); // of label k at k + 1: noise comes first
    for (let i = 0; i < n; i++) this.counts[this.labels[i] + 1]++;
    const next = new Int32Array(most + 2);
    for (let k = 1; k < next.length; k++) next[k] = next[k - 1] + this.counts[k - 1];
    this.order = new Int32Array(n); // large clusters are drawn first, noise before them
    for (let i = 0; i < n; i++) this.order[next[this.labels[i] + 1]++] = i;
    this.nClusters = most + 1;
    this.means = null;
  }

  replace() { // places on the two axes that are shown: x, y, x, y ...
    const { points, climb } = this.data;
    this.places = this.pairs(points.places);
    if (climb) this.climbPlaces = this.pairs(climb.places);
  }

  pairs(all) {
    const m = all.length / this.data.view.axes.length, [first, second] = this.axes;
    const out = new Uint16Array(2 * m);
    for (let i = 0; i < m; i++) {
      out[2 * i] = all[first * m + i];
      out[2 * i + 1] = all[second * m + i];
    }
    return out;
  }

  size(label) { return this.counts[label + 1]; }

  isInFocus(i) {
    if (this.focus === null) return true;
    return this.focus.mask ? this.focus.mask[i] === 1 : this.labels[i] === this.focus.cluster;
  }

  isClusterShown(label) { return !this.focus || !("cluster" in this.focus) || this.focus.cluster === label; }

  chooseCluster(label) { // a second time: all clusters again
    const same = this.focus && this.focus.cluster === label;
    this.set({ focus: same ? null : { cluster: label } });
  }

  inFocus() { // numbers of the points in focus
    const found = [];
    if (this.focus) for (let i = 0; i < this.data.points.n; i++) if (this.isInFocus(i)) found.push(i);
    return found;
  }

  centers() { // places of the clusters' centres on all axes: those of the fit, or means
    if (this.isFit) return this.data.view.centers;
    if (this.means) return this.means;
    const { points, view } = this.data;
    this.means = Array.from({ length: this.nClusters }, () => new Float64Array(view.axes.length));
    for (let k = 0; k < view.axes.length; k++) {
      for (let i = 0; i < points.n; i++) {
        const label = this.labels[i];
        if (label >= 0) this.means[label][k] += points.places[k * points.n + i] / this.size(label);
      }
    }
    return this.means;
  }

  climberAt(k, time) { // place of climber k, between two frames
    const { points, last } = this.data.climb, m = points.length;
    const frame = Math.min(Math.floor(time), last), share = time - frame;
    const at = 2 * (frame * m + k), next = 2 * (Math.min(frame + 1, last) * m + k);
    return [0, 1].map((c) => this.climbPlaces[at + c] * (1 - share) + this.climbPlaces[next + c] * share);
  }
}
