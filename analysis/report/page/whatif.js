// The step time with a faster memory, a faster core or another batch, by the formula of
// analysis/study/steps/whatif.hpp. A test compares the two. Each layer keeps its share of the roof; time outside the
// layers does not change.

import {factorOf} from "./format.js";

/// "B/s" or "FLOP/s" by the name of every roof.
export const unitsOf = (studies) => Object.fromEntries(
    studies.flatMap((study) => study.roofs.flatMap((roofs) => [...roofs.levels.map((level) => [level.name, "B/s"]),
                                                       ...roofs.compute.map((roof) => [roof.precision, "FLOP/s"])])));

/// Parses "DRAM=1.5x,fp32=2TFLOP/s,batch=512" into { factors, rates, batch, wrong }; `wrong` is the first part that is
/// not a change. `units` come from unitsOf().
export function parseChange(text, units) {
  const change = {factors: {}, rates: {}, batch: 0, wrong: ""};
  for (const word of text.split(",").map((part) => part.trim()).filter(Boolean)) {
    const [, name, number, behind] = /^([^=]+)=(\d+(?:\.\d*)?(?:e[+-]?\d+)?)(.*)$/.exec(word) ?? [];
    const value = Number(number);
    const unit = units[name];
    const scale = unit && behind.endsWith(unit) ? factorOf(behind.slice(0, -unit.length).trim()) : 0;
    if (name === "batch" && behind === "" && Number.isInteger(value) && value >= 1)
      change.batch = value;
    else if (unit && behind === "x" && value > 0) {
      change.factors[name] = value;
      delete change.rates[name];
    } else if (scale >= 1 && value > 0) {
      change.rates[name] = value * scale;
      delete change.factors[name];
    } else
      change.wrong ||= word;
  }
  return change;
}

/// The roof under which the work takes longest, and that time in seconds; `work`: a layer, or its FLOPs `executed`, its
/// bytes `compulsory` and its `rates` at the farthest levels. A level set to a rate is a level whose loops all change
/// as its fastest does.
export function bindingRoof(work, roofs, precision, {factors = {}, rates = {}}) {
  const timesOf = (roof, name) => (name in rates ? rates[name] / roof.median : factors[name] ?? 1);
  const times = roofs.levels.slice(roofs.levels.length - work.rates.length)
                    .map((level, i) => (
                             {name: level.name, time: work.compulsory / (work.rates[i] * timesOf(level, level.name))}));
  const compute = roofs.compute.find((roof) => roof.precision === precision);
  if (compute) times.push({name: precision, time: work.executed / (compute.median * timesOf(compute, precision))});
  return times.reduce((a, b) => (b.time > a.time ? b : a), {name: "", time: 0});
}

const sameSeries = (a, b) =>
    a.model === b.model && a.where === b.where && a.precision === b.precision && a.data === b.data;

/// Another batch of the same series with the same layers, nearest by ratio; null if there is none.
function secondRow(study, row, count) {
  const others = study.rows.filter(
      (other) => other !== row && other.batch > 0 && other.batch !== row.batch && sameSeries(row, other));
  const apart = (other) => Math.abs(Math.log(other.batch / row.batch));
  return others.sort((a, b) => apart(a) - apart(b)).find((other) => other.layers.length === count) ?? null;
}

/// The layer at another batch. FLOPs and bytes are linear in the batch, so two measured batches determine them.
function atBatch(layer, other, batch) {
  const share = (batch - layer.row.batch) / (other.row.batch - layer.row.batch);
  const between = (a, b) => Math.max(0, a + (b - a) * share);
  return {
    ...layer,
    executed: between(layer.executed, other.executed),
    compulsory: between(layer.compulsory, other.compulsory)
  };
}

/// { seconds, least, reason }: the predicted step time and the least that the roofs allow. `change` is { factors,
/// rates, batch }; batch 0 keeps the measured batch.
export function whatIf(study, row, change) {
  const {layers} = row;
  if (!layers.length || row.roofs < 0) return {reason: "its layers were not measured, or there are no ceilings"};
  const batch = change.batch || row.batch;
  const second = batch === row.batch ? null : secondRow(study, row, layers.length);
  if (batch !== row.batch && !second)
    return {
      reason:
          "another batch needs a second measured batch of the same model, precision, device and data: sweep over both"
    };
  const others = second ? second.layers : null;
  const roofs = study.roofs[row.roofs];
  if (!roofs.compute.some((roof) => roof.precision === row.precision))
    return {reason: "no compute roof of its precision was measured"};
  let seconds = row.seconds.median;
  let least = 0;
  layers.forEach((layer, i) => {
    const then = others ? atBatch(layer, others[i], batch) : layer;
    const before = bindingRoof(layer, roofs, row.precision, {}).time;
    const after = bindingRoof(then, roofs, row.precision, change).time;
    const taken = layer.seconds.median;
    least += after * (taken > 0 && before > taken ? taken / before : 1);
    if (before > 0) seconds += taken * (after / before - 1);
  });
  return {seconds, least, batch};
}
