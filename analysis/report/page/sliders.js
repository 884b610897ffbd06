// What-if: a slider for each roof and for the batch, and the predicted step times.
import {distinct, precisionAndData} from "./choices.js";
import {element, slider} from "./controls.js";
import {duration, percent, plain, si} from "./format.js";
import {bindingRoof, parseChange, unitsOf, whatIf} from "./whatif.js";

const mostChange = 4;

export class Sliders {
  /// `changed` is called after every change.
  constructor(studies, changed) {
    this.studies = studies;
    this.tell = changed;
    this.factors = {};
    this.rates = {};
    this.batch = 0;
    this.units = unitsOf(studies);
    this.layers = new Map();  // by row
    for (const {points} of studies)
      for (const point of points)
        if (point.scope === "layer") this.layers.set(point.row, [...(this.layers.get(point.row) ?? []), point]);
    this.message = element("span", {class: "warn", role: "status"});
    this.body = element("tbody");
    this.command = element("code");
    const names = distinct(studies.flatMap(
        (study) => study.roofs.flatMap(
            (roofs) => [...roofs.levels.map((l) => l.name), ...roofs.compute.map((c) => c.precision)])));
    const head = ["model", "batch", "device", "measured", "predicted", "times as fast", "least"];
    this.verdict = element("p", {id: "whatif-verdict", class: "legend", role: "status"});
    this.controls =
        element("details", {id: "whatif-controls"}, element("summary", {}, "What if a roof were higher or lower?"),
            element("p", {class: "controls"}, ...names.map((name) => this.roofSlider(name)), this.batchSlider(),
                this.setBox(), this.message),
            this.verdict, element("a", {class: "to-whatif", href: "#whatif"}, "Predicted times of all steps"));
    this.element = element("div", {id: "whatif-live"},
        element("div", {class: "scroll"},
            element("table", {},
                element("thead", {},
                    element("tr", {},
                        ...head.map(
                            (text, i) => element("th", {scope: "col", class: i === 1 || i > 2 ? "n" : ""}, text)))),
                this.body)),
        element("p", {class: "legend"},
            "Predicted: each layer keeps its share of attainable. Least: what the roofs allow. In a terminal: ",
            this.command));
    this.ready = true;
    this.draw();
  }

  /// The roofs of a figure after the change.
  changed(roofs) {
    return roofs.map((roof) => {
      const name = roof.slanted ? roof.name : roof.name.split(" ")[0];
      const main = roofs.find((other) => other.name === roof.name && !other.extra);
      const by = main ? (this.rates[name] ?? main.rate[0] * (this.factors[name] ?? 1)) / main.rate[0] : 1;
      if (by === 1) return roof;
      const rate = roof.rate.map((value) => value * by);
      return {
        ...roof,
        rate,
        spec: 0,
        label: `${roof.label.slice(0, roof.label.lastIndexOf(": "))}: ${si(rate[0], roof.slanted ? "B/s" : "FLOP/s")}`
      };
    });
  }

  /// How many times as long a point takes under the changed roofs. A layer keeps the share of its roof that it reached;
  /// a phase and a step change by the sum of their layers.
  scaleOf(point, roofs) {
    const parts = point.scope === "layer" ?
        [point] :
        this.layers.get(point.row)?.filter((layer) => point.scope === "step" || layer.phase === point.phase) ?? [];
    const time = (layer, change) => bindingRoof(layer, roofs, layer.row.precision, change).time;
    let by = 0;
    for (const layer of parts)
      if (time(layer, {}) > 0) by += layer.seconds.median * (time(layer, this) / time(layer, {}) - 1);
    const scale = (point.seconds.median + by) / point.seconds.median;
    return Number.isFinite(scale) ? scale : 1;
  }

  /// Which roof binds how much of the attainable time of the layers, before and after the change.
  takenOver() {
    const under = (change) => {
      const sums = new Map();
      for (const study of this.studies)
        for (const point of study.points) {
          if (point.scope !== "layer" || !(point.attainable > 0)) continue;
          const {name, time} = bindingRoof(point, study.roofs[point.row.roofs], point.row.precision, change);
          sums.set(name, (sums.get(name) ?? 0) + time);
        }
      const total = [...sums.values()].reduce((a, b) => a + b, 0);
      return new Map([...sums].map(([name, time]) => [name, time / total]));
    };
    const before = under({}), after = under(this);
    const parts =
        [...new Set([...before.keys(), ...after.keys()])]
            .filter((name) => Math.abs((after.get(name) ?? 0) - (before.get(name) ?? 0)) > 0.005)
            .map((name) => `${name} ${percent(before.get(name) ?? 0)} \u2192 ${percent(after.get(name) ?? 0)}`);
    return parts.length ? `Share of the attainable time of all layers under each roof: ${parts.join(", ")}.` :
                          "The same roofs bind as before.";
  }

  /// A slider from a quarter to four times, in steps of a quarter power of two.
  roofSlider(name) {
    const text = (exponent) => `${plain(2 ** exponent)}x`;
    return slider(name, `whatif-${name}`,
        {min: -Math.log2(mostChange), max: Math.log2(mostChange), step: 0.25, value: 0, text}, (exponent) => {
          this.factors[name] = 2 ** exponent;
          delete this.rates[name];
          this.draw();
        });
  }

  batchSlider() {
    const text = (exponent) => (exponent < 0 ? "as measured" : `${2 ** exponent}`);
    return slider("batch", "whatif-batch", {min: -1, max: 10, step: 1, value: -1, text}, (exponent) => {
      this.batch = exponent < 0 ? 0 : 2 ** exponent;
      this.draw();
    });
  }

  /// Sets the roofs by text, as the box does.
  set(text) {
    const box = this.controls.querySelector("#whatif-set");
    box.value = text;
    box.dispatchEvent(new Event("input", {bubbles: true}));
  }

  /// A text box for any value, in the syntax of `roof whatif --set`. Moving the slider of the same name replaces it.
  setBox() {
    const input = element("input", {
      type: "search",
      id: "whatif-set",
      placeholder: "DRAM=100GB/s,batch=48",
      oninput: (event) => {
        const {factors, rates, batch, wrong} = parseChange(event.target.value, this.units);
        Object.assign(this, {factors, rates, batch});
        this.message.textContent =
            wrong ? `'${wrong}' is not a change: write DRAM=1.5x, DRAM=100GB/s or batch=512` : "";
        this.draw();
      }
    });
    return element("label", {class: "control", "for": "whatif-set"}, "or as text ", input);
  }

  draw() {
    const rows = this.studies.flatMap((study) => study.rows.map((row) => ({row, answer: whatIf(study, row, this)})));
    this.body.replaceChildren(...rows.map(({row, answer}) => element("tr", {}, ...this.cells(row, answer))));
    const set =
        Object.entries(this.factors).filter(([, factor]) => factor !== 1).map(([name, factor]) => `${name}=${factor}x`);
    set.push(...Object.entries(this.rates).map(([name, rate]) => `${name}=${rate / 1e9}G${this.units[name]}`));
    if (this.batch) set.push(`batch=${this.batch}`);
    this.text = set.join(",");
    this.verdict.textContent = set.length ? this.takenOver() : "";
    if (this.ready && this.started) this.tell(this);
    this.started = true;
    this.command.textContent = `roof whatif DIR --set ${set.join(",") || "DRAM=1.5x"}`;
  }

  cells(row, answer) {
    const cell = (text, number = true) => element("td", {class: number ? "n" : ""}, text);
    const first = [
      cell(row.model, false), cell(`${answer.batch ?? row.batch}`),
      cell(`${row.run?.name ?? row.where}, ${precisionAndData(row)}`, false), cell(duration(row.seconds.median))
    ];
    if (answer.reason) return [...first, element("td", {colspan: 3, class: "warn"}, answer.reason)];
    const faster = (row.seconds.median * answer.batch) / (answer.seconds * row.batch);
    return [...first, cell(duration(answer.seconds)), cell(plain(faster)), cell(duration(answer.least))];
  }
}
