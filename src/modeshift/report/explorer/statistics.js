// Mean and standard deviation of each feature in each group of points.

export function statistics(points, groupOf, nGroups) {
  const { n, values, names } = points, d = names.length;
  const sizes = new Float64Array(nGroups), means = new Float64Array(nGroups * d), spreads = new Float64Array(nGroups * d);
  for (let i = 0; i < n; i++) if (groupOf[i] >= 0) sizes[groupOf[i]]++;
  for (let i = 0; i < n; i++) {
    const g = groupOf[i];
    if (g >= 0) for (let k = 0; k < d; k++) means[g * d + k] += values[i * d + k] / sizes[g];
  }
  for (let i = 0; i < n; i++) {
    const g = groupOf[i];
    if (g >= 0) for (let k = 0; k < d; k++) spreads[g * d + k] += (values[i * d + k] - means[g * d + k]) ** 2 / sizes[g];
  }
  return { means, spreads: spreads.map(Math.sqrt) };
}
