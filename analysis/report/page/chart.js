// A figure on the page. Tab reaches it; arrow keys, Home and End move from point to point and explain it; Enter selects
// it; Escape goes back.
import {element} from "./controls.js";
import {drawFigure} from "./figure.js";
import {svg} from "./geometry.js";

export class Chart {
  /// `hover` gets a key or null, `choose` a key, `preview` the key that the keyboard is at, or null when it leaves.
  /// `table`: the id of the table with the same points.
  constructor(title, height, {hover, choose, preview, table}) {
    this.svg = svg("svg", {"aria-label": title});
    this.svg.onPaper = () => this.onPaper();
    this.tip = element("div", {class: "tip", hidden: true});
    this.box = element("div", {
      class: "chart",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "chart",
      "aria-details": table,
      style: `height:${height}px`,
      "aria-label":
          `${title}. Arrow keys move from point to point, Enter selects. A table with the same points follows.`,
      onkeydown: (event) => this.walk(event),
      onblur: () => this.leave(),
      onmouseover: ({target}) => {
        const key = target.closest("[data-key]")?.dataset.key;
        if (!key) return;
        this.hover(key);
        this.showTip(key);
      },
      onmouseout: ({target}) => {
        if (!target.closest("[data-key]")) return;
        this.hover(null);
        this.tip.hidden = true;
      },
      onclick: ({target}) => {
        const key = target.closest("[data-key]")?.dataset.key;
        if (key) this.choose(key);
      }
    },
        this.svg, this.tip);
    this.figure = element("figure", {class: "live-figure"}, element("figcaption", {}, title), this.box);
    Object.assign(this, {hover, choose, preview, keys: [], at: -1, seen: 0});
    new ResizeObserver(() => {
      if (this.last && this.box.clientWidth !== this.seen) this.draw(this.last, this.view);
    }).observe(this.box);
  }

  /// As a picture of its own, with its heading and its table.
  onPaper() {
    const width = 1060, {parts, height} = drawFigure({...this.last, ...this.last.paper}, this.view, width);
    return svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height}, ...parts);
  }

  draw(figure, view) {
    Object.assign(this, {last: figure, view});
    const {clientWidth: width, clientHeight: height} = this.box;
    if (!width) return;  // folded
    this.seen = width;
    this.drawn = drawFigure(figure, view, width, height);
    for (const [name, value] of Object.entries({viewBox: `0 0 ${width} ${height}`, width, height}))
      this.svg.setAttribute(name, value);
    this.svg.replaceChildren(...this.drawn.parts);
    const elements = [...this.svg.querySelectorAll(".marks [data-key]")];
    this.elements = new Map(elements.reverse().map((one) => [one.dataset.key, one]));
    const last = ({rank}) => (rank > 0 ? rank : Infinity);  // layers by headroom, then steps and phases
    const marks =
        figure.marks.filter(({key}) => this.elements.has(key)).sort((a, b) => Math.sign(last(a) - last(b)) || 0);
    this.keys = [...new Set(marks.map(({key}) => key))];
    this.at = -1;
  }

  showTip(key) {
    const mark = this.last.marks.find((one) => one.key === key);
    const at = this.elements.get(key)?.getBoundingClientRect();
    if (!mark || !at) return;
    const box = this.box.getBoundingClientRect();
    this.tip.textContent = mark.title;
    this.tip.hidden = false;
    const left = Math.min(at.right - box.left + 8, box.width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(0, left)}px`;
    const above = at.top - box.top - this.tip.offsetHeight - 6;
    this.tip.style.top = `${above > 0 ? above : at.bottom - box.top + 6}px`;
  }

  /// `change` gets a view { x, y }, a factor { zoom } or { undo }.
  zoomable(change) {
    this.change = change;
    this.figure.firstChild.append(element("small", {}, "drag to zoom, double click to undo"));
    const pixel = ({clientX, clientY}) => {
      const box = this.box.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    };
    const value = ([x, y]) => [this.drawn.x.back(x), this.drawn.y.back(y)];
    const frame = svg("rect", {class: "marquee"});
    let from = null;
    const sides = (to) => [0, 1].map((axis) => [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis])]);
    this.box.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") from = pixel(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const to = pixel(event);
      const [[left, right], [top, bottom]] = sides(to);
      for (const [name, number] of Object.entries({x: left, y: top, width: right - left, height: bottom - top}))
        frame.setAttribute(name, number);
      this.svg.append(frame);
    });
    window.addEventListener("pointerup", (event) => {
      if (frame.isConnected && from) {
        frame.remove();
        const [[left, right], [top, bottom]] = sides(pixel(event));
        const [a, b] = [value([left, bottom]), value([right, top])];
        if (right - left > 8 && bottom - top > 8) change({x: [a[0], b[0]], y: [a[1], b[1]]});
      }
      from = null;
    });
    this.box.addEventListener("dblclick", () => change({undo: true}));
  }

  light(keys) {
    for (const mark of this.svg.querySelectorAll(".marks [data-key]"))
      mark.classList.toggle("lit", keys.includes(mark.dataset.key));
  }

  leave() {
    if (this.at < 0) return;
    this.at = -1;
    this.hover(null);
    this.preview(null);
    this.tip.hidden = true;
  }

  walk(event) {
    const {keys} = this;
    if (event.key === "Escape") return this.leave();
    const change = {"+": {zoom: 0.7}, "-": {zoom: 1 / 0.7}, Backspace: {undo: true}}[event.key];
    if (change && this.change) return this.change(change);
    const last = keys.length - 1;
    const to = {
      ArrowRight: this.at + 1,
      ArrowDown: this.at + 1,
      ArrowLeft: Math.max(this.at, 0) - 1,
      ArrowUp: Math.max(this.at, 0) - 1,
      Home: 0,
      End: last,
      Enter: Math.max(this.at, 0)
    }[event.key];
    if (!keys.length || to === undefined) return;
    event.preventDefault();
    const at = (to + keys.length) % keys.length;
    if (event.key === "Enter") this.choose(keys[at]);
    this.at = at;
    this.hover(keys[at]);
    this.preview(keys[at]);
    this.showTip(keys[at]);
  }
}
