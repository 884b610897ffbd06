// The runs of the page, the reader's choices, and the marks and roofs that they select.
import {threads} from "./format.js";

/// The key of a trained step. It is the same on every device and machine.
export const stepKey = (row) => JSON.stringify([row.model, row.batch, row.precision, row.data]);

/// "fp32", and the data if they have a name: "fp32, quickstart-images".
export const precisionAndData = ({precision, data}) =>
    precision + (["-", "synthetic"].includes(data) ? "" : `, ${data}`);

/// The choice of the steps of all models, without layers.
export const allSteps = "*";

/// The initial choice is the step with the largest batch that has layers; all steps where runs have none in common.
export function firstChoices(studies) {
  const rows = studies.flatMap((study) => study.rows);
  const layered = rows.filter(({layers}) => layers.length), known = layered.length ? layered : rows;
  const best = known.reduce((a, b) => (b.batch > (a?.batch ?? -1) ? b : a), null);
  const trained = studies.filter((study) => study.rows.length);
  const isCommon = trained.every((study) => study.rows.some((row) => row.model === best?.model));
  return {
    step: best ? (isCommon ? stepKey(best) : allSteps) : "",
    precision: "",
    model: "",
    level: "",
    find: "",
    hidden: new Set()
  };
}

/// { parts, rows, roofs, number, colour, machine, name, letter, short } of each run: steps on one device, with the same
/// ranks, scaling and threads, under the same roofs; without rows, the roofs of each device. Folders share a run unless
/// they have the same step. `parts`: { study, index } of its studies and their roofs. `name`: where it ran; of GPUs and
/// of several machines whose; the folders if no other run may be named so. `short`: its roofs, with a letter if
/// devices and threads do not tell them apart. `machine`: empty if there is one.
export function runsOf(studies) {
  const runs = [];
  for (const study of studies)
    for (const [index, roofs] of study.roofs.entries()) {
      const rows = study.rows.filter((row) => row.roofs === index);
      if (!rows.length && study.rows.some((row) => row.roofs >= 0)) continue;
      const {device, owner, threads: count, levels, compute} = roofs;
      const same = JSON.stringify([device, owner, count, [...levels, ...compute].map(({median}) => median)]);
      for (const where of rows.length ? distinct(rows.map((row) => row.where)) : [""]) {
        const own = rows.filter((row) => row.where === where);
        const keys = own.map(stepKey);
        const isOne = (run) => run.same === same &&
            (!own.length || !run.where ||
                (run.where === where && !run.rows.some((row) => keys.includes(stepKey(row)))));
        if (!runs.some(isOne)) runs.push({same, roofs, where, parts: [], rows: []});
        const run = runs.find(isOne);
        run.where ||= where;
        run.parts.push({study, index});
        run.rows.push(...own);
      }
    }
  const place = ({device, threads: count}) => (device.startsWith("gpu") ? device : `${device}${threads(count)}`);
  const sets = distinct(runs.map(({same}) => same));
  const roofs = sets.map((same) => runs.find((run) => run.same === same).roofs);
  const tells = [({device}) => device, place].find((text) => distinct(roofs.map(text)).length === sets.length);
  const isOfSeveral = studies.length > 1 && distinct(roofs.map(({owner}) => owner)).length > 1;
  const name = (run) => (run.where || place(run.roofs)) +
      (isOfSeveral || run.roofs.device.startsWith("gpu") ? `, ${run.roofs.owner}` : "");
  const names = runs.map(name);
  return runs.map((run, number) => {
    const letter = tells ? "" : String.fromCharCode(65 + sets.indexOf(run.same) % 26);
    const isAlone = names.filter((other) => other === names[number]).length === 1;
    const folders = run.parts.map(({study}) => study).filter((study) => study.rows.length || !run.where);
    const made = {
      ...run,
      number,
      letter,
      colour: `s${number % 8}${number < 8 ? "" : " again"}`,
      machine: isOfSeveral ? run.roofs.owner : "",
      name: isAlone ? names[number] : `${names[number]}, ${folders.map((study) => study.name).join(" and ")}`,
      short: tells ? tells(run.roofs) : `${letter} ${place(run.roofs)}`
    };
    for (const row of run.rows) row.run = made;
    return made;
  });
}

/// Whether each of the words that the reader searches for is in the name, the kind or the phase.
const isFound = ({name, kind, phase}, {find}) =>
    find.toLowerCase().split(" ").every((word) => `${name} ${kind} ${phase}`.toLowerCase().includes(word));

export const layersShown = (points, choices) =>
    points.filter((point) => point.scope === "layer" && stepKey(point.row) === choices.step && isFound(point, choices));

/// The layers shown, the phases of the chosen step, and the steps of its model and precision.
export function pointsShown(points, choices) {
  const [model, , precision] = choices.step && choices.step !== allSteps ? JSON.parse(choices.step) : [];
  const isShown = ({scope, row}) => {
    if (scope === "step") return choices.step === allSteps || (row.model === model && row.precision === precision);
    return scope === "phase" && !choices.find && stepKey(row) === choices.step;
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
export const knowsLevels = (runs, choices) =>
    runs.some(({points}) => points.some(({scope, row, marks}) => scope === "step" && stepKey(row) === choices.step &&
                      marks.some(({level}) => level)));

/// The roofs that a chart draws: of one precision unless "all" is chosen, of the chosen level if bytes are of one, of
/// the farthest level where several runs share a chart; without those that the reader hid. `trained`: the precisions of
/// all steps.
export function roofsShown(roofs, choices, several = false, trained = []) {
  const own = choices.step && choices.step !== allSteps ? [JSON.parse(choices.step)[2]] : trained;
  const wanted = choices.precision ? [choices.precision] : own;
  const isWanted = (name) => wanted.includes(name.split(" ")[0]);
  const levels = roofs.filter(({slanted, extra}) => slanted && !extra);
  const one = hierarchical(choices) && choices.level ? choices.level : several ? levels.at(-1)?.name : "";
  const known = roofs.some(({name, slanted}) => !slanted && isWanted(name));
  return roofs.filter(({name, slanted, extra}) => {
    if (choices.hidden.has(name)) return false;
    if (slanted) return !one || name === one || (extra && !several);
    if (extra) return wanted[0] === "all" || (/, (lasting|burst)$/.test(name) && isWanted(name));
    return !known || isWanted(name);
  });
}
