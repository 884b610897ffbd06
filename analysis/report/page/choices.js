// The runs of the page, the reader's choices, and the points that they select.
import {threads} from "./format.js";

/// The key of a trained step. It is the same on every device and machine.
export const stepKey = (row) => JSON.stringify([row.model, row.batch, row.precision, row.data]);

/// The initial choice is the step with the largest batch that has layers.
export function firstChoices(studies) {
  const rows = studies.flatMap((study) => study.rows);
  const layered = new Set(
      studies.flatMap((study) => study.points).filter((point) => point.scope === "layer").map((point) => point.row));
  const known = layered.size ? rows.filter((row) => layered.has(row)) : rows;
  const best = known.reduce((a, b) => (b.batch > (a?.batch ?? -1) ? b : a), null);
  return {
    step: best ? stepKey(best) : "",
    precision: "",
    model: "",
    level: "",
    phase: "",
    kind: "",
    share: 1,
    overlay: "",
    hidden: new Set()
  };
}

/// One chart for each machine, device and thread count of the rows; for all devices if there are no rows.
export function chartsOf(studies) {
  return studies.flatMap((study) => {
    const used = study.roofs.map((roofs, index) => ({study, roofs, index}))
                     .filter(({index}) => study.rows.some((row) => row.roofs === index));
    return used.length ? used : study.roofs.map((roofs, index) => ({study, roofs, index}));
  });
}

/// { study, roofs, index, number, name, short } for each chart: `index` of the roofs in the study, `number` of the run
/// on the page. The name of a GPU has its model, that of a CPU its machine where there are several; the short one, for
/// labels, is the device if that tells them apart.
export function runsOf(studies) {
  const runs = chartsOf(studies);
  const devices = distinct(runs.map(({roofs}) => roofs.device));
  const place = ({device, threads: count}) => (device.startsWith("gpu") ? device : `${device}, ${threads(count)}`);
  const name = ({study, roofs}) => {
    if (studies.length > 1) return `${study.name} on ${roofs.owner}: ${place(roofs)}`;
    return roofs.device.startsWith("gpu") ? `${roofs.device}, ${roofs.owner}` : place(roofs);
  };
  return runs.map((run, number) => ({
    ...run,
    number,
    name: name(run),
    short: devices.length === runs.length ? run.roofs.device :
                                            `${String.fromCharCode(65 + number % 26)} ${place(run.roofs)}`
  }));
}

const passes = (point, choices) =>
    (!choices.phase || point.phase === choices.phase) && (!choices.kind || point.kind === choices.kind);

/// The filtered layers of the chosen step, longest first, up to `share` of their time; its phases; and `whole`, the
/// seconds that areas are relative to.
export function pointsShown(points, choices) {
  const passing =
      points.filter((point) => point.scope !== "step" && stepKey(point.row) === choices.step && passes(point, choices));
  const layers = passing.filter((point) => point.scope === "layer").sort((a, b) => b.seconds.median - a.seconds.median);
  const total = layers.reduce((sum, point) => sum + point.seconds.median, 0);
  let sum = 0;
  const kept = layers.filter((point) => {
    const keep = sum < choices.share * total * (1 - 1e-12) || choices.share === 1;
    sum += point.seconds.median;
    return keep;
  });
  const phases = choices.kind ? [] : passing.filter((point) => point.scope === "phase");
  return {layers: kept, phases, whole: passing[0]?.row.seconds.median ?? 0};
}

/// The steps of the chosen model and precision, a list for each source of images, by growing batch.
export function stepsShown(points, choices) {
  if (!choices.step) return [];
  const [model, , precision] = JSON.parse(choices.step);
  const lists = new Map();
  for (const point of points) {
    if (point.scope !== "step" || point.row.model !== model || point.row.precision !== precision) continue;
    lists.set(point.row.data, [...(lists.get(point.row.data) ?? []), point]);
  }
  return [...lists.values()].map((list) => list.sort((a, b) => a.row.batch - b.row.batch));
}

export const distinct = (values) => [...new Set(values)].filter(Boolean);

export const hierarchical = (choices) => choices.model === "hierarchical";

/// The levels at which a point is drawn. Cache-aware: once, at the intensity of its compulsory bytes. Hierarchical:
/// once for each level, at the bytes that it moves there, or at the chosen level alone.
export function levelsOf(point, choices) {
  if (!hierarchical(choices)) return point.levels.slice(-1);
  return choices.level ? point.moved.filter(({name}) => name === choices.level) : point.moved;
}

/// Whether the bytes of each level are known for the chosen step; else the hierarchical model has nothing to draw.
export const knowsLevels = (points, choices) =>
    points.some((point) => point.scope === "step" && stepKey(point.row) === choices.step && point.moved.length > 0);

/// How the bytes of the levels are known, and which levels are the same for every layer shown.
export function levelRemark(points) {
  const shown = points.filter((point) => point.moved.length);
  const sources = distinct(shown.flatMap((point) => point.moved.map(({known}) => known)));
  const same = [];
  const names = shown[0]?.moved.map(({name}) => name) ?? [];
  for (let i = 1; i < names.length; ++i)
    if (shown.every(({moved}) => moved[i]?.low === moved[i - 1]?.low))
      same.push(`${names[i]} has the same bytes as ${names[i - 1]}`);
  return `Bytes of each level: ${sources.join(", ")}.${same.length ? ` ${same.join(", ")}.` : ""}`;
}

/// The roofs that a chart draws: of one precision unless "all" is chosen, of the chosen level if bytes are of one, of
/// the farthest level where several runs share a chart; without those that the reader hid.
export function roofsShown(roofs, choices, several = false) {
  const own = choices.step ? JSON.parse(choices.step)[2] : "";
  const precision = choices.precision || own;
  const is = (roof) =>
      (precision === "all" || !precision || roof.precision === precision) && !choices.hidden.has(roofName(roof));
  const compute = roofs.compute.filter(is);
  const one = hierarchical(choices) && choices.level ? choices.level : several ? roofs.levels.at(-1)?.name : "";
  return {
    ...roofs,
    levels: roofs.levels.filter((level) => !choices.hidden.has(level.name) && (!one || level.name === one)),
    compute: compute.length || choices.hidden.size ? compute : roofs.compute,
    mixes: precision === "all" ? (roofs.mixes ?? []).filter(is) : []
  };
}

export const roofName = (roof) => roof.name ?? `${roof.precision} ${roof.operation}`;
