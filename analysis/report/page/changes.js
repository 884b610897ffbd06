// What-if: roofs and a batch that the reader types, and the predicted step times.
import {precisionAndData} from "./choices.js";
import {element} from "./controls.js";
import {duration, percent, plain, si} from "./format.js";
import {bindingRoof, parseChange, unitsOf, whatIf} from "./whatif.js";

const head = ["model", "batch", "device", "measured", "predicted", "times as fast", "least"];

export class Changes {
  constructor(studies, changed) {
    Object.assign(this, {studies, tell: changed, units: unitsOf(studies), text: "", factors: {}, rates: {}, batch: 0});
    this.message = element("span", {class: "warn", role: "status"});
    this.body = element("tbody");
    this.command = element("code");
    this.verdict = element("p", {id: "whatif-verdict", class: "legend", role: "status"});
    this.input = element("input", {
      type: "search",
      id: "whatif-set",
      placeholder: "DRAM=2x,fp32=5TFLOP/s,batch=48",
      oninput: () => {
        this.take(this.input.value);
        this.tell();
      }
    });
    this.controls =
        element("details", {id: "whatif-controls"}, element("summary", {}, "What if a roof were higher or lower?"),
            element("p", {class: "controls"}, ...[...Object.keys(this.units), "batch"].map((name) => this.slider(name)),
                element("label", {class: "control"}, "as text ", this.input), this.message),
            this.verdict, element("a", {class: "to-whatif", href: "#whatif"}, "Predicted times of all steps"));
    const headings = head.map((text, i) => element("th", {scope: "col", class: i === 1 || i > 2 ? "n" : ""}, text));
    this.element = element("div", {id: "whatif-live"},
        element("div", {class: "scroll"},
            element("table", {}, element("thead", {}, element("tr", {}, ...headings)), this.body)),
        element("p", {class: "legend"},
            "Predicted: each layer keeps its share of attainable. Least: what the roofs allow. In a terminal: ",
            this.command));
    this.take("");
  }

  /// Of a roof from a quarter to four times, or of the batch: writes its part of the text.
  slider(name) {
    const isBatch = name === "batch", [min, max, step, value] = isBatch ? [-1, 10, 1, -1] : [-2, 2, 0.25, 0];
    const others = () => this.input.value.split(",").filter((part) => part && !part.startsWith(`${name}=`));
    const oninput = ({target}) => {
      const by = Number(target.value), own = `${name}=${2 ** by}${isBatch ? "" : "x"}`;
      this.take([...others(), ...(by === value ? [] : [own])].join());
      this.tell();
    };
    return element("label", {class: "control"}, `${name} `,
        element("input", {type: "range", id: `whatif-${name}`, name, min, max, step, value, oninput}));
  }

  /// Takes over a text in the syntax of `roof whatif --set`.
  take(text) {
    const {wrong, ...change} = parseChange(text, this.units);
    Object.assign(this, {text, ...change});
    if (this.input.value !== text) this.input.value = text;
    this.message.textContent = wrong ? `'${wrong}' is not a change: write DRAM=1.5x, DRAM=100GB/s or batch=512` : "";
    const rows = this.studies.flatMap((study) => study.rows.map((row) => ({row, answer: whatIf(study, row, this)})));
    this.body.replaceChildren(...rows.map(({row, answer}) => element("tr", {}, ...this.cells(row, answer))));
    this.verdict.textContent = text && !wrong ? this.takenOver() : "";
    this.command.textContent = `roof whatif DIR --set ${text || "DRAM=1.5x"}`;
  }

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
        point.row.layers.filter((layer) => point.scope === "step" || layer.phase === point.phase);
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
