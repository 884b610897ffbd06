// The controls of the rooflines: what is drawn, buttons that hide roofs and runs and zoom, and the key.
import {allSteps, distinct, hierarchical, knowsLevels, precisionAndData, roofsShown, stepKey} from "./choices.js";
import {choice, element, slider} from "./controls.js";
import {shapeOf, svg} from "./figure.js";
import {percent} from "./format.js";

const optionsOf = (values, any) => [["", any], ...distinct(values).map((value) => [value, value])];

const stepName = (row) => `${row.model}, batch ${row.batch}, ${precisionAndData(row)}`;

/// The hierarchical model is off where the bytes of a level are not known; the level belongs to it.
function modelControls({runs, points, marks, choices}, changed) {
  const known = knowsLevels(marks, points, choices);
  if (!known) choices.model = "";
  if (!hierarchical(choices)) choices.level = "";
  const words = `hierarchical: ${known ? "bytes of each level" : "off, bytes of a level unknown"}`;
  const models = [["", "cache-aware: one intensity"], ["hierarchical", words]];
  const model = choice("Model", "choose-model", models, choices.model, changed("model"));
  model.querySelectorAll("option")[1].disabled = !known;
  const levels = optionsOf(runs.flatMap(({roofs}) => roofs.levels.map(({name}) => name)), "all");
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
export function choiceControls(parts) {
  const {studies, runs, points, choices, open, set} = parts;
  const changed = (name) => (value) => set(name, value);
  const rows = studies.flatMap((study) => study.rows);
  const controls = element("p", {class: "controls"});
  if (rows.length) {
    const steps = [...new Map(rows.map((row) => [stepKey(row), stepName(row)]))];
    if (steps.length > 1) steps.push([allSteps, "all steps"]);
    controls.append(
        choice("Step", "choose-step", steps, choices.step, changed("step")), ...modelControls(parts, changed));
  }
  if (runs.length > 1) {
    const plots = [["one", "all runs in one plot"], ["each", "a plot for each run"]];
    controls.append(choice("Draw", "choose-overlay", plots, choices.overlay, changed("overlay")));
  }
  const precisions = distinct(runs.flatMap(({roofs}) => roofs.compute.map(({precision}) => precision)));
  const all = [["", "of its precision"], ["all", "of all precisions"], ...precisions.map((name) => [name, name])];
  controls.append(choice("Roofs", "choose-precision", all, choices.precision, changed("precision")));
  if (rows.length) controls.append(filters([...points.values()], choices, open, changed));
  return controls;
}

const hideButton = (hidden, flip, name, words, ...mark) => element("button",
    {type: "button", class: "roof-button", "aria-pressed": String(!hidden.has(name)), onclick: () => flip(name)},
    ...mark, words);

/// A button for each roof hides or shows it. It has the colour of a level where levels have colours.
export function roofButtons({runs, choices, several, flip}) {
  const names = distinct(runs.flatMap(
      ({figure}) => roofsShown(figure.roofs, {...choices, hidden: new Set()}, several).map(({name}) => name)));
  const levels = runs[0]?.roofs.levels.map(({name}) => name) ?? [];
  const coloured = hierarchical(choices) && !choices.level && !several;
  const swatch = (name) =>
      coloured && levels.includes(name) ? [element("i", {class: `s${levels.indexOf(name) % 8}`})] : [];
  return names.map((name) => hideButton(choices.hidden, flip, name, name, ...swatch(name)));
}

/// The same for the runs of a plot of several.
export function runButtons({runs, choices, flip}) {
  const words = ({name, letter}) => (letter ? `${letter}: ${name}` : name);
  const buttons =
      runs.map((run) => hideButton(choices.hidden, flip, run.name, words(run), element("i", {class: run.colour})));
  return element("p", {class: "controls runs"}, "Runs ", ...buttons);
}

export function zoomButtons(zoom) {
  const press = (words, change) => element("button", {type: "button", onclick: () => zoom(change)}, words);
  return [
    press("Zoom in", {zoom: 0.7}), press("Zoom out", {zoom: 1 / 0.7}), press("Show all", {all: true}),
    press("First view", null)
  ];
}

const swatchOf = (shape, look, r = 5) => svg("svg", {width: 2 * r + 4, height: 2 * r + 4, "aria-hidden": "true"},
    svg("g", {class: `mark ${look}`}, shapeOf(shape, r, [r + 2, r + 2])));

/// Shapes and areas of a roofline, and its colours where they are phases.
export function phaseKey(isColoured) {
  const look = (phase, kind) => (isColoured ? `${phase} ${kind}` : kind);
  return element("p", {class: "legend"},
      ...["forward", "backward", "update"].flatMap(
          (phase, shape) => [swatchOf(shape, look(phase, "dot")), `${phase} `]),
      "Area: share of the step ",
      ...[0.01, 0.1, 0.3].flatMap(
          (share) => [swatchOf(0, look("forward", "dot"), 26 * Math.sqrt(share)), `${100 * share}% `]),
      swatchOf(0, "step"), "a step at its least bytes, its line to the most ", swatchOf(1, look("backward", "outline")),
      "a whole phase ", swatchOf(0, look("forward", "hollow")), "above the slanted roof. Arrow: outside.");
}

/// `figure`: with a legend of series.
export const seriesKey = ({legend}) =>
    element("p", {class: "legend"}, ...legend.flatMap(([shape, look, name]) => [swatchOf(shape, look), `${name} `]));

export function questions() {
  const answer = (question, words) => [element("dt", {}, question), element("dd", {}, words)];
  return element("details", {id: "questions"}, element("summary", {}, "How to read this"),
      element("dl", {},
          ...answer("roof",
              "The highest rate measured here: slanted for the bytes of a memory level, flat for the FLOPs of a " +
                  "precision. The lowest above a point limits it; the selected point's own is drawn. Bands: 95% intervals."),
          ...answer("cache-aware", "One intensity for all levels: FLOPs over compulsory bytes."),
          ...answer("hierarchical",
              "A mark at each level, at the bytes that it moves: counted, or the least that the nearer memory " +
                  "allows."),
          ...answer("unexplained",
              "Below half of its roof: latency, launches and waiting are in the time, not in the roofs."),
          ...answer("fp32 or DRAM (93 / 7%)", "Neither binds in 95% of the resampled calibrations."),
          ...answer("mouse and keys",
              "Ctrl and wheel zoom, dragging moves, a double click shows the first view. Arrows explain points, Enter selects.")));
}
