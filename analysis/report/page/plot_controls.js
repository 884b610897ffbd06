// The controls of the rooflines: what is drawn, and buttons that hide roofs and runs and zoom.
import {distinct, hierarchical, knowsLevels, roofName, roofsShown, stepKey} from "./choices.js";
import {choice, element, slider} from "./controls.js";
import {percent} from "./format.js";

const optionsOf = (values, any) => [["", any], ...distinct(values).map((value) => [value, value])];

const isNamed = (data) => !["-", "synthetic"].includes(data);
const stepName = (row) =>
    `${row.model}, batch ${row.batch}, ${row.precision}${isNamed(row.data) ? `, ${row.data}` : ""}`;

/// The hierarchical model is off where the bytes of a level are not known; the level belongs to it.
function modelControls(points, roofs, choices, changed) {
  const known = knowsLevels(points, choices);
  if (!known) choices.model = "";
  if (!hierarchical(choices)) choices.level = "";
  const text = `hierarchical: ${known ? "bytes of each level" : "off, bytes of a level unknown"}`;
  const models = [["", "cache-aware: one intensity"], ["hierarchical", text]];
  const model = choice("Model", "choose-model", models, choices.model, changed("model"));
  model.querySelectorAll("option")[1].disabled = !known;
  const levels = optionsOf(roofs.flatMap((one) => one.levels.map(({name}) => name)), "all");
  const level = choice("Level", "choose-level", levels, choices.level, changed("level"));
  level.querySelector("select").disabled = !hierarchical(choices);
  return [model, level];
}

function filters(points, choices, open, changed) {
  const share = {min: 0.05, max: 1, step: 0.05, value: choices.share, text: (v) => `${percent(v)} of the time`};
  const phases = optionsOf(points.map(({phase}) => phase), "all");
  const kinds = optionsOf(points.map(({kind}) => kind), "all");
  return element("details", {class: "filters", open}, element("summary", {}, "Filter layers"),
      choice("Phase", "choose-phase", phases, choices.phase, changed("phase")),
      choice("Kind", "choose-kind", kinds, choices.kind, changed("kind")),
      slider("Longest layers that hold", "choose-share", share, changed("share")));
}

/// `open`: whether the filters are unfolded; `set` gets the name and the value of a choice.
export function choiceControls({studies, runs, choices, open, set}) {
  const changed = (name) => (value) => set(name, value);
  const points = studies.flatMap((study) => study.points);
  const rows = studies.flatMap((study) => study.rows);
  const roofs = runs.map((run) => run.roofs);
  const line = element("p", {class: "controls"});
  if (rows.length) {
    const steps = [...new Map(rows.map((row) => [stepKey(row), stepName(row)]))];
    line.append(choice("Step", "choose-step", steps, choices.step, changed("step")),
        ...modelControls(points, roofs, choices, changed));
  }
  if (runs.length > 1) {
    const plots = [["one", "all runs in one plot"], ["each", "a plot for each run"]];
    line.append(choice("Draw", "choose-overlay", plots, choices.overlay, changed("overlay")));
  }
  const precisions = distinct(roofs.flatMap((one) => one.compute.map(({precision}) => precision)));
  const all = [["", "of its precision"], ["all", "of all precisions"], ...precisions.map((name) => [name, name])];
  line.append(choice("Roofs", "choose-precision", all, choices.precision, changed("precision")));
  if (rows.length) line.append(filters(points, choices, open, changed));
  return line;
}

const hideButton = (hidden, flip, name, text, ...mark) => element("button",
    {type: "button", class: "roof-button", "aria-pressed": String(!hidden.has(name)), onclick: () => flip(name)},
    ...mark, text);

/// A button for each roof hides or shows it. It has the colour of a level where levels have colours.
export function roofButtons({runs, choices, several, flip}) {
  const names = distinct(runs.flatMap(({roofs}) => {
    const shown = roofsShown(roofs, {...choices, hidden: new Set()}, several);
    return [...shown.levels, ...shown.compute, ...shown.mixes].map(roofName);
  }));
  const levels = runs[0]?.roofs.levels.map(({name}) => name) ?? [];
  const coloured = hierarchical(choices) && !choices.level && !several;
  const swatch = (name) =>
      coloured && levels.includes(name) ? [element("i", {class: `s${levels.indexOf(name) % 8}`})] : [];
  return names.map((name) => hideButton(choices.hidden, flip, name, name, ...swatch(name)));
}

/// The same for the runs of a plot of several.
export function runButtons({runs, choices, flip}) {
  const text = ({name, short, roofs}) => (short === roofs.device || short === name ? name : `${short}: ${name}`);
  const buttons = runs.map(
      (run) => hideButton(choices.hidden, flip, run.name, text(run), element("i", {class: `s${run.number % 8}`})));
  return element("p", {class: "controls runs"}, "Runs ", ...buttons);
}

export function zoomButtons(zoom) {
  const press = (text, change) => element("button", {type: "button", onclick: () => zoom(change)}, text);
  return [press("Zoom in", {zoom: 0.7}), press("Zoom out", {zoom: 1 / 0.7}), press("Show all", null)];
}
