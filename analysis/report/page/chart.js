// A figure on the page. Tab reaches it; arrow keys, Home and End move from point to point and explain it; Enter selects
// it; Escape goes back.
import {element} from "./controls.js";
import {drawFigure, svg} from "./figure.js";

export class Chart {
  /// `hover` gets a key or null, `choose` a key, `preview` the key that the keyboard is at, or null when it leaves.
  /// `table`: the id of the table with the same points.
  constructor(title, height, {hover, choose, preview, table}) {
    this.svg = svg("svg", {"aria-label": title});
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

  draw(figure, view) {
    Object.assign(this, {last: figure, view});
    const {clientWidth: width, clientHeight: height} = this.box;
    if (!width) return;  // folded
    this.seen = width;
    this.drawn = drawFigure(figure, view, width, height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.replaceChildren(...this.drawn.parts);
    const last = ({rank}) => (rank > 0 ? rank : Infinity);  // layers by headroom, then steps and phases
    const marks =
        figure.marks.filter(({key}) => this.markOf(key)).sort((a, b) => (last(a) > last(b)) - (last(a) < last(b)));
    this.keys = [...new Set(marks.map(({key}) => key))];
    this.at = -1;
    this.point();
  }

  markOf(key) { return [...this.svg.querySelectorAll(".marks [data-key]")].find(({dataset}) => dataset.key === key); }

  /// For the pointed mark: the intensities that its bytes allow, and how far its own roof is above it. `pointed`: {
  /// marks, roof }, roof in FLOP/s and its name; null for none.
  point(pointed = this.pointed) {
    this.pointed = pointed;
    const group = this.svg.querySelector(".pointed");
    if (!group || !pointed || !this.drawn) return group?.replaceChildren();
    const {x, y, edges: {left, right, top, bottom}, isFree} = this.drawn;
    const inside = (value, low, high) => Math.min(high, Math.max(low, value));
    const {marks, roof} = pointed;
    const known = marks.filter((mark) => mark.x[0] > 0 && mark.y[0] > 0);
    if (!known.length) return group.replaceChildren();
    const values = known.flatMap((mark) => [mark.x[1], mark.x[2], mark.x[0]]).filter((value) => value > 0);
    const [from, to] = [Math.min(...values), Math.max(...values)].map((value) => inside(x.at(value), left, right));
    const height = inside(y.at(known[0].y[0]), top, bottom);
    const path = (name, d) => svg("path", {class: name, d});
    const parts = [path("pointed-bytes", `M${from} ${height}H${to}M${from} ${height - 4}V${height + 4}`)];
    if (roof) {
      const at = x.at(known.at(-1).x[0]), up = y.at(roof.rate);
      if (at > left && at < right && up > top && up < bottom) {
        parts.push(path("pointed-roof", `M${at} ${height}V${up}M${at - 16} ${up}H${at + 16}`));
        const w = 7 * roof.name.length + 2, h = 14;
        const places = [-18, 5, -34, 21].flatMap(
            (aside) => [at + 4, at - 4 - w].map((begin) => ({x: begin, y: up + aside, w, h})));
        const free = places.find(isFree);
        if (free) parts.push(svg("text", {class: "halo", x: free.x + 1, y: free.y + 11}, roof.name));
      }
    }
    group.replaceChildren(...parts);
  }

  showTip(key) {
    const mark = this.last.marks.find((one) => one.key === key);
    const at = this.markOf(key)?.getBoundingClientRect();
    if (!mark || !at) return;
    const box = this.box.getBoundingClientRect();
    this.tip.textContent = mark.title;
    this.tip.hidden = false;
    const left = Math.min(at.right - box.left + 8, box.width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(0, left)}px`;
    const above = at.top - box.top - this.tip.offsetHeight - 6;
    this.tip.style.top = `${above > 0 ? above : at.bottom - box.top + 6}px`;
  }

  /// Lets the reader zoom and move the chart. `change` gets the factor and the place in data, or the distance in data,
  /// as factors on both logarithmic axes; null shows the first view.
  zoomable(change) {
    const at = ({clientX, clientY}) => {
      const box = this.box.getBoundingClientRect();
      return [this.drawn.x.back(clientX - box.left), this.drawn.y.back(clientY - box.top)];
    };
    let from = null;
    this.box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      change({zoom: event.deltaY > 0 ? 1.25 : 0.8, at: at(event)});
    }, {passive: false});
    this.box.addEventListener("pointerdown", (event) => {
      from = at(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons || event.pointerType === "touch") return;
      const to = at(event);
      change({move: [from[0] / to[0], from[1] / to[1]]});
    });
    this.box.addEventListener("pointerup", () => {
      from = null;
    });
    this.box.addEventListener("dblclick", () => change(null));
  }

  light(key) {
    for (const mark of this.svg.querySelectorAll(".mark.lit")) mark.classList.remove("lit");
    if (key)
      for (const mark of this.svg.querySelectorAll(".marks [data-key]"))
        if (mark.dataset.key === key) mark.classList.add("lit");
  }

  /// Removes the highlight that the keyboard set.
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
