// The report page. Charts replace the static pictures, which remain for print and for browsers without scripts.
import { batchOption, seriesOf, timeOption } from "./batches.js";
import { Chart } from "./chart.js";
import { chartsOf, distinct, firstChoices, pointsShown, roofName, roofsShown, stepKey, stepsShown } from "./choices.js";
import { choice, element, slider } from "./controls.js";
import { fittedFrame, studiesOf } from "./data.js";
import { LayerTable } from "./layers.js";
import { paletteOfPage } from "./palette.js";
import { diameter, rooflineOption, whiskerSeries } from "./rooflines.js";
import { Sliders } from "./sliders.js";
import css from "./page.css";
import { explain, percent, threads } from "./format.js";

class Page {
  constructor(studies) {
    this.studies = studies;
    this.points = new Map(studies.flatMap((study) => study.points).map((point) => [point.key, point]));
    this.choices = firstChoices(studies);
    this.series = seriesOf(studies);
    const hover = (key) => this.light(key);
    const choose = (key) => this.explain(this.points.get(key));
    const name = ({ study, roofs }) => `${studies.length > 1 ? `${study.name}: ` : ""}${roofs.device}, ${threads(roofs.threads)}`;
    this.rooflines = chartsOf(studies).map((place) => ({ ...place, title: name(place), chart: new Chart(name(place), 500, hover, choose) }));
    for (const place of this.rooflines) place.chart.zoomable((change) => this.zoom(place, change));
    this.selected = null;
    const hasLayers = ({ study, index }) => study.points.some((point) => point.scope === "layer" && point.row.roofs === index);
    this.times = this.rooflines.filter(hasLayers).map((place) => ({ ...place, chart: new Chart(place.title, 400, hover, choose) }));
    this.batches = ["images/s", "share of attainable"].map((what) => ({ what, chart: new Chart(what, 330, hover, choose) }));
    this.table = new LayerTable((point) => this.light(point?.key ?? null), (point) => this.explain(point));
    this.explanation = element("p", { id: "explained", class: "explained", role: "status", "aria-live": "polite" });
    this.sentence = element("p", { id: "sentence", class: "sentence" });
    this.roofs = element("p", { class: "controls roofs" });
    this.sliders = new Sliders(studies, (change) => this.changeRoofs(change));
  }

  place() {
    const charts = (list) => element("div", { class: "charts" }, ...list.map(({ chart }) => chart.figure));
    const steps = this.studies.some((study) => study.rows.length);
    const around = (list) => (steps ? [this.sentence, this.controls(), list, this.roofs, this.explanation, this.phaseKey(), this.sliders.controls, this.questions()] : [list, this.roofs]);
    if (this.rooflines.length) replaceStatic("roofline", ...around(charts(this.rooflines)));
    if (this.times.length) replaceStatic("time", charts(this.times));
    if (this.series.size) replaceStatic("trajectory", this.seriesKey(), charts(this.batches));
    replaceStatic("headroom", this.table.element);
    if (steps) replaceStatic("whatif", this.sliders.element);
  }

  controls() {
    const set = (name) => (value) => { this.choices[name] = value; this.draw(); };
    const all = (studies) => studies.flatMap((study) => study.points);
    const rows = this.studies.flatMap((study) => study.rows);
    const steps = [...new Map(rows.map((row) => [stepKey(row), `${row.model}, batch ${row.batch}, ${row.precision}${row.data === "-" ? "" : `, ${row.data}`}`]))];
    const optionsOf = (values, any) => [["", any], ...distinct(values).map((value) => [value, value])];
    const roofs = this.studies.flatMap((study) => study.roofs);
    return element("p", { class: "controls" },
      choice("Step", "choose-step", steps, this.choices.step, set("step")),
      choice("Roofs", "choose-precision", [["", "of its precision"], ["all", "of all precisions"], ...distinct(roofs.flatMap((r) => r.compute.map((c) => c.precision))).map((p) => [p, p])], "", set("precision")),
      choice("Intensity at", "choose-level", optionsOf(roofs.flatMap((r) => r.levels.map((l) => l.name)), "farthest level"), "", set("level")),
      choice("Phase", "choose-phase", optionsOf(all(this.studies).map((p) => p.phase), "all"), "", set("phase")),
      choice("Layers", "choose-kind", optionsOf(all(this.studies).map((p) => p.kind), "all kinds"), "", set("kind")),
      slider("Longest layers that hold", "choose-share", { min: 0.05, max: 1, step: 0.05, value: 1, text: (v) => `${percent(v)} of the time` }, set("share")));
  }

  phaseKey() {
    const disc = (share) => { const d = diameter({ seconds: { median: share } }, 1); return element("i", { class: "disc", style: `width:${d}px;height:${d}px` }); };
    return element("p", { class: "legend" }, ...["forward", "backward", "update"].flatMap((phase) => [element("i", { class: phase }), `${phase} `]),
      "(circle, square, triangle; outlined: the whole phase). Area: share of the step ", ...[0.01, 0.1, 0.3].flatMap((share) => [disc(share), `${100 * share}% `]),
      "Ring: a whole step, joined over batches. Hollow: above the slanted roof. Bands: 95% intervals of the roofs. Ctrl and wheel zoom, dragging moves, a double click shows all.");
  }

  /// A button for each roof hides or shows it.
  roofButtons() {
    const names = distinct(this.rooflines.flatMap(({ roofs }) => { const shown = roofsShown(roofs, { ...this.choices, hidden: new Set() });
      return [...shown.levels, ...shown.compute, ...shown.mixes].map(roofName); }));
    const flip = (name) => { const { hidden } = this.choices; if (!hidden.delete(name)) hidden.add(name); this.draw(); };
    this.roofs.replaceChildren("Roofs ", ...names.map((name) => element("button", { type: "button", class: "roof-button", "aria-pressed": String(!this.choices.hidden.has(name)), onclick: () => flip(name) }, name)),
      element("button", { type: "button", onclick: () => this.zoomAll({ zoom: 0.7 }) }, "Zoom in"), element("button", { type: "button", onclick: () => this.zoomAll({ zoom: 1 / 0.7 }) }, "Zoom out"),
      element("button", { type: "button", onclick: () => this.zoomAll(null) }, "Show all"));
  }

  zoomAll(change) { for (const place of this.rooflines) this.zoom(place, change); }

  zoom(place, change) {
    const { view } = place;
    if (!view) return;
    const scaled = ([low, high], index) => {
      if (change.move) return [low * change.move[index], high * change.move[index]];
      const centre = change.at?.[index] ?? Math.sqrt(low * high);
      return [centre * (low / centre) ** change.zoom, centre * (high / centre) ** change.zoom];
    };
    place.view = change && { intensity: scaled(view.intensity, 0), rate: scaled(view.rate, 1) };
    place.zoomed = Boolean(change);
    this.draw();
  }

  questions() {
    const answer = (question, text) => [element("dt", {}, question), element("dd", {}, text)];
    return element("details", { id: "questions" }, element("summary", {}, "How to read this"), element("dl", {},
      ...answer("roof", "The highest rate measured on this machine: slanted lines for the bytes that a memory level moves, horizontal lines for the FLOPs of a precision. The lowest roof above a point limits it."),
      ...answer("arithmetic intensity", "FLOPs per byte moved. Slanted and horizontal roof meet at the ridge point. Left of it memory is the limit, right of it arithmetic."),
      ...answer("compulsory, no reuse", "Bytes are analytic, not measured: each operand moves once (compulsory), or again at every use (no reuse). The whisker of a point spans both. The explanation of a point gives the time that no reuse would cost."),
      ...answer("above the DRAM roof", "A hollow layer: its operands were still in a cache from the layer before, so fewer bytes came from DRAM than were counted."),
      ...answer("unexplained", "The layer is below half of what its roof allows. Latency, launching and waiting are part of the measured time, but no roof includes them. Many small layers are unexplained."),
      ...answer("fp32 or DRAM (93 / 7%)", "Neither roof binds in 95% of the resampled calibrations, so both candidates are named.")));
  }

  seriesKey() {
    return element("p", { class: "legend" }, ...[...this.series.keys()].flatMap((name, index) => [element("i", { class: `s${index % 8}` }), `${name} `]));
  }

  draw() {
    const palette = paletteOfPage();
    const shownAt = ({ study, index }) => {
      const points = study.points.filter((point) => point.row.roofs === index);
      return { points, ...pointsShown(points, this.choices) };
    };
    const layers = [];
    const drawn = new Set();
    for (const place of this.rooflines) {
      const { points, layers: some, phases, whole } = shownAt(place);
      layers.push(...some);
      const steps = stepsShown(points, this.choices);
      const roofs = roofsShown(this.sliders.changed(place.roofs), this.choices);
      const all = points.filter((point) => stepKey(point.row) === this.choices.step);
      const frame = fittedFrame(roofsShown(place.roofs, { ...this.choices, hidden: new Set() }), [...all.filter((p) => p.scope !== "phase"), ...steps.flat()], this.choices.level);
      if (!frame) continue;
      if (!place.zoomed) place.view = frame;
      for (const point of [...some, ...phases, ...steps.flat()]) drawn.add(point.key);
      const moved = (point) => this.sliders.movedPoint(point, place.roofs);
      place.whiskers = (point) => whiskerSeries(point && point.row.roofs === place.index && point.study === place.study.index ? moved(point) : null, place.view, palette);
      const selected = this.selected && drawn.has(this.selected.key) ? this.selected : null;
      place.chart.draw(rooflineOption({ roofs, frame, view: place.view, shown: [...some, ...phases].map(moved), whole, palette, choices: this.choices, selected: selected && moved(selected),
        steps: steps.map((list) => list.map(moved)), title: `Roofline of ${place.title}`, width: place.chart.box.clientWidth || 800 }));
    }
    this.roofButtons();
    this.follow(drawn);
    for (const place of this.times) {
      const { layers: some, whole } = shownAt(place);
      place.chart.draw(timeOption({ shown: some, whole, palette, size: diameter, title: `Time under the roofs of ${place.title}` }));
    }
    for (const { what, chart } of this.batches) if (this.series.size) chart.draw(batchOption({ series: this.series, what, palette, title: `${what} over the batch` }));
    this.table.show(layers);
    document.documentElement.dataset.points = layers.length;
  }

  /// The explanation and the sentence follow the choice: a point that is not drawn any more gives way to its step.
  follow(drawn) {
    const step = [...this.points.values()].find((point) => point.scope === "step" && stepKey(point.row) === this.choices.step);
    this.sentence.textContent = step?.row.sentence ?? "";
    const isNew = this.followed !== this.choices.step;
    this.followed = this.choices.step;
    if (isNew || !this.selected || !drawn.has(this.selected.key)) this.selected = step ?? null;
    if (this.selected) this.explain(this.selected);
  }

  changeRoofs() { this.draw(); }

  light(key) {
    for (const { chart } of [...this.rooflines, ...this.times, ...this.batches]) chart.light(key);
    for (const place of this.rooflines) if (place.whiskers) place.chart.add(place.whiskers(this.points.get(key) ?? this.selected));
    this.table.light(key);
  }

  explain(point) {
    if (!point) return;
    this.selected = point;
    const level = this.choices.level ? point.levels.findIndex(({ name }) => name === this.choices.level) : point.levels.length - 1;
    this.explanation.textContent = explain(point, level);
  }
}

/// Shows `live` on the screen. The static parts of the section remain for print only.
function replaceStatic(id, ...live) {
  const section = document.getElementById(id);
  if (!section) return;
  for (const child of [...section.children]) if (!child.matches("h2,.lead")) child.classList.add("on-paper");
  section.append(element("div", { class: "live" }, ...live));
}

const unfolded = ["roofline", "verdict", "headroom", "breakdown", "trajectory"];

/// Folds the other sections under their headings; print shows all. `changed` is called when one is unfolded.
function fold(alwaysOpen, changed) {
  const flip = (section, folded) => {
    section.classList.toggle("folded", folded);
    section.querySelector("h2 button").setAttribute("aria-expanded", String(!folded));
    if (!folded) changed();
  };
  for (const section of document.querySelectorAll("main section")) {
    if (unfolded.includes(section.id) || alwaysOpen.includes(section.id)) continue;
    const heading = section.querySelector("h2");
    heading.replaceChildren(element("button", { type: "button", class: "fold", onclick: () => flip(section, !section.classList.contains("folded")) }, heading.textContent));
    flip(section, true);
    document.querySelector(`nav a[href="#${section.id}"]`)?.addEventListener("click", () => flip(section, false));
  }
}

function start() {
  document.head.append(element("style", {}, css));
  const page = new Page(studiesOf(document.getElementById("roof-data").textContent));
  page.place();
  fold(page.series.size ? [] : ["ceilings"], () => page.draw());
  page.draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.draw());
  document.documentElement.classList.add("ready");
}

start();
