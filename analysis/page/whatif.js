// What a faster memory, a faster core or another batch would do to a step. The formula is that of analysis/whatif.hpp, and a
// test holds the two against each other: each layer keeps the share of its roof that it reached, and time that no layer
// accounts for stays as it is.

/// Seconds the roofs allow a piece of work once each roof is multiplied by its factor; `work` has flops executed and bytes.
export function attainableTime(work, roofs, precision, factors) {
  let time = 0;
  for (const level of roofs.levels) time = Math.max(time, work.bytes / (level.median * (factors[level.name] ?? 1)));
  const compute = roofs.compute.find((roof) => roof.precision === precision);
  if (compute) time = Math.max(time, work.flops / (compute.median * (factors[precision] ?? 1)));
  return time;
}

const layersOf = (study, row) => study.points.filter((point) => point.row === row && point.scope === "layer");

const sameSeries = (a, b) =>
  a.model === b.model && a.device === b.device && a.precision === b.precision && a.threads === b.threads && a.data === b.data;

/// Another batch of the same series with the same layers, nearest by ratio; null if there is none.
function secondRow(study, row, count) {
  const others = study.rows.filter((other) => other !== row && other.batch > 0 && other.batch !== row.batch && sameSeries(row, other));
  const apart = (other) => Math.abs(Math.log(other.batch / row.batch));
  return others.sort((a, b) => apart(a) - apart(b)).find((other) => layersOf(study, other).length === count) ?? null;
}

/// FLOPs and bytes are linear in the batch: what is measured at two batches gives them at any other.
function atBatch(layer, other, batch) {
  const share = (batch - layer.row.batch) / (other.row.batch - layer.row.batch);
  const between = (a, b) => Math.max(0, a + (b - a) * share);
  return { flops: between(layer.executed, other.executed), bytes: between(layer.compulsory, other.compulsory) };
}

/// { seconds, least, obstacle }: the step's foretold time and what the roofs allow it. `change` is { factors, batch }; a batch
/// of 0 leaves it as it is.
export function whatIf(study, row, change) {
  const layers = layersOf(study, row);
  if (!layers.length || row.roofs < 0) return { obstacle: "its layers were not measured, or there are no ceilings" };
  const batch = change.batch || row.batch;
  const second = batch === row.batch ? null : secondRow(study, row, layers.length);
  if (batch !== row.batch && !second) return { obstacle: "another batch takes a second measured batch of the same model" };
  const others = second ? layersOf(study, second) : null;
  const roofs = study.roofs[row.roofs];
  let seconds = row.seconds.median;
  let least = 0;
  layers.forEach((layer, i) => {
    const now = { flops: layer.executed, bytes: layer.compulsory };
    const then = others ? atBatch(layer, others[i], batch) : now;
    const before = attainableTime(now, roofs, row.precision, {});
    const after = attainableTime(then, roofs, row.precision, change.factors);
    least += after;
    if (before > 0) seconds += layer.seconds.median * (after / before - 1);
  });
  return { seconds, least, batch, imagesPerSecond: batch / seconds };
}
