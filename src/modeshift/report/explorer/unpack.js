// The content of the explorer with its arrays as numbers.

export const UNIT = 65535; // places are in 65535ths of each axis

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

export function unpack(content) {
  const { points, climb, levels, view } = content;
  const unpackLines = (packed) => ({ points: new Float32Array(bytes(packed.points)), stops: packed.stops });
  const rows = new Int32Array(bytes(points.rows));
  return {
    ...content,
    points: {
      ...points,
      n: rows.length,
      rows,
      labels: new Int32Array(bytes(points.labels)),
      places: new Uint16Array(bytes(points.places)), // axis by axis
      values: new Float32Array(bytes(points.values)),
    },
    climb: climb && {
      ...climb,
      points: new Int32Array(bytes(climb.points)),
      places: new Uint16Array(bytes(climb.places)),
      last: climb.sweeps.length - 1,
    },
    levels: levels && {
      ...levels,
      labels: new Int16Array(bytes(levels.labels)),
      nearest: new Uint16Array(bytes(levels.nearest)),
    },
    view: {
      ...view,
      map: view.map && { ...view.map, land: unpackLines(view.map.land), lines: unpackLines(view.map.lines) },
    },
  };
}
