// The climb: where points are at a time, their paths, and the clock that plays them.

const SECONDS = 6; // of the whole film, at most 30 frames a second

export function drawPath(c, frame, scene, marks, k, { opacity, until }) {
  const { points } = scene.data.climb, m = points.length, places = scene.climbPlaces;
  c.globalAlpha = opacity;
  c.strokeStyle = marks.colour(scene.labels[points[k]]);
  c.lineWidth = opacity === 1 ? 2 : 1;
  c.beginPath();
  for (let step = 0; step <= Math.floor(until); step++) {
    const at = 2 * (step * m + k);
    c.lineTo(frame.x(places[at]), frame.y(places[at + 1]));
  }
  const [x, y] = scene.climberAt(k, until);
  c.lineTo(frame.x(x), frame.y(y));
  c.stroke();
  c.globalAlpha = 1;
}

export function drawPaths(c, frame, scene, marks, until) {
  const { points } = scene.data.climb, opacity = Math.min(0.5, 150 / points.length);
  points.forEach((i, k) => {
    if (scene.isInFocus(i)) drawPath(c, frame, scene, marks, k, { opacity, until });
  });
}

export function drawClimbers(c, frame, scene, marks) {
  const { points } = scene.data.climb, r = Math.min(Math.max(95 / Math.sqrt(points.length + 1), 2), 5);
  points.forEach((i, k) => {
    if (!scene.isInFocus(i)) return;
    const [x, y] = scene.climberAt(k, scene.time);
    const { picture, size } = marks.sprite(scene.labels[i], r, frame.ratio);
    c.drawImage(picture, frame.x(x) - size / 2, frame.y(y) - size / 2, size, size);
  });
}

export function makePlayer(scene, part) {
  const { climb, view } = scene.data, slider = part("time"), play = part("play");
  part("player").hidden = part("with-paths").hidden = climb === null;
  if (climb === null) return;
  const speed = Math.min(Math.max(climb.last / SECONDS, 2), 30); // frames a second
  slider.max = climb.last;
  let playing = false;

  function clock(time) {
    const frame = Math.round(time), moving = climb.moving[frame];
    if (frame === 0) return "start: the data";
    return `${view.sweep} ${climb.sweeps[frame]} of ${climb.sweeps[climb.last]}` +
      (moving === null ? "" : `, ${moving.toLocaleString("en")} moving`);
  }

  function setPlaying(wanted) {
    playing = wanted;
    play.textContent = playing ? "❚❚ Pause" : "▶ Play";
    if (!playing) return;
    if (scene.time >= climb.last) scene.set({ time: 0 });
    let before = performance.now();
    const tick = (now) => {
      if (!playing || !play.isConnected) return;
      const time = Math.min(scene.time + Math.max(now - before, 0) / 1000 * speed, climb.last);
      before = now;
      scene.set({ time });
      if (time >= climb.last) setPlaying(false);
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  play.onclick = () => setPlaying(!playing);
  slider.addEventListener("input", () => {
    setPlaying(false);
    scene.set({ time: Number(slider.value) });
  });
  scene.follow((changed) => {
    if (changed.has("level") && !scene.isFit) setPlaying(false);
    if (!changed.has("time")) return;
    slider.value = scene.time;
    const text = clock(scene.time);
    part("clock").textContent = text;
    slider.setAttribute("aria-valuetext", text);
  });
}
