// The report page. Charts replace the static pictures, which remain for print and for browsers without scripts.
import { batchOption, seriesOf, timeOption } from "./batches.js";
import { Chart } from "./chart.js";
import { chartsOf, distinct, firstChoices, pointsShown, stepKey, stepsShown } from "./choices.js";
import { choice, element, slider } from "./controls.js";
import { frameOf, studiesOf } from "./data.js";
import { LayerTable } from "./layers.js";
import { paletteOfPage } from "./palette.js";
import { diameter, rooflineOption } from "./rooflines.js";
import { Sliders } from "./sliders.js";
import css from "./page.css";
import { explain, percent, threads } from "./format.js";

class Page {
  constructor(studies) {
    this.studies = studies;
    this.points = new Map(studies.flatMap((study) => study.points).map((point) => [point.key, point]));
    this.choices = firstChoices(studies);
    this.frame = frameOf(studies);
    this.series = seriesOf(studies);
    const hover = (key) => this.light(key);
    const choose = (key) => this.explain(this.points.get(key));
    const name = ({ study, roofs }) => `${studies.length > 1 ? `${study.name}: ` : ""}${roofs.device}, ${threads(roofs.threads)}`;
    this.rooflines = chartsOf(studies).map((place) => ({ ...place, title: name(place), chart: new Chart(name(place), 560, hover, choose) }));
    const hasLayers = ({ study, index }) => study.points.some((point) => point.scope === "layer" && point.row.roofs === index);
    this.times = this.rooflines.filter(hasLayers).map((place) => ({ ...place, chart: new Chart(place.title, 400, hover, choose) }));
    this.batches = ["images/s", "share of the roofs' time"].map((what) => ({ what, chart: new Chart(what, 330, hover, choose) }));
    this.table = new LayerTable((point) => this.light(point?.key ?? null), (point) => this.explain(point));
    this.explanation = element("p", { id: "explained", class: "explained", role: "status", "aria-live": "polite" },
      "Choose a point or a row of the table to see its arithmetic here.");
  }

  place() {
    const charts = (list) => element("div", { class: "charts" }, ...list.map(({ chart }) => chart.figure));
    const steps = this.studies.some((study) => study.rows.length);
    const around = (list) => (steps ? [this.controls(), this.phaseKey(), list, this.explanation, this.questions()] : [list]);
    if (this.frame) replaceStatic("roofline", ...around(charts(this.rooflines)));
    if (this.times.length) replaceStatic("time", charts(this.times));
    if (this.series.size) replaceStatic("trajectory", this.seriesKey(), charts(this.batches));
    replaceStatic("headroom", this.table.element);
    if (steps) replaceStatic("whatif", new Sliders(this.studies).element);
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
      choice("Precision", "choose-precision", optionsOf(roofs.flatMap((r) => r.compute.map((c) => c.precision)), "all"), "", set("precision")),
      choice("Intensity at", "choose-level", optionsOf(roofs.flatMap((r) => r.levels.map((l) => l.name)), "farthest level"), "", set("level")),
      choice("Phase", "choose-phase", optionsOf(all(this.studies).map((p) => p.phase), "all"), "", set("phase")),
      choice("Layers", "choose-kind", optionsOf(all(this.studies).map((p) => p.kind), "all kinds"), "", set("kind")),
      slider("Longest layers that hold", "choose-share", { min: 0.05, max: 1, step: 0.05, value: 1, text: (v) => `${percent(v)} of the time` }, set("share")));
  }

  phaseKey() {
    return element("p", { class: "legend" }, ...["forward", "backward", "update"].flatMap((phase) => [element("i", { class: phase }), `${phase} `]),
      "\u2013 circle, square, triangle: a layer filled, its phase outlined; area is time. Rings: whole steps, joined over batches. ",
      "Bands: 95% intervals of the roofs. Dashed: the best mix of instructions, which is no roof for layers. Dotted: specified by guides. Whiskers: intensity from no reuse (a tick for each level) to compulsory traffic. Hollow: a layer above the slanted roof of the level it is drawn at, because part of its bytes was still in a cache.");
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
    for (const place of this.rooflines) {
      const { points, layers: some, phases, whole } = shownAt(place);
      layers.push(...some);
      place.chart.draw(rooflineOption({ roofs: place.roofs, frame: this.frame, shown: [...some, ...phases], whole, palette, choices: this.choices,
        steps: stepsShown(points, this.choices), title: `Roofline of ${place.title}` }));
    }
    for (const place of this.times) {
      const { layers: some, whole } = shownAt(place);
      place.chart.draw(timeOption({ shown: some, whole, palette, size: diameter, title: `Time under the roofs of ${place.title}` }));
    }
    for (const { what, chart } of this.batches) if (this.series.size) chart.draw(batchOption({ series: this.series, what, palette, title: `${what} over the batch` }));
    this.table.show(layers);
    document.documentElement.dataset.points = layers.length;
  }

  light(key) {
    for (const { chart } of [...this.rooflines, ...this.times, ...this.batches]) chart.light(key);
    this.table.light(key);
  }

  explain(point) {
    if (!point) return;
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

function start() {
  document.head.append(element("style", {}, css));
  const page = new Page(studiesOf(document.getElementById("roof-data").textContent));
  page.place();
  page.draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.draw());
  document.documentElement.classList.add("ready");
}

start();
