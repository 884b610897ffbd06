// The state of the page and its charts: what is chosen, what is drawn, what is explained.
import {Chart} from "./chart.js";
// clang-format off
import {allSteps, firstChoices, hierarchical, isOfModel, layersShown, pointsShown, roofsShown, runsOf, stepKey} from "./choices.js";
// clang-format on
import {element} from "./controls.js";
import {boundsOf, unionOf} from "./figure.js";
import {LayerTable} from "./layers.js";
import {choiceControls, phaseKey, questions, roofButtons, runButtons, seriesKey, zoomButtons} from "./plot_controls.js";
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

/// A view from row.frame: the intensities and the rates.
const viewOf = (frame) => frame && {x: frame.slice(0, 2), y: frame.slice(2)};

/// How far a reader zooms: from a factor of two to twelve decades.
const spans = [Math.log(2), 12 * Math.log(10)];

/// What is under the pointer, from the texts of the table.
const tipOf = ({name, phase, attainable, cells: [time, , rate, , , share]}) =>
    `${name} ${phase}: ${time}, ${rate}${attainable > 0 ? `, of attainable: ${share}` : ""}`;

/// Where slanted and flat roofs meet, as marks are placed.
const ridges = (roofs) => {
  const [flat, slanted] = [false, true].map((kind) => roofs.filter((roof) => roof.slanted === kind && !roof.extra));
  return flat.flatMap(({rate: [y]}) => slanted.map(({rate: [by]}) => ({x: [y / by], y: [y]})));
};

export class Page {
  constructor({studies, trajectories}) {
    this.studies = studies;
    this.points = new Map(studies.flatMap((study) => study.points).map((point) => [point.key, point]));
    this.hasSteps = studies.some((study) => study.rows.length);
    const react = {
      hover: (key) => this.light(key),
      choose: (key) => this.select(this.points.get(key)),
      preview: (key) => this.explain(this.points.get(key) ?? this.selected),
      table: "layers-live"
    };
    this.runs = runsOf(studies);
    for (const run of this.runs) {
      run.figures = run.parts.map(({study, index}) => study.figures[index]);
      run.figure = run.figures[0].roofline;
    }
    const plot = (runs, title) => ({runs, title, chart: new Chart(title, 500, react), view: null, zoomed: false});
    this.each = this.runs.map((run) => plot([run], run.name));
    this.together = this.runs.length > 1 ? plot(this.runs, "All runs in one plot") : null;
    for (const one of this.plots()) one.chart.zoomable((change) => this.zoom(one, change));
    this.times = this.runs.filter(({figures}) => figures.some(({time}) => time.marks.length))
                     .map((run) => ({run, chart: new Chart(run.name, 400, react)}));
    this.batches = trajectories.map(
        (figure) => ({figure, chart: new Chart(figure.y.label, 330, {...react, table: "trajectory"})}));
    this.table = new LayerTable((point) => this.light(point?.key ?? null), (point) => this.select(point));
    this.explanation = element("p", {id: "explained", class: "explained", role: "status", "aria-live": "polite"});
    this.sentence = element("p", {id: "sentence", class: "sentence"});
    this.remark = element("p", {id: "remark", class: "legend", role: "status"});
    this.roofs = element("span", {class: "controls roofs"});
    this.bar = element("div", {class: "controls roofs"}, this.roofs, element("span", {class: "save-here"}));
    this.key = element("div");
    this.shapes = element("div");
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
    const isKnown = choices.step === allSteps || rows.some((row) => stepKey(row) === choices.step) || !rows.length;
    this.choices = isKnown ? choices : {...choices, step: this.first.step};
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
                    this.sentence, this.controls, plots, this.key, this.bar, this.remark, this.explanation, this.shapes,
                    this.sliders.controls, questions()
                  ] :
                  [this.controls, plots, this.key, this.bar]));
    if (this.times.length) replaceStatic("time", list(this.times));
    if (this.batches.length) replaceStatic("trajectory", seriesKey(this.batches[0].figure), list(this.batches));
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
    const marks = this.runs.flatMap(({figures}) => figures.flatMap(({roofline}) => roofline.marks));
    this.controls.replaceChildren(choiceControls(
        {studies: this.studies, runs: this.runs, points: this.points, marks, choices: this.choices, open, set}));
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
    this.shapes.replaceChildren(phaseKey(!several && !this.byLevel(several)));
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
    const next = !change ? null :
        change.all       ? unionOf([plot.all, plot.first]) :
                           {x: scaled(view.x, 0), y: scaled(view.y, 1)};
    const fits = ([low, high]) =>
        low > 0 && Number.isFinite(high) && Math.log(high / low) >= spans[0] && Math.log(high / low) <= spans[1];
    if (next && !(fits(next.x) && fits(next.y))) return;
    plot.view = next;
    plot.zoomed = Boolean(next);
    this.draw();
  }

  /// Whether colours are memory levels.
  byLevel(several) { return hierarchical(this.choices) && !this.choices.level && !several; }

  pointsOf(run) { return run.parts.flatMap(({study}) => study.points.filter((point) => point.row.run === run)); }

  /// What a plot shows of one of its runs: marks, curves and roofs, and the view that fits.
  groupOf(run, several) {
    const {choices} = this;
    const points = this.pointsOf(run);
    const shown = new Set(pointsShown(points, choices).map(({key}) => key));
    const {levels} = run.roofs;
    const byLevel = this.byLevel(several);
    const number = (name) => levels.findIndex((level) => level.name === name) % 8;
    const coloured = ({classes, level}, point) => {
      const colour = several ? run.colour : byLevel && point.scope !== "step" ? `s${number(level)}` : "";
      return colour ? [colour, ...classes.filter((name) => !["forward", "backward", "update"].includes(name))] :
                      classes;
    };
    const moved = (mark) => {
      const point = this.points.get(mark.key);
      const scale = this.sliders.scaleOf(point, run.roofs);
      const isSmall = byLevel && point.scope === "layer";
      return {
        ...mark,
        title: (point.cells ? tipOf(point) : mark.title) + (several ? `\n${run.name}` : ""),
        y: mark.y.map((value) => value / scale),
        classes: coloured(mark, point),
        radius: isSmall ? Math.max(2.5, mark.radius * 0.6) : mark.radius,
        rank: isSmall && mark.level !== levels.at(-1)?.name ? -1 : mark.rank
      };
    };
    const isShown = (mark) => shown.has(mark.key) && isOfModel(mark, this.points.get(mark.key), levels, choices);
    const marks = run.figures.flatMap(({roofline}) => roofline.marks.filter(isShown).map(moved));
    const byKey = new Map(marks.map((mark) => [mark.key, mark]));
    const curves = run.figures.flatMap(({roofline}) => roofline.curves.map(({css, marks: list, stepped}) => ({
      css: several ? `${css} ${run.colour}` : css,
      stepped,
      marks: list.map((key) => byKey.get(key)).filter(Boolean)
    })));
    const rows = points.filter(({row}) => stepKey(row) === choices.step).map(({row}) => row);
    const frame = hierarchical(choices) && !several ? "level_frame" : "frame";
    const own = several ? [] : [...new Set(rows)].map((row) => row.own_roof).filter(Boolean);
    const roofs = roofsShown(this.sliders.changed([...run.figure.roofs, ...own]), choices, several).map((roof) => ({
      ...roof,
      label: (several ? `${run.short}: ` : "") + roof.label,
      colour: several                            ? run.colour :
          byLevel && roof.slanted && !roof.extra ? `s${number(roof.name)}` :
                                                   ""
    }));
    const highest = choices.precision ? roofs.filter(({slanted}) => !slanted).map(({rate}) => rate[0]) : [];
    const fitted = unionOf([...new Set(rows)].map((row) => viewOf(row[frame])));
    const near = fitted && highest.length ? {
      x: fitted.x,
      y: [
        Math.min(fitted.y[0], ...highest.map((rate) => rate / 2)),
        Math.max(fitted.y[1], ...highest.map((rate) => rate * 2))
      ]
    } :
                                            fitted;
    const rates = roofs.filter(({slanted}) => !slanted).map(({rate}) => rate[0]);
    // The ridges of the farthest level are in view beside the marks, those of all levels without marks.
    const slanted = roofs.filter((roof) => roof.slanted && !roof.extra).map(({rate}) => rate[0]);
    const bends =
        ridges(marks.length ? roofs.filter((roof) => !roof.slanted || roof.rate[0] === Math.min(...slanted)) : roofs);
    return {run, marks, curves, roofs, rates, view: near ?? boundsOf([...marks, ...bends], rates)};
  }

  drawPlot(plot, drawn) {
    const several = plot.runs.length > 1;
    const groups = plot.runs.filter((run) => !several || !this.choices.hidden.has(run.name))
                       .map((run) => this.groupOf(run, several));
    const marks = groups.flatMap((group) => group.marks);
    const alone = () => unionOf(plot.runs.map(({figure}) => ({x: figure.x.frame, y: figure.y.frame})));
    plot.first = unionOf(groups.map(({view}) => view)) ?? alone();
    plot.all = boundsOf(marks, groups.flatMap(({rates}) => rates));
    if (!plot.zoomed) plot.view = plot.first;
    for (const {key} of marks) drawn.add(key);
    // Runs under the same roofs share them. The roofs of a group end at one another, not at those of another device.
    const sharing = (run) => groups.filter((group) => group.run.same === run.same);
    const roofs = groups.filter(({run}) => sharing(run)[0].run === run).flatMap(({run,
      roofs: own}) => own.map((roof) => ({...roof, colour: sharing(run).length > 1 ? "" : roof.colour, among: own})));
    const {x, y} = plot.runs[0].figure;
    plot.chart.draw({x, y, marks, roofs, curves: groups.flatMap(({curves}) => curves)}, plot.view);
  }

  layers() {
    const {choices} = this;
    const together = Boolean(this.together) && choices.overlay === "one";
    return this.runs.filter((run) => !together || !choices.hidden.has(run.name))
        .flatMap((run) => layersShown(this.pointsOf(run), choices));
  }

  draw() {
    const together = Boolean(this.together) && this.choices.overlay === "one";
    for (const plot of this.each) plot.chart.figure.hidden = together;
    if (this.together) this.together.chart.figure.hidden = !together;
    const drawn = new Set();
    for (const plot of together ? [this.together] : this.each) this.drawPlot(plot, drawn);
    const layers = this.layers();
    this.showRoofs(together);
    const without = layers.filter(({flops}) => !(flops > 0));
    this.remark.textContent = without.length ?
        `Without FLOPs, and so without a place here: ${without.length} of ${layers.length} layers.` :
        "";
    this.follow(drawn);
    for (const {run, chart} of this.times) {
      const keys = new Set(layers.filter(({row}) => row.run === run).map(({key}) => key));
      const tip = (mark) => ({...mark, title: tipOf(this.points.get(mark.key)) + mark.title});
      const marks = run.figures.flatMap(({time}) => time.marks.filter(({key}) => keys.has(key)).map(tip));
      const bounds = boundsOf(marks.map(({x, y}) => ({x, y: x})).concat(marks.map(({x, y}) => ({x: y, y}))));
      const {x, y, roofs} = run.figures[0].time;
      chart.draw({x, y, roofs, marks, curves: []}, bounds ?? {x: x.frame, y: y.frame});
    }
    for (const {figure, chart} of this.batches) {
      const byKey = new Map(figure.marks.map((mark) => [mark.key, mark]));
      const curves =
          figure.curves.map(({css, marks, stepped}) => ({css, stepped, marks: marks.map((key) => byKey.get(key))}));
      chart.draw({...figure, curves}, {x: figure.x.frame, y: figure.y.frame});
    }
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

  /// The explanation and the sentence follow the choice: a point that is no longer drawn is replaced by the step, of
  /// several the one with the most images per second.
  follow(drawn) {
    const rate = ({row}) => (row.step_images || 1) / row.seconds.median;
    const [step] = [...this.points.values()]
                       .filter(({scope, row}) => scope === "step" && stepKey(row) === this.choices.step)
                       .sort((a, b) => rate(b) - rate(a));
    const machine = step?.row.run?.machine;
    this.sentence.textContent = step ? `${machine ? `${machine}: ` : ""}${step.row.sentence}` :
                                       (this.choices.step === allSteps ? "All steps. Choose one for its layers." : "");
    const isNew = this.followed !== this.choices.step;
    this.followed = this.choices.step;
    const wanted = this.wanted && drawn.has(this.wanted.key) ? this.wanted : null;
    this.wanted = null;
    if (wanted)
      this.selected = wanted;
    else if (isNew || !this.selected || !drawn.has(this.selected.key))
      this.selected = step ?? null;
    this.explanation.hidden = !this.selected;
    if (this.selected) this.explain(this.selected);
    this.pointAt(this.selected);
  }

  /// The line of the point's bytes and its own roof, in every plot that draws it.
  pointAt(point) {
    const rate = point && point.flops / point.attainable;
    for (const {chart} of this.plots()) {
      const marks = chart.last?.marks.filter(({key}) => key === point?.key) ?? [];
      const roof = Number.isFinite(rate) && !this.sliders.text ?
          {rate, name: point.cells ? `its roof: ${point.cells[4]}` : "its roofs"} :
          null;
      chart.point(marks.length ? {marks, roof} : null);
    }
  }

  light(key) {
    for (const chart of this.charts()) chart.light(key);
    this.pointAt(this.points.get(key) ?? this.selected);
    this.table.light(key);
  }

  select(point) {
    if (!point) return;
    this.selected = point;
    this.explain(point);
    this.pointAt(point);
    this.writeState();
  }

  explain(point) { this.explanation.textContent = point?.text ?? ""; }
}
