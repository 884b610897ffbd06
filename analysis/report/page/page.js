// The state of the page and its charts: what is chosen, what is drawn, what is explained.
import {Changes} from "./changes.js";
import {Chart} from "./chart.js";
// clang-format off
import {allSteps, distinct, firstChoices, hierarchical, isOfModel, layersShown, pointsShown, roofsShown, runsOf, stepKey} from "./choices.js";
// clang-format on
import {element, replaceStatic} from "./controls.js";
import {boundsOf, unionOf} from "./geometry.js";
import {columns, LayerTable} from "./layers.js";
import {cacheSwitch, choiceControls, legendOf, questions, runButtons, zoomSwitch} from "./plot_controls.js";
import {hashOf, readState} from "./state.js";

/// How far a reader zooms: from a factor of two to twelve decades.
const spans = [Math.log(2), 12 * Math.log(10)];

/// What is under the pointer, from the texts of the table.
const tipOf = ({scope, row, name, phase, attainable, cells: [time, , rate, , , share]}) => `${
    scope === "step"      ? row.title :
        scope === "phase" ? name :
                            `${name} ${phase}`}: ${time}, ${rate}${attainable > 0 ? `, of attainable: ${share}` : ""}`;

/// The layers with this share of the time decide the view of the layers.
const mostOfTheTime = 0.98;

export class Page {
  constructor(studies) {
    this.studies = studies;
    this.points = new Map(studies.flatMap((study) => study.points).map((point) => [point.key, point]));
    const rows = studies.flatMap((study) => study.rows);
    this.hasSteps = rows.length > 0;
    this.models = distinct(rows.map(({model}) => model));
    this.trained = distinct(rows.map(({precision}) => precision));
    const react = {
      hover: (key) => this.light(key ? [key] : []),
      choose: (key) => this.select(this.points.get(key)),
      preview: (key) => this.explain(this.points.get(key) ?? this.selected),
      table: "layers-live"
    };
    this.runs = runsOf(studies);
    for (const run of this.runs) {
      run.figures = run.parts.map(({study, index}) => study.figures[index]);
      run.figure = run.figures[0].roofline;
      run.points = run.parts.flatMap(({study}) => study.points.filter(({row}) => row.run === run));
    }
    this.chart = new Chart(this.runs.length > 1 ? "Runs in one plot" : this.runs[0]?.name ?? "", 500, react);
    this.chart.zoomable((change) => this.zoom(change));
    Object.assign(this, {view: null, zoomed: false, before: []});
    this.times = this.runs.filter(({points}) => points.some(({time}) => time))
                     .map((run) => ({run, chart: new Chart(run.name, 400, react)}));
    const find = (words) => {
      this.choices.find = words;
      this.draw();
    };
    this.table = new LayerTable(find, (keys) => this.light(keys), (point) => this.select(point),
        (key) => this.colourOf(this.points.get(key).row));
    this.explanation = element("div", {id: "explained", class: "explained", role: "status", "aria-live": "polite"});
    this.sentence = element("p", {id: "sentence", class: "sentence"});
    this.remark = element("p", {id: "remark", class: "legend", role: "status"});
    this.roofs = element("span", {class: "controls roofs"});
    this.bar = element("div", {class: "controls roofs"}, this.roofs, element("span", {class: "save-here"}));
    this.controls = element("div");
    this.changes = new Changes(studies, () => this.draw());
    this.first = firstChoices(studies);
    this.selected = null;
    this.take(readState(location.hash, this.first));
  }

  /// The runs that the reader did not hide.
  seen() { return this.runs.length > 1 ? this.runs.filter(({name}) => !this.choices.hidden.has(name)) : this.runs; }

  /// Whether a plot of one step has several runs: then each has a colour.
  hasSeveral() { return this.seen().length > 1; }

  take({choices, whatif, point, view}) {
    const rows = this.studies.flatMap((study) => study.rows);
    const isKnown = choices.step === allSteps || rows.some((row) => stepKey(row) === choices.step) || !rows.length;
    this.choices = isKnown ? choices : {...choices, step: this.first.step};
    this.wanted = this.points.get(point) ?? null;
    this.changes.take(whatif);
    Object.assign(this, {view, zoomed: Boolean(view)});
    this.showControls();
  }

  restore() {
    this.take(readState(location.hash, this.first));
    this.draw();
  }

  place() {
    const list = (charts) => element("div", {class: "charts"}, ...charts.map(({chart}) => chart.figure));
    const plots = list([this]);
    if (this.runs.length)
      replaceStatic("roofline",
          ...(this.hasSteps ?
                  [
                    this.sentence, this.controls,
                    element("div", {class: "beside"}, element("div", {}, plots, this.bar), this.table.element),
                    this.remark, this.explanation, ...document.querySelectorAll("header .legend"),
                    this.changes.controls, questions()
                  ] :
                  [this.controls, plots, this.bar]));
    if (this.times.length) replaceStatic("time", list(this.times));
    if (this.hasSteps)  // the table beside the plot has its layers
      for (const one of document.querySelectorAll("#headroom,nav a[href='#headroom']")) one.classList.add("on-paper");
    if (this.hasSteps) replaceStatic("whatif", this.changes.element);
  }

  showControls() {
    const set = (name, value) => {
      this.choices[name] = value;
      if (name === "model" || name === "step") this.showControls();
      this.draw();
    };
    const focused = document.activeElement?.id;
    this.controls.replaceChildren(choiceControls({studies: this.studies, runs: this.runs, choices: this.choices, set}));
    if (focused) document.getElementById(focused)?.focus();
  }

  showRoofs() {
    const {runs, choices} = this;
    const flip = (names) => {
      const isHidden = names.every((name) => choices.hidden.has(name));
      for (const name of names) choices.hidden[isHidden ? "delete" : "add"](name);
      this.draw();
    };
    const colourOf = (run) => (choices.step === allSteps || !this.hasSeveral() ? "" : run.colour);
    this.roofs.replaceChildren(zoomSwitch(this.zoomed, (change) => this.zoom(change)),
        ...(this.hasSeveral() ? [] : cacheSwitch(this.seen(), choices.hidden, flip)),
        ...(runs.length > 1 ? [runButtons({runs, choices, colourOf, flip})] : []));
  }

  /// `change`: a view { x, y }, { layers }, { undo } or a factor { zoom }; null: the first view.
  zoom(change) {
    const {view} = this;
    if (!view) return;
    const scaled = ([low, high]) => [(low / high) ** (change.zoom / 2), (high / low) ** (change.zoom / 2)].map(
        (end) => end * Math.sqrt(low * high));
    const next = !change ? null :
        change.undo      ? this.before.pop() ?? null :
        change.layers    ? this.ofLayers :
        change.x         ? change :
                           {x: scaled(view.x), y: scaled(view.y)};
    const fits = ([low, high]) =>
        low > 0 && Number.isFinite(high) && Math.log(high / low) >= spans[0] && Math.log(high / low) <= spans[1];
    if (next && !(fits(next.x) && fits(next.y))) return;
    if (change && !change.undo) this.before.push(this.zoomed ? view : null);
    Object.assign(this, {view: next, zoomed: Boolean(next)});
    this.draw();
  }

  /// The colour of a step: of its model, or of its run where runs share a plot of one step.
  colourOf({model, run}) {
    if (this.hasSeveral() && this.choices.step !== allSteps) return run.colour;
    const number = this.models.indexOf(model);
    return `s${number % 8}${number < 8 ? "" : " again"}`;
  }

  coloured(mark) {
    const colour = this.colourOf(this.points.get(mark.key).row);
    return {...mark, classes: [...colour.split(" "), ...mark.classes]};
  }

  /// Whether a layer has a mark at each level.
  byLevel() { return hierarchical(this.choices) && !this.choices.level && !this.hasSeveral(); }

  groupOf(run) {
    const {choices} = this, several = this.hasSeveral();
    const {levels} = run.roofs;
    const byLevel = this.byLevel();
    const moved = (point, found) => {
      const mark = this.coloured(found);
      const scale = this.changes.scaleOf(point, run.roofs);
      const isSmall = byLevel && point.scope === "layer";
      const isOther = point.scope === "step" && choices.step !== allSteps && stepKey(point.row) !== choices.step;
      const nearer = levels.length - 1 - levels.findIndex(({name}) => name === mark.level);
      return {
        ...mark,
        title: tipOf(point) + (several ? `\n${run.name}` : ""),
        y: mark.y.map((value) => value / scale),
        classes: isSmall ? [...mark.classes, `near-${nearer}`] : mark.classes,
        radius: isSmall ? Math.max(2.5, mark.radius * 0.6) : mark.radius,
        rank: isSmall && mark.level !== levels.at(-1)?.name ? -1 :
            isOther                                         ? Infinity :
                                                              mark.rank
      };
    };
    const marks = pointsShown(run.points, choices)
                      .flatMap((point) => point.marks.filter((mark) => isOfModel(mark, point, levels, choices))
                                              .map((mark) => moved(point, mark)));
    const byKey = new Map(marks.map((mark) => [mark.key, mark]));
    const curves = run.parts.flatMap(({study,
      index}) => study.figures[index].series
                                         .map((list) => list.map((i) => byKey.get(study.points[i].key)).filter(Boolean))
                                         .filter(([first]) => first)
                                         .map((list) => ({css: `trajectory ${list[0].classes[0]}`, marks: list})));
    const rows = run.points.filter(({row}) => stepKey(row) === choices.step).map(({row}) => row);
    const own = several ? [] : [...new Set(rows)].map((row) => row.own_roof).filter(Boolean);
    const changed = this.changes.changed([...run.figure.roofs, ...own]);
    const roofs = roofsShown(changed, choices, several, this.trained).map((roof) => ({
      ...roof,
      label: (several ? `${run.short}: ` : "") + roof.label,
      colour: several && choices.step !== allSteps ? run.colour : ""
    }));
    return {run, marks, curves, roofs};
  }

  /// A quarter of a decade around the marks of the layers that hold the time, or around all, and the flat roofs.
  viewOfLayers(marks, roofs) {
    const rates = roofs.filter(({slanted}) => !slanted).map(({rate}) => rate[0]);
    const seconds = ({key}) => this.points.get(key).seconds.median;
    const layers = marks.filter(({key, x}) => this.points.get(key).scope === "layer" && x[0] > 0)
                       .sort((a, b) => seconds(b) - seconds(a));
    const total = layers.reduce((sum, mark) => sum + seconds(mark), 0);
    let sum = 0;
    const longest = layers.filter((mark) => (sum += seconds(mark)) - seconds(mark) < mostOfTheTime * total);
    return boundsOf(longest.length ? longest : marks, rates);
  }

  /// The legend of marks, whose series are named by `named` of their rows.
  legendOf(marks, named, levels = []) {
    const rows = marks.map(({key}) => this.points.get(key).row);
    return legendOf(marks, [...new Map(rows.map((row) => [this.colourOf(row), named(row)]))], levels);
  }

  drawPlot() {
    const runs = this.seen(), groups = runs.map((run) => this.groupOf(run)), one = this.choices.step !== allSteps;
    const marks = groups.flatMap((group) => group.marks), several = this.hasSeveral();
    if (!this.zoomed)
      this.view = unionOf((runs.length ? runs : this.runs).map(({figure}) => ({x: figure.x.frame, y: figure.y.frame})));
    // Runs under the same roofs share them. The roofs of a group end at one another, not at those of another device.
    const sharing = (run) => groups.filter((group) => group.run.same === run.same);
    const roofs = groups.filter(({run}) => sharing(run)[0].run === run).flatMap(({run,
      roofs: own}) => own.map((roof) => ({...roof, colour: sharing(run).length > 1 ? "" : roof.colour, among: own})));
    this.ofLayers = this.viewOfLayers(marks, roofs);
    const {x, y} = this.runs[0].figure;
    const legend = this.legendOf(marks, ({run, model}) => (several && one ? run.name : model),
        this.byLevel() && runs[0] ? runs[0].roofs.levels.map(({name}) => name) : []);
    const roofsOf = ({run: {roofs: {owner}, where, short, parts}, roofs: own}) =>
        `${owner}, ${several ? short : where || short}; roofs ${parts[0].study.calibrated}` +
        (several ? `, ${own.map(({label}) => label.slice(short.length + 2)).join("; ")}` : "");
    const heading = distinct([...this.sentenceOf(runs).split(/(?<=\.) /), ...groups.map(roofsOf)]);
    const paper = {heading, table: this.tableOnPaper(marks)};
    this.chart.draw({x, y, marks, roofs, legend, paper, curves: groups.flatMap(({curves}) => curves)}, this.view);
    return new Set(marks.map(({key}) => key));
  }

  /// The steps, then the layers with the largest headroom, with their numbers.
  tableOnPaper(marks) {
    const named = marks.filter(({rank, name, x, level}) => rank >= 0 && name && x[0] > 0 && level === marks[0].level);
    const isStep = ({key}) => this.points.get(key).scope === "step";
    const steps = named.filter(isStep), layers = named.filter((one) => !isStep(one)).sort((a, b) => a.rank - b.rank);
    const rows = [...steps.slice(0, 24), ...layers.slice(0, 10)].map(({key, name}) => {
      const {number = "", cells, row} = this.points.get(key);
      const words = name + (this.hasSeveral() ? ` (${row.run.short})` : "");
      const fitted = words.length > 36 ? `${words.slice(0, 18)}\u2026${words.slice(-17)}` : words;
      return [number, fitted, ...cells, isStep({key}) ? row.bound : ""];
    });
    return [["", "", ...columns, "bound by, of its time"], ...rows];
  }

  /// The points of the table: the layers shown, or the steps where all are.
  layers() {
    const {choices} = this;
    const shown = (points) =>
        (choices.step === allSteps ? points.filter(({scope}) => scope === "step") : layersShown(points, choices));
    return this.seen().flatMap((run) => shown(run.points));
  }

  draw() {
    const drawn = this.runs.length ? this.drawPlot() : new Set();
    const layers = this.layers();
    this.showRoofs();
    const without = layers.filter(({flops}) => !(flops > 0));
    this.remark.textContent = this.hasSteps && !layers.length && !this.choices.find ?
        "This page has no layers of this step." :
        without.length ? `Without FLOPs, and so without a place here: ${without.length} of ${layers.length} layers.` :
                         "";
    this.follow(drawn);
    for (const {run, chart} of this.times) {
      const marks = layers.filter(({row, time}) => row.run === run && time)
                        .map((point) => ({...this.coloured(point.time), title: tipOf(point)}));
      const {x, y, roofs} = run.figures[0].time, ends = marks.flatMap((mark) => [mark.x, mark.y]);
      chart.draw({x, y, roofs, marks, curves: [], legend: this.legendOf(marks, ({model}) => model)},
          boundsOf(ends.map((end) => ({x: end, y: end}))) ?? {x: x.frame, y: y.frame});
    }
    this.table.show(layers, this.choices.find);
    document.documentElement.dataset.points = layers.length;
    this.writeState();
  }

  /// A link to what is seen. The first view has none.
  writeState() {
    const own = this.selected?.scope === "step" ? "" : this.selected?.key;
    const hash = hashOf(
        {choices: this.choices, whatif: this.changes.text, point: own, view: this.zoomed && this.view}, this.first);
    if (hash !== location.hash && (hash !== "#?" || location.hash.startsWith("#?")))
      history.replaceState(null, "", hash);
  }

  /// The chosen step; of several the one with the most images per second.
  stepOf(runs) {
    const rate = ({row}) => (row.step_images || 1) / row.seconds.median;
    return [...this.points.values()]
        .filter(({scope, row}) => scope === "step" && runs.includes(row.run) && stepKey(row) === this.choices.step)
        .sort((a, b) => rate(b) - rate(a))[0];
  }

  sentenceOf(runs) {
    const told = ({machine}, sentence) => sentence && (machine ? `${machine}: ` : "") + sentence;
    const row = this.stepOf(runs)?.row;
    return this.choices.step !== allSteps ?
        row ? told(row.run, row.sentence) : "" :
        distinct(runs.flatMap((run) => run.parts.map(({study}) => told(run, study.sentence)))).join(" ");
  }

  /// The explanation and the sentence follow the choice: a point that is no longer drawn is replaced by the step.
  follow(drawn) {
    const step = this.stepOf(this.seen());
    this.sentence.textContent = this.sentenceOf(this.seen());
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
  }

  light(keys) {
    for (const part of [this.chart, ...this.times.map(({chart}) => chart), this.table]) part.light(keys);
  }

  select(point) {
    if (!point) return;
    this.selected = point;
    this.explain(point);
    this.writeState();
  }

  /// A table of the point's text: its work, its bytes, its roof, the bytes of the levels.
  explain(point) {
    if (!point) return;
    const at = point.text.indexOf(": ", point.name.length), where = ` (${point.row.title}; ${point.row.how})`;
    const [told, ...levels] = point.text.slice(at + 2).split(" Bytes: ");
    const [work, ...others] = told.split("; "), isRoof = (text) => /^(its roofs|the .* roof) allow/.test(text);
    const rows = [
      ["Work", work], ["Memory", others.filter((text) => !isRoof(text)).join("; ")],
      ["Roof", others.filter(isRoof).join("; ")], ["Bytes", levels.join(" ")]
    ].filter(([, text]) => text);
    rows.at(-1)[1] += where;
    this.explanation.replaceChildren(element("table", {}, element("caption", {}, point.text.slice(0, at)),
        ...rows.map(
            ([name, text]) => element("tr", {}, element("th", {scope: "row"}, `${name}: `), element("td", {}, text)))));
  }
}
