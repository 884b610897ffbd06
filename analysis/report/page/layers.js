// The table of points: sorted by column, searched by text. A row highlights its marks in every chart.
import {distinct} from "./choices.js";
import {element} from "./controls.js";
import {duration, percent, si} from "./format.js";
import {shapeOf, svg} from "./geometry.js";
import {enhance, sortAgain} from "./tables.js";

/// After the name, the kind and the phase; page_data.cpp has their texts.
export const columns = ["time", "of step", "rate", "FLOP/B", "roof", "reached", "headroom"];

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
    const label = `${all.length} x ${p.kind}`,
          title = all.map(({number, label: name}) => `${number} ${name}`).join("\n");
    const keys = all.map(({key}) => key);
    return all.length === 1 ?
        p :
        {...p, label, name: label, title, keys, seconds: {median: seconds}, attainable, headroom, flops, cells};
  });
}

export class LayerTable {
  /// `find` gets words, `hover` keys, `choose` a point, `colourOf` a key.
  constructor(find, hover, choose, colourOf) {
    Object.assign(this, {hover, choose, colourOf, points: [], shown: new Map()});
    this.head = element("tr");
    this.body = element("tbody");
    this.table = element("table", {}, element("thead", {}, this.head), this.body);
    this.together = element("input", {type: "checkbox", onchange: () => this.draw()});
    const group = element("label", {class: "control"}, this.together, "equal kinds and shapes together");
    this.search = element("input", {
      type: "search",
      id: "layer-search",
      placeholder: "conv backward\u2026",
      oninput: ({target}) => find(target.value)
    });
    const search = element("label", {class: "control", "for": "layer-search"}, "Search ", this.search);
    this.count = element("span", {class: "legend", role: "status"});
    this.controls = element("p", {class: "controls"}, search, group, this.count);
    this.element = element("div", {id: "layers-live"}, this.controls, element("div", {class: "scroll"}, this.table));
  }

  show(points, words) {
    if (this.search.value !== words) this.search.value = words;
    this.count.textContent = words ? `${points.length} found` : "";
    this.points = points.sort((a, b) => (a.number || Infinity) - (b.number || Infinity));
    const several = distinct(points.map(({row}) => row.run)).length > 1;
    const names = ["layer", "kind", "phase", ...columns, ...(several ? ["run"] : [])];
    if (names.length !== this.head.cells.length) {
      const isNumber = (name) => columns.includes(name) && name !== "roof";
      this.head.replaceChildren(
          ...names.map((name) => element("th", {scope: "col", class: isNumber(name) ? "n" : ""}, name)));
      enhance(this.table, columns.length + 2);
    }
    this.draw();
  }

  draw() {
    const points = this.together.checked ? grouped(this.points) : this.points;
    this.shown = new Map(points.map((point) => [point.key, point]));
    this.body.replaceChildren(...points.map((point) => this.row(point)));
    sortAgain(this.table);
  }

  markOf({phase, key, scope}) {
    const shape = Math.max(0, ["forward", "backward", "update"].indexOf(phase));
    return svg("svg", {width: 14, height: 14, "aria-hidden": "true"},
        svg("g", {class: `mark ${scope === "step" ? "step" : "dot"} ${this.colourOf(key)}`},
            shapeOf(shape, 5, [7, 7])));
  }

  row(point) {
    const {key, keys = [key], label, title = label, number = ""} = point;
    const light = () => this.hover(keys), dark = () => this.hover([]), choose = () => this.choose(point);
    const name =
        element("td", {"data-number": number}, this.markOf(point), element("span", {title}, element("bdi", {}, label)));
    const texts = [point.kind, point.phase, ...point.cells, point.row.run.name].slice(0, this.head.cells.length - 1);
    return element("tr", {
      tabindex: 0,
      "data-key": key,
      onmouseenter: light,
      onmouseleave: dark,
      onfocus: light,
      onblur: dark,
      onclick: choose,
      onkeydown: (event) => event.key === "Enter" && choose()
    },
        name,
        ...texts.map(
            (text, i) => element("td", {class: this.head.cells[i + 1].className, title: i === 6 && text}, text)));
  }

  light(keys) {
    for (const row of this.body.children) row.classList.toggle("lit", keys.includes(row.dataset.key));
  }
}
