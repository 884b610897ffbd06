// The table of layers: sorted by column, searched by text. A row highlights its point in every chart.
import {distinct} from "./choices.js";
import {element} from "./controls.js";
import {duration, percent, si} from "./format.js";
import {shapeOf, svg} from "./geometry.js";

const most = 200;

const layerColumns = [
  {name: "layer", value: (p) => p.label, text: (p) => p.label},
  {name: "kind", value: (p) => p.kind, text: (p) => p.kind},
  {name: "phase", value: (p) => p.phase, text: (p) => p.phase},
  {name: "time", value: (p) => p.seconds.median},
  {name: "of step", value: (p) => p.seconds.median},
  {name: "rate", value: (p) => p.flops / p.seconds.median},
  {name: "FLOP/B", value: (p) => p.flops / (p.compulsory || Infinity)},
  {name: "roof", value: (p) => p.cells[4]},
  {name: "reached", value: (p) => p.attainable / p.seconds.median},
  {name: "headroom", value: (p) => p.headroom},
  {name: "run", value: (p) => p.row.run.name, text: (p) => p.row.run.name},
].map((column, i) => ({text: (p) => p.cells[i - 3], number: i > 2 && i !== 7 && i < 10, ...column}));

/// The points as a table for programs: SI units, exact.
export const tableOf = (points) => ({
  columns: [
    "layer", "kind", "phase", "time_median_s", "time_low_s", "time_high_s", "flops", "compulsory_bytes", "roof",
    "attainable_s", "headroom_s", "run"
  ],
  rows: points.map((p) => [p.name, p.kind, p.phase, p.seconds.median, p.seconds.low, p.seconds.high, p.flops,
                       p.compulsory, p.cells[4], p.attainable, p.headroom, p.row.run.name]),
});

/// The points of one kind, phase and run with the same FLOPs and bytes, as one with their sums.
function grouped(points) {
  const groups = new Map();
  for (const p of points) {
    const name = [p.kind, p.phase, p.flops, p.compulsory, p.row.id].join();
    groups.set(name, [...(groups.get(name) ?? []), p]);
  }
  return [...groups.values()].map((all) => {
    const sum = (value) => all.reduce((total, p) => total + value(p), 0), [p] = all;
    const seconds = sum(({seconds: {median}}) => median), attainable = sum((one) => one.attainable);
    const headroom = sum((one) => one.headroom), flops = sum((one) => one.flops);
    const cells = [
      duration(seconds), percent(seconds / p.row.seconds.median), si(flops / seconds, "FLOP/s"), p.cells[3], p.cells[4],
      percent(attainable / seconds), duration(headroom)
    ];
    const label = `${all.length} x ${p.kind}`;
    return all.length === 1 ?
        p :
        {...p, label, name: label, seconds: {median: seconds}, attainable, headroom, flops, cells};
  });
}

export class LayerTable {
  /// `hover` and `choose` receive a point or null; `colourOf` a key.
  constructor(hover, choose, colourOf) {
    this.colourOf = colourOf;
    this.hover = hover;
    this.choose = choose;
    this.points = [];
    this.columns = layerColumns;
    this.sorted = {column: layerColumns[9], down: true};
    this.search = "";
    this.count = element("span", {class: "legend", role: "status"});
    this.head = element("tr");
    this.body = element("tbody");
    const find = (event) => {
      this.search = event.target.value.toLowerCase();
      this.draw();
    };
    const hint = "conv, bn, backward\u2026";
    const search = element("input", {type: "search", id: "layer-search", placeholder: hint, oninput: find});
    const label = element("label", {class: "control", "for": "layer-search"}, "Search ", search);
    const table = element("table", {}, element("thead", {}, this.head), this.body);
    this.together = element("input", {type: "checkbox", onchange: () => this.draw()});
    const group = element("label", {class: "control"}, this.together, "equal shapes together");
    this.element = element("div", {id: "layers-live"}, element("p", {class: "controls"}, label, group, this.count),
        element("div", {class: "scroll"}, table));
  }

  /// What it shows, as a table for programs.
  data() { return tableOf(this.visible()); }

  show(points) {
    this.points = points;
    const several = distinct(points.map(({row}) => row.run)).length > 1;
    this.columns = layerColumns.filter(({name}) => several || name !== "run");
    this.draw();
  }

  sortBy(column) {
    this.sorted = {column, down: this.sorted.column === column ? !this.sorted.down : Boolean(column.number)};
    this.draw();
  }

  visible() {
    const {column, down} = this.sorted;
    const points = this.together.checked ? grouped(this.points) : this.points;
    const found = points.filter((p) => `${p.name} ${p.kind} ${p.phase}`.toLowerCase().includes(this.search));
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return found.sort((a, b) => (down ? -1 : 1) * order(column.value(a), column.value(b)));
  }

  draw() {
    this.head.replaceChildren(...this.columns.map((column) => {
      const sorted = this.sorted.column === column;
      return element("th", {
        scope: "col",
        class: column.number ? "n" : "",
        "aria-sort": sorted ? (this.sorted.down ? "descending" : "ascending") : "none"
      },
          element("button", {type: "button", class: "sort", onclick: () => this.sortBy(column)}, column.name,
              sorted ? (this.sorted.down ? " \u2193" : " \u2191") : ""));
    }));
    const points = this.visible();
    this.body.replaceChildren(...points.slice(0, most).map((point) => this.row(point)));
    this.count.textContent = points.length > most ? `the first ${most} of ${points.length}; search or save for all` :
                                                    `${points.length} of ${this.points.length}`;
  }

  /// The mark of the point, as the plot has it.
  markOf({phase, key, scope}) {
    const shape = Math.max(0, ["forward", "backward", "update"].indexOf(phase));
    return svg("svg", {width: 14, height: 14, "aria-hidden": "true"},
        svg("g", {class: `mark ${scope === "step" ? "step" : "dot"} ${this.colourOf(key)}`},
            shapeOf(shape, 5, [7, 7])));
  }

  row(point) {
    return element("tr", {
      tabindex: 0,
      "data-key": point.key,
      onmouseenter: () => this.hover(point),
      onmouseleave: () => this.hover(null),
      onfocus: () => this.hover(point),
      onblur: () => this.hover(null),
      onclick: () => this.choose(point),
      onkeydown: (event) => {
        if (event.key === "Enter") this.choose(point);
      }
    },
        ...this.columns.map(
            (column, i) => element("td", {class: column.number ? "n" : ""}, ...(i ? [] : [this.markOf(point)]),
                i ? column.text(point) : element("span", {title: point.label}, point.label))));
  }

  light(key) {
    for (const row of this.body.children) row.classList.toggle("lit", row.dataset.key === key);
  }
}
