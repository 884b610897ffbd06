// The controls of the rooflines: what is drawn, switches of roofs, runs and zoom, and the legend.
import {allSteps, distinct, hierarchical, knowsLevels, precisionAndData, stepKey} from "./choices.js";
import {choice, element} from "./controls.js";

const stepName = (row) => `${row.model}, batch ${row.batch}, ${precisionAndData(row)}`;

/// The hierarchical model is off where the bytes of a level are not known; the level belongs to it.
function modelControls({runs, choices}, changed) {
  const known = knowsLevels(runs, choices);
  if (!known) choices.model = "";
  if (!hierarchical(choices)) choices.level = "";
  const words = `hierarchical: ${known ? "bytes of each level" : "off, bytes of a level unknown"}`;
  const models = [["", "cache-aware: one intensity"], ["hierarchical", words]];
  const model = choice("Model", "choose-model", models, choices.model, changed("model"));
  model.querySelectorAll("option")[1].disabled = !known;
  const levels = distinct(runs.flatMap(({roofs}) => roofs.levels.map(({name}) => name))).map((name) => [name, name]);
  const level = choice("Level", "choose-level", [["", "all"], ...levels], choices.level, changed("level"));
  level.querySelector("select").disabled = !hierarchical(choices);
  return [model, level];
}

/// `set` gets the name and the value of a choice.
export function choiceControls(parts) {
  const {studies, runs, choices, set} = parts;
  const changed = (name) => (value) => set(name, value);
  const rows = studies.flatMap((study) => study.rows);
  const controls = element("p", {class: "controls"});
  if (rows.length) {
    const steps = [...new Map(rows.map((row) => [stepKey(row), stepName(row)]))];
    if (steps.length > 1) steps.push([allSteps, "all steps"]);
    controls.append(
        choice("Step", "choose-step", steps, choices.step, changed("step")), ...modelControls(parts, changed));
  }
  const precisions = distinct(runs.flatMap(({roofs}) => roofs.compute.map(({precision}) => precision)));
  const all = [["", "of its precision"], ["all", "of all precisions"], ...precisions.map((name) => [name, name])];
  controls.append(choice("Roofs", "choose-precision", all, choices.precision, changed("precision")));
  return controls;
}

const switchButton = (isOn, words, flip, ...mark) => element(
    "button", {type: "button", class: "roof-button", "aria-pressed": String(isOn), onclick: flip}, ...mark, words);

/// The roofs of the levels before the farthest, together; nothing where there is one level.
export function cacheSwitch(runs, hidden, flip) {
  const names = distinct(runs.flatMap(({roofs: {levels}}) => levels.slice(0, -1).map(({name}) => name)));
  return names.length ? [switchButton(names.some((name) => !hidden.has(name)), "Cache roofs", () => flip(names))] : [];
}

/// `zoom` gets a change of the view.
export const zoomSwitch = (isOn, zoom) =>
    switchButton(isOn, "Zoom to the layers", () => zoom(isOn ? null : {layers: true}));

/// A button hides or shows a run of a plot of several.
export function runButtons({runs, choices: {hidden}, colourOf, flip}) {
  const words = ({name, letter}) => (letter ? `${letter}: ${name}` : name);
  const buttons = runs.map((run) => switchButton(!hidden.has(run.name), words(run), () => flip([run.name]),
                               element("i", {class: colourOf(run)})));
  return element("span", {class: "controls roofs runs"}, "Runs ", ...buttons);
}

/// The legend of a roofline: [shape, look, words, radius] of what its marks have. `series`: [colour, name].
export function legendOf(marks, series, levels) {
  const has = (name) => marks.some(({classes}) => classes.includes(name));
  const only = series.length === 1 ? series[0][0] : "";
  const entry = (name, shape, look, words, radius) => (has(name) ? [[shape, `${look} ${only}`, words, radius]] : []);
  const layers = has("dot") || has("hollow");
  return [
    ...(series.length > 1 ? series.map(([colour, words]) => [0, `dot ${colour}`, words]) : []),
    ...["forward", "backward", "update"].flatMap((phase, shape) => entry(phase, shape, "dot", phase)),
    ...(layers ? [[0, `dot ${only}`, "1%", 2.6], [0, `dot ${only}`, "10% of the step", 8.2]] : []),
    ...entry("step", 0, "step", "step, its line to its most bytes"), ...entry("outline", 1, "outline", "phase"),
    ...entry("hollow", 0, "hollow", "above the slanted roof"),
    ...levels.map((level, i) => [0, `dot near-${levels.length - 1 - i} ${only}`, `at ${level}`])
  ];
}

export function questions() {
  const answer = (question, words) => [element("dt", {}, question), element("dd", {}, words)];
  return element("details", {id: "questions"}, element("summary", {}, "How to read this"),
      element("dl", {},
          ...answer("roof",
              "The highest rate measured here: slanted for the bytes of a memory level, flat for the FLOPs of a " +
                  "precision. The lowest above a point limits it. Bands: 95% intervals."),
          ...answer("cache-aware", "One intensity for all levels: FLOPs over compulsory bytes."),
          ...answer("hierarchical",
              "A mark at each level, at the bytes that it moves: counted, or the least that the nearer memory " +
                  "allows."),
          ...answer("unexplained",
              "Below half of its roof: latency, launches and waiting are in the time, not in the roofs."),
          ...answer("fp32 or DRAM (93 / 7%)", "Neither binds in 95% of the resampled calibrations."),
          ...answer("mouse and keys",
              "Dragging zooms to a rectangle, + and - zoom; a double click or Backspace undoes. Arrows explain " +
                  "points, Enter selects.")));
}
