// The runs of the page, the reader's choices, and the marks and roofs that they select.
import {threads} from "./format.js";

/// The key of a trained step. It is the same on every device and machine.
export const stepKey = (row) => JSON.stringify([row.model, row.batch, row.precision, row.data]);

/// The choice of the steps of all models, without layers.
export const allSteps = "*";

/// The initial choice is the step with the largest batch that has layers; all steps where runs have none in common.
export function firstChoices(studies) {
  const rows = studies.flatMap((study) => study.rows);
  const layered = new Set(
      studies.flatMap((study) => study.points).filter((point) => point.scope === "layer").map((point) => point.row));
  const known = layered.size ? rows.filter((row) => layered.has(row)) : rows;
  const best = known.reduce((a, b) => (b.batch > (a?.batch ?? -1) ? b : a), null);
  const trained = studies.filter((study) => study.rows.length);
  const isCommon = trained.every((study) => study.rows.some((row) => row.model === best?.model));
  return {
    step: best ? (isCommon ? stepKey(best) : allSteps) : "",
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

/// { parts, roofs, number, name, short } for each machine, device and thread count of the rows; for all devices if
/// there are no rows. `parts`: { study, index } of the studies that have these roofs. The name of a GPU has its model,
/// that of a CPU its machine where there are several; the short one, for labels, is the device if that tells them
/// apart.
export function runsOf(studies) {
  const runs = new Map();
  for (const study of studies) {
    const indices = study.roofs.map((_, index) => index);
    const used = indices.filter((index) => study.rows.some((row) => row.roofs === index));
    for (const index of used.length ? used : indices) {
      const {device, owner, threads: count, levels, compute} = study.roofs[index];
      const same = JSON.stringify([device, owner, count, [...levels, ...compute].map(({median}) => median)]);
      if (!runs.has(same)) runs.set(same, {parts: [], roofs: study.roofs[index]});
      runs.get(same).parts.push({study, index});
    }
  }
  const all = [...runs.values()];
  const devices = distinct(all.map(({roofs}) => roofs.device));
  const place = ({device, threads: count}) => (device.startsWith("gpu") ? device : `${device}${threads(count)}`);
  const name = ({parts, roofs}) => {
    if (studies.length > 1 && all.length > 1)
      return `${parts.map(({study}) => study.name).join(" and ")} on ${roofs.owner}: ${place(roofs)}`;
    return roofs.device.startsWith("gpu") ? `${roofs.device}, ${roofs.owner}` : place(roofs);
  };
  return all.map((run, number) => ({
    ...run,
    number,
    name: name(run),
    short: devices.length === all.length ? run.roofs.device :
                                           `${String.fromCharCode(65 + number % 26)} ${place(run.roofs)}`
  }));
}

/// The layers of the chosen step that pass the filters, longest first, up to `share` of their time.
export function layersShown(points, choices) {
  const layers =
      points
          .filter((point) => point.scope === "layer" && stepKey(point.row) === choices.step &&
                  (!choices.phase || point.phase === choices.phase) && (!choices.kind || point.kind === choices.kind))
          .sort((a, b) => b.seconds.median - a.seconds.median);
  const total = layers.reduce((sum, point) => sum + point.seconds.median, 0);
  let sum = 0;
  return layers.filter((point) => {
    const keep = sum < choices.share * total * (1 - 1e-12) || choices.share === 1;
    sum += point.seconds.median;
    return keep;
  });
}

/// The layers shown, the phases of the chosen step, and the steps of its model and precision.
export function pointsShown(points, choices) {
  const [model, , precision] = choices.step && choices.step !== allSteps ? JSON.parse(choices.step) : [];
  const isShown = ({scope, row, phase}) => {
    if (scope === "step") return choices.step === allSteps || (row.model === model && row.precision === precision);
    return scope === "phase" && !choices.kind && stepKey(row) === choices.step &&
        (!choices.phase || phase === choices.phase);
  };
  return [...layersShown(points, choices), ...points.filter(isShown)];
}

export const distinct = (values) => [...new Set(values)].filter(Boolean);

export const hierarchical = (choices) => choices.model === "hierarchical";

/// Whether a mark is of the chosen model. Cache-aware: one, at the compulsory bytes. Hierarchical: one at each level,
/// at the bytes that it moves there, or at the chosen level alone; of a step at the farthest.
export function isOfModel(mark, point, levels, choices) {
  if (!hierarchical(choices)) return mark.level === "";
  if (choices.level) return mark.level === choices.level;
  return mark.level !== "" && (point.scope === "layer" || mark.level === levels.at(-1)?.name);
}

/// Whether the bytes of each level are known for the chosen step; else the hierarchical model has nothing to draw.
export const knowsLevels = (marks, points, choices) => marks.some((mark) => {
  const point = points.get(mark.key);
  return mark.level && point.scope === "step" && stepKey(point.row) === choices.step;
});

/// The roofs that a chart draws: of one precision unless "all" is chosen, of the chosen level if bytes are of one, of
/// the farthest level where several runs share a chart; without those that the reader hid.
export function roofsShown(roofs, choices, several = false) {
  const own = choices.step && choices.step !== allSteps ? JSON.parse(choices.step)[2] : "";
  const precision = choices.precision || own;
  const levels = roofs.filter(({slanted, extra}) => slanted && !extra);
  const one = hierarchical(choices) && choices.level ? choices.level : several ? levels.at(-1)?.name : "";
  const known = roofs.some(({name, slanted}) => !slanted && name.split(" ")[0] === precision);
  return roofs.filter(({name, slanted, extra}) => {
    if (choices.hidden.has(name)) return false;
    if (slanted) return !one || name === one || (extra && !several);
    if (extra) return precision === "all";
    return precision === "all" || !precision || !known || name.split(" ")[0] === precision;
  });
}
