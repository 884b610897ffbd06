// What-if: a slider for each roof and for the batch, and the predicted step times.
import { element, slider } from "./controls.js";
import { duration, plain, threads } from "./format.js";
import { distinct } from "./choices.js";
import { parseChange, unitsOf, whatIf } from "./whatif.js";

const most = 4;

export class Sliders {
  constructor(studies) {
    this.studies = studies;
    this.factors = {};
    this.rates = {};
    this.batch = 0;
    this.units = unitsOf(studies);
    this.message = element("span", { class: "warn", role: "status" });
    this.body = element("tbody");
    this.command = element("code");
    const names = distinct(studies.flatMap((study) => study.roofs.flatMap((roofs) => [...roofs.levels.map((l) => l.name), ...roofs.compute.map((c) => c.precision)])));
    const head = ["model", "batch", "device", "measured", "predicted", "times as fast", "least"];
    this.element = element("div", { id: "whatif-live" },
      element("p", { class: "controls" }, ...names.map((name) => this.roofSlider(name)), this.batchSlider(), this.setBox(), this.message),
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", { scope: "col", class: i === 1 || i > 2 ? "n" : "" }, text)))), this.body)),
      element("p", { class: "legend" }, "Predicted: each layer keeps the share of its roof that it reached. Least: what the changed roofs allow. The same in a terminal: ", this.command));
    this.draw();
  }

  /// A slider from a quarter to four times, in steps of a quarter power of two.
  roofSlider(name) {
    const text = (exponent) => `${plain(2 ** exponent)}x`;
    return slider(name, `whatif-${name}`, { min: -Math.log2(most), max: Math.log2(most), step: 0.25, value: 0, text }, (exponent) => {
      this.factors[name] = 2 ** exponent;
      delete this.rates[name];
      this.draw();
    });
  }

  batchSlider() {
    const text = (exponent) => (exponent < 0 ? "as measured" : `${2 ** exponent}`);
    return slider("batch", "whatif-batch", { min: -1, max: 10, step: 1, value: -1, text }, (exponent) => {
      this.batch = exponent < 0 ? 0 : 2 ** exponent;
      this.draw();
    });
  }

  /// A text box for any value, in the syntax of `roof whatif --set`. Moving the slider of the same name replaces it.
  setBox() {
    const input = element("input", { type: "search", id: "whatif-set", placeholder: "DRAM=100GB/s,batch=48", oninput: (event) => {
      const { factors, rates, batch, wrong } = parseChange(event.target.value, this.units);
      Object.assign(this, { factors, rates, batch });
      this.message.textContent = wrong ? `'${wrong}' is not a change: write DRAM=1.5x, DRAM=100GB/s or batch=512` : "";
      this.draw();
    } });
    return element("label", { class: "control", for: "whatif-set" }, "or as text ", input);
  }

  draw() {
    const rows = this.studies.flatMap((study) => study.rows.map((row) => ({ row, answer: whatIf(study, row, this) })));
    this.body.replaceChildren(...rows.map(({ row, answer }) => element("tr", {}, ...this.cells(row, answer))));
    const set = Object.entries(this.factors).filter(([, factor]) => factor !== 1).map(([name, factor]) => `${name}=${factor}x`);
    set.push(...Object.entries(this.rates).map(([name, rate]) => `${name}=${rate / 1e9}G${this.units[name]}`));
    if (this.batch) set.push(`batch=${this.batch}`);
    this.command.textContent = `roof whatif DIR --set ${set.join(",") || "DRAM=1.5x"}`;
  }

  cells(row, answer) {
    const cell = (text, number = true) => element("td", { class: number ? "n" : "" }, text);
    const first = [cell(row.model, false), cell(`${answer.batch ?? row.batch}`), cell(`${row.device}, ${threads(row.threads)}, ${row.precision}`, false), cell(duration(row.seconds.median))];
    if (answer.reason) return [...first, element("td", { colspan: 3, class: "warn" }, answer.reason)];
    const faster = (row.seconds.median * answer.batch) / (answer.seconds * row.batch);
    return [...first, cell(duration(answer.seconds)), cell(plain(faster)), cell(duration(answer.least))];
  }
}
