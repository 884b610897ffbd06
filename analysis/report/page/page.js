// The state of the page and its charts: what is chosen, what is drawn, what is explained.
import {batchOption, seriesOf, timeOption} from "./batches.js";
import {Chart} from "./chart.js";
// clang-format off
import {firstChoices, hierarchical, levelRemark, levelsOf, pointsShown, roofsShown, runsOf, stepKey, stepsShown}
    from "./choices.js";
// clang-format on
import {element} from "./controls.js";
import {fittedFrame, unionOf} from "./data.js";
import {explain} from "./format.js";
import {phaseKey, questions, seriesKey} from "./key.js";
import {LayerTable} from "./layers.js";
import {paletteOfPage} from "./palette.js";
import {choiceControls, roofButtons, runButtons, zoomButtons} from "./plot_controls.js";
import {diameter, rooflineOption, whiskerSeries} from "./rooflines.js";
import {Sliders} from "./sliders.js";
import {hashOf, readState} from "./state.js";

/// Shows `live` on the screen. The static parts of the section remain for print only.
function replaceStatic(id, ...live) {
  const section = document.getElementById(id);
  if (!section) return;
  for (const child of [...section.children])
    if (!child.matches("h2,.lead,.numbers")) child.classList.add("on-paper");
  section.querySelector(".lead").after(element("div", {class: "live"}, ...live));
}

export class Page {
  constructor(studies) {
    this.studies = studies;
    this.points = new Map(studies.flatMap((study) => study.points).map((point) => [point.key, point]));
    this.hasSteps = studies.some((study) => study.rows.length);
    this.series = seriesOf(studies);
    const react = {
      hover: (key) => this.light(key),
      choose: (key) => this.select(this.points.get(key)),
      preview: (key) => this.explain(this.points.get(key) ?? this.selected),
      table: "layers-live"
    };
    this.runs = runsOf(studies);
    const plot = (runs, title) => ({runs, title, chart: new Chart(title, 500, react), view: null, zoomed: false});
    this.each = this.runs.map((run) => plot([run], run.name));
    this.together = this.runs.length > 1 ? plot(this.runs, "All runs in one plot") : null;
    for (const one of this.plots()) one.chart.zoomable((change) => this.zoom(one, change));
    const hasLayers = ({study, index}) =>
        study.points.some((point) => point.scope === "layer" && point.row.roofs === index);
    this.times = this.runs.filter(hasLayers).map((run) => ({run, chart: new Chart(run.name, 400, react)}));
    this.batches = ["images/s", "share of attainable"].map(
        (what) => ({what, chart: new Chart(what, 330, {...react, table: "trajectory"})}));
    this.table = new LayerTable((point) => this.light(point?.key ?? null), (point) => this.select(point));
    this.explanation = element("p", {id: "explained", class: "explained", role: "status", "aria-live": "polite"});
    this.sentence = element("p", {id: "sentence", class: "sentence"});
    this.remark = element("p", {id: "level-remark", class: "legend", role: "status"});
    this.roofs = element("span", {class: "controls roofs"});
    this.bar = element("div", {class: "controls roofs"}, this.roofs, element("span", {class: "save-here"}));
    this.key = element("div");
    this.controls = element("div");
    this.sliders = new Sliders(studies, () => this.draw());
    this.first = {...firstChoices(studies), overlay: this.together ? "one" : ""};
    this.selected = null;
    this.take(readState(location.hash, this.first));
  }

  plots() { return [...this.each, ...(this.together ? [this.together] : [])]; }
  charts() { return [...this.plots(), ...this.times, ...this.batches].map(({chart}) => chart); }

  /// Takes over a state that was read from a link.
  take({choices, whatif, point, view}) {
    const rows = this.studies.flatMap((study) => study.rows);
    this.choices = rows.some((row) => stepKey(row) === choices.step) || !rows.length ?
        choices :
        {...choices, step: this.first.step};
    this.wanted = this.points.get(point) ?? null;
    if (whatif !== (this.sliders.text ?? "")) this.sliders.set(whatif);
    for (const plot of this.plots()) Object.assign(plot, view ? {view, zoomed: true} : {zoomed: false});
    this.showControls();
  }

  restore() {
    this.take(readState(location.hash, this.first));
    this.draw();
  }

  place() {
    const list = (charts) => element("div", {class: "charts"}, ...charts.map(({chart}) => chart.figure));
    const plots = list(this.plots());
    if (this.runs.length)
      replaceStatic("roofline",
          ...(this.hasSteps ?
                  [
                    this.sentence, this.controls, plots, this.key, this.bar, this.remark, this.explanation, phaseKey(),
                    this.sliders.controls, questions()
                  ] :
                  [this.controls, plots, this.key, this.bar]));
    if (this.times.length) replaceStatic("time", list(this.times));
    if (this.series.size) replaceStatic("trajectory", seriesKey([...this.series.keys()]), list(this.batches));
    if (this.hasSteps) replaceStatic("headroom", this.table.element);
    if (this.hasSteps) replaceStatic("whatif", this.sliders.element);
  }

  showControls() {
    const set = (name, value) => {
      this.choices[name] = value;
      if (name === "overlay" || name === "model" || name === "step") this.showControls();
      this.draw();
    };
    const open = Boolean(this.controls.querySelector(".filters")?.open);
    const focused = document.activeElement?.id;
    this.controls.replaceChildren(
        choiceControls({studies: this.studies, runs: this.runs, choices: this.choices, open, set}));
    if (focused) document.getElementById(focused)?.focus();
  }

  showRoofs(several) {
    const flip = (name) => {
      if (!this.choices.hidden.delete(name)) this.choices.hidden.add(name);
      this.draw();
    };
    const parts = {runs: this.runs, choices: this.choices, several, flip};
    this.roofs.replaceChildren("Roofs ", ...roofButtons(parts), ...zoomButtons((change) => this.zoomAll(change)));
    this.key.replaceChildren(...(several ? [runButtons(parts)] : []));
  }

  zoomAll(change) {
    for (const plot of this.plots()) this.zoom(plot, change);
  }

  zoom(plot, change) {
    const {view} = plot;
    if (!view) return;
    const scaled = ([low, high], index) => {
      if (change.move) return [low * change.move[index], high * change.move[index]];
      const centre = change.at?.[index] ?? Math.sqrt(low * high);
      return [centre * (low / centre) ** change.zoom, centre * (high / centre) ** change.zoom];
    };
    plot.view = change && {intensity: scaled(view.intensity, 0), rate: scaled(view.rate, 1)};
    plot.zoomed = Boolean(change);
    this.draw();
  }

  /// What a plot shows of one of its runs, and the frame that it needs.
  groupOf(run, several) {
    const points = run.study.points.filter((point) => point.row.roofs === run.index);
    const {layers, phases, whole} = pointsShown(points, this.choices);
    const steps = stepsShown(points, this.choices);
    const moved = (point) => this.sliders.movedPoint(point, run.roofs);
    const chosen = points.filter((point) => point.scope !== "phase" && stepKey(point.row) === this.choices.step);
    const frame = fittedFrame(roofsShown(run.roofs, {...this.choices, hidden: new Set()}, several),
        [...new Set([...chosen, ...steps.flat()])], (point) => levelsOf(point, this.choices),
        hierarchical(this.choices) && !several ?
            run.roofs.levels.filter(({name}) => !this.choices.level || name === this.choices.level) :
            undefined);
    return {
      name: run.short,
      index: run.number,
      all: run.roofs.levels,
      roofs: roofsShown(this.sliders.changed(run.roofs), this.choices, several),
      layers,
      frame,
      whole,
      keys: [...layers, ...phases, ...steps.flat()].map(({key}) => key),
      shown: [...layers, ...phases].map(moved),
      steps: steps.map((list) => list.map(moved)),
      moved,
      run
    };
  }

  drawPlot(plot, palette, drawn) {
    const several = plot.runs.length > 1;
    const groups = plot.runs.filter((run) => !several || !this.choices.hidden.has(run.name))
                       .map((run) => this.groupOf(run, several));
    const frame = unionOf(groups.map((group) => group.frame));
    if (!frame) return [];
    if (!plot.zoomed) plot.view = frame;
    for (const {keys} of groups)
      for (const key of keys) drawn.add(key);
    const movedOf = (point) => {
      const group = point && groups.find(({run}) => run.study.index === point.study && run.index === point.row.roofs);
      return group ? group.moved(point) : null;
    };
    plot.whiskers = (point) => {
      const at = movedOf(point);
      return whiskerSeries(at, at ? levelsOf(at, this.choices) : [], plot.view, palette);
    };
    const selected = this.selected && drawn.has(this.selected.key) ? movedOf(this.selected) : null;
    plot.chart.draw(rooflineOption({
      groups,
      frame,
      view: plot.view,
      choices: this.choices,
      palette,
      selected,
      title: `Roofline of ${plot.title}`,
      width: plot.chart.box.clientWidth || 800,
      height: plot.chart.box.clientHeight || 500
    }));
    return groups.flatMap((group) => group.layers);
  }

  draw() {
    const palette = paletteOfPage();
    const together = Boolean(this.together) && this.choices.overlay === "one";
    for (const plot of this.each) plot.chart.figure.hidden = together;
    if (this.together) this.together.chart.figure.hidden = !together;
    const drawn = new Set();
    const layers = (together ? [this.together] : this.each).flatMap((plot) => this.drawPlot(plot, palette, drawn));
    this.showRoofs(together);
    this.remark.textContent = hierarchical(this.choices) ? levelRemark(layers) : "";
    this.follow(drawn);
    for (const {run, chart} of this.times) {
      const {layers: some, whole} =
          pointsShown(run.study.points.filter((point) => point.row.roofs === run.index), this.choices);
      chart.draw(
          timeOption({shown: some, whole, palette, size: diameter, title: `Time under the roofs of ${run.name}`}));
    }
    for (const {what, chart} of this.batches)
      if (this.series.size)
        chart.draw(batchOption({series: this.series, what, palette, title: `${what} over the batch`}));
    this.table.show(layers);
    document.documentElement.dataset.points = layers.length;
    this.writeState();
  }

  /// A link to what is seen. The first view has none.
  writeState() {
    const zoomed = this.plots().find((plot) => plot.zoomed);
    const own = this.selected?.scope === "step" ? "" : this.selected?.key;
    const hash = hashOf({choices: this.choices, whatif: this.sliders.text, point: own, view: zoomed?.view}, this.first);
    if (hash !== location.hash && (hash !== "#?" || location.hash.startsWith("#?")))
      history.replaceState(null, "", hash);
  }

  /// The explanation and the sentence follow the choice: a point that is no longer drawn is replaced by its step.
  follow(drawn) {
    const step =
        [...this.points.values()].find((point) => point.scope === "step" && stepKey(point.row) === this.choices.step);
    this.sentence.textContent = step?.row.sentence ?? "";
    const isNew = this.followed !== this.choices.step;
    this.followed = this.choices.step;
    const wanted = this.wanted && drawn.has(this.wanted.key) ? this.wanted : null;
    this.wanted = null;
    if (wanted)
      this.selected = wanted;
    else if (isNew || !this.selected || !drawn.has(this.selected.key))
      this.selected = step ?? null;
    if (!this.selected) return;
    this.explain(this.selected);
    for (const plot of this.plots())
      if (plot.whiskers) plot.chart.add(plot.whiskers(this.selected));
  }

  light(key) {
    for (const chart of this.charts()) chart.light(key);
    for (const plot of this.plots())
      if (plot.whiskers) plot.chart.add(plot.whiskers(this.points.get(key) ?? this.selected));
    this.table.light(key);
  }

  select(point) {
    if (!point) return;
    this.selected = point;
    this.explain(point);
    this.writeState();
  }

  explain(point) {
    if (!point) return;
    const levels = levelsOf(point, this.choices);
    this.explanation.textContent = explain(point, levels.length ? levels : point.levels.slice(-1));
  }
}
