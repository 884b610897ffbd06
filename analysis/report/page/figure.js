// Draws a figure of analysis/report/figure.hpp in a view, with the rules of draw.cpp: what is outside the view is an
// arrow at its edge, outlines lie below points, and no text covers another.

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const mostNamed = 5;

/// Where values of an axis are on the screen, and back.
export function scaleOf([low, high], from, to, linear = false) {
  const span = linear ? high - low : Math.log(high / low);
  return {
    at: (value) => from + (to - from) * (linear ? (value - low) / span : Math.log(value / low) / span),
    back: (pixel) => {
      const share = (pixel - from) / (to - from);
      return linear ? low + share * span : low * Math.exp(share * span);
    }
  };
}

/// Of a roof within these intensities: [[x, y], [x, y]], as Figure::line_of() in figure.cpp.
export function lineOf(roof, rate, roofs, [left, right]) {
  const ends = roofs.filter((other) => other.slanted !== roof.slanted && !other.extra)
                   .map((other) => (roof.slanted ? other.rate[0] / rate : rate / other.rate[0]));
  if (!roof.slanted) return [[ends.length ? Math.max(left, Math.min(...ends)) : left, rate], [right, rate]];
  const to = ends.length ? Math.min(right, Math.max(...ends)) : right;
  return [[left, left * rate], [to, to * rate]];
}

export function ticksIn({ticks, linear}, [low, high]) {
  const most = linear || high > 1000 * low ? 0 : high > 10 * low ? 1 : 2;
  return ticks.filter(([at, , rank]) => rank <= most && at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9));
}

/// The shapes of analysis/report/figure.hpp in their order, with the area of a circle of this radius.
export function shapeOf(shape, r, at = [0, 0]) {
  if (shape === 0) return svg("circle", {class: "shape", cx: at[0], cy: at[1], r});
  const half = 0.89 * r, third = 1.35 * r, arm = 1.2 * r, thick = 0.4 * r;
  const corners = [
    [], [[-half, -half], [half, -half], [half, half], [-half, half]],
    [[0, -third], [0.87 * third, third / 2], [-0.87 * third, third / 2]],
    [[0, -third], [third, 0], [0, third], [-third, 0]],
    [
      [-arm, -thick], [-thick, -thick], [-thick, -arm], [thick, -arm], [thick, -thick], [arm, -thick], [arm, thick],
      [thick, thick], [thick, arm], [-thick, arm], [-thick, thick], [-arm, thick]
    ]
  ][shape];
  return svg("polygon", {class: "shape", points: corners.map(([x, y]) => `${x + at[0]},${y + at[1]}`).join(" ")});
}

const line = ([x1, y1], [x2, y2], name) => svg("path", {class: name, d: `M${x1} ${y1}L${x2} ${y2}`});

function text([x, y], words, name, turn = 0) {
  return svg("text", {class: name, x, y, ...(turn ? {transform: `rotate(${turn} ${x} ${y})`} : {})}, words);
}

/// Without the rate.
const nameOf = ({label}) => (label.includes(": ") ? label.slice(0, label.lastIndexOf(": ")) : label);

const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

class Drawing {
  /// `figure`: { x, y, roofs, marks, curves }; `view`: { x: [low, high], y: [low, high] }.
  constructor(figure, view, width, height) {
    const isNarrow = width < 520;
    this.edges = {left: 84, right: width - 24, top: 16, bottom: height - 46};
    const {left, right, top, bottom} = this.edges;
    Object.assign(this, {figure, view, isNarrow, taken: [], lines: [], arrows: []});
    this.x = scaleOf(view.x, left, right, figure.x.linear);
    this.y = scaleOf(view.y, bottom, top, figure.y.linear);
  }

  axes() {
    const {left, right, top, bottom} = this.edges;
    const parts = [];
    let end = -Infinity;
    for (const [at, words] of ticksIn(this.figure.x, this.view.x)) {
      const half = 3.4 * words.length;
      const x = this.x.at(at);
      parts.push(line([x, top], [x, bottom], "grid"));
      if (x - half < end) continue;
      end = x + half + 6;
      parts.push(svg("text", {class: "tick middle", x, y: bottom + 16, "data-axis": "x", "data-at": at}, words));
    }
    let above = Infinity;
    for (const [at, words] of ticksIn(this.figure.y, this.view.y)) {
      const y = this.y.at(at);
      parts.push(line([left, y], [right, y], "grid"));
      if (y + 14 > above) continue;
      above = y;
      parts.push(svg("text", {class: "tick end", x: left - 6, y: y + 4, "data-axis": "y", "data-at": at}, words));
    }
    const label = this.isNarrow ? this.figure.x.label.split(",")[0] : this.figure.x.label;
    parts.push(svg("path", {class: "axis", d: `M${left} ${top}V${bottom}H${right}`}),
        svg("text", {class: "label middle", x: (left + right) / 2, y: bottom + 36}, label));
    return parts;
  }

  lineAt(roof, rate) {
    return lineOf(roof, rate, roof.among ?? this.figure.roofs, this.view.x).map(([x,
      y]) => [this.x.at(x), this.y.at(y)]);
  }

  roofs() {
    return this.figure.roofs.map((roof) => {
      const [from, to] = this.lineAt(roof, roof.rate[0]);
      const [lowA, lowB] = this.lineAt(roof, roof.rate[1]);
      const [highA, highB] = this.lineAt(roof, roof.rate[2]);
      for (let i = 0; i <= 100; ++i)
        this.lines.push({
          x: from[0] + (i / 100) * (to[0] - from[0]) - 1,
          y: from[1] + (i / 100) * (to[1] - from[1]) - 1,
          w: 2,
          h: 2
        });
      const spec = roof.spec > 0 ? [line(...this.lineAt(roof, roof.spec), "reported-mark")] : [];
      return svg("g",
          {class: `roof${roof.dashed || roof.extra ? " mix" : ""} ${roof.colour ?? ""}`, "data-roof": roof.label},
          svg("title", {}, roof.title), svg("polygon", {class: "band", points: [lowA, lowB, highB, highA].join(" ")}),
          line(from, to, "edge"), ...spec);
    });
  }

  placeOf({x, y}) { return [this.x.at(x[0]), this.y.at(y[0])]; }

  /// Whether the axes can show the mark at all.
  isDrawn({y}) { return y[0] > 0 || this.figure.y.linear; }

  curves() {
    return this.figure.curves.filter(({marks}) => marks.length > 1).map(({css, marks, stepped}) => {
      const spots = marks.map((mark) => this.placeOf(mark));
      const path = spots.map(([x, y], i) => {
        if (!i) return `M${x} ${y}`;
        return stepped ? `H${(spots[i - 1][0] + x) / 2}V${y}H${x}` : `L${x} ${y}`;
      });
      return svg("path", {class: `curve ${css}`, d: path.join("")});
    });
  }

  /// Arrows from a baseline's points, with their intervals.
  changes() {
    const known = this.figure.marks.filter((mark) => mark.before && mark.x[0] > 0 && this.isDrawn(mark));
    return known.map((mark) => {
      const [[x], [y, low, high]] = mark.before;
      const [from, to] = [[this.x.at(x), this.y.at(y)], this.placeOf(mark)];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      const turn = (180 / Math.PI) * Math.atan2(to[1] - from[1], to[0] - from[0]);
      const head = {class: "arrow", d: "M0 0L-8 3V-3Z", transform: `translate(${to.join(" ")}) rotate(${turn})`};
      return svg("g", {class: "change", "data-from": mark.key, "data-x": x, "data-y": y},
          line([from[0], this.y.at(low)], [from[0], this.y.at(high)], "interval"), line(from, to, "change-line"),
          ...(length > 8 ? [svg("path", head)] : []));
    });
  }

  /// Outlines and steps first, then the large and the small: nothing hides a point.
  marks() {
    const below = ({classes}) => (classes.includes("outline") ? 2 : classes.includes("step") ? 1 : 0);
    const order = [...this.figure.marks]
                      .filter((mark) => this.isDrawn(mark))
                      .sort((a, b) => below(b) - below(a) || b.radius - a.radius);
    const parts = order.map((mark) => this.mark(mark));
    const {left, right, top, bottom} = this.edges;
    for (const {at: [x, y], count} of this.arrows.filter((one) => one.count > 1)) {
      const at = [clamp(x, left + 12, right - 26), clamp(y, top + 20, bottom - 12)];
      this.taken.push({x: at[0] - 1, y: at[1] - 11, w: 7 * `${count}`.length + 2, h: 14});
      parts.push(text(at, `${count}`, "tick count"));
    }
    return parts;
  }

  mark(mark) {
    const {left, right, top, bottom} = this.edges;
    const data = {"data-key": mark.key, "data-level": mark.level, "data-x": mark.x[0] ?? 0, "data-y": mark.y[0]};
    if (!(mark.x[0] > 0)) {
      const y = this.y.at(mark.y[0]);
      this.taken.push({x: left, y: y - 18, w: 7 * (mark.name.length + 15), h: 18});
      return svg("g", {class: "mark unknown", ...data}, line([left, y], [right, y], "edge"),
          text([left + 8, y - 5], `${mark.name}: bytes unknown`, "halo"));
    }
    const at = this.placeOf(mark);
    const inside = [clamp(at[0], left, right), clamp(at[1], top, bottom)];
    const isOut = Math.hypot(at[0] - inside[0], at[1] - inside[1]) > 0.5;
    const made = svg("g", {
      class: `mark ${mark.classes.join(" ")}${isOut ? " outside" : ""}`,
      ...data,
      transform: `translate(${inside.join(" ")})`
    });
    if (isOut) {
      this.arrow(made, at, inside);
      return made;
    }
    if (mark.whisker) made.append(...this.whiskers(mark, at));
    made.append(shapeOf(mark.shape, mark.radius));
    this.taken.push({x: at[0] - mark.radius, y: at[1] - mark.radius, w: 2 * mark.radius, h: 2 * mark.radius, mark});
    return made;
  }

  whiskers({x, y}, at) {
    const {left, right, top, bottom} = this.edges;
    const parts = [];
    if (x[1] < x[2]) {
      const [from, to] = [x[1], x[2]].map((value) => clamp(this.x.at(value), left, right) - at[0]);
      parts.push(line([from, 0], [to, 0], "interval"), line([from, -4], [from, 4], "interval"));
    }
    if (y[1] < y[2]) {
      const [from, to] = [y[1], y[2]].map((value) => clamp(this.y.at(value), top, bottom) - at[1]);
      parts.push(line([0, from], [0, to], "interval"), line([-3, from], [3, from], "interval"),
          line([-3, to], [3, to], "interval"));
    }
    return parts;
  }

  /// At the edge, towards the place outside; arrows near one another are counted.
  arrow(made, at, edge) {
    const turn = (180 / Math.PI) * Math.atan2(at[1] - edge[1], at[0] - edge[0]);
    made.append(svg("path", {class: "arrow shape", d: "M0 0L-9 5V-5Z", transform: `rotate(${turn})`}));
    const near = this.arrows.find(({at: [x, y]}) => Math.hypot(edge[0] - x, edge[1] - y) < 26);
    if (near)
      ++near.count;
    else
      this.arrows.push({at: edge, count: 1});
    this.taken.push({x: edge[0] - 12, y: edge[1] - 12, w: 24, h: 24});
  }

  isFree(box, ofLines) {
    const {left, right, top, bottom} = this.edges;
    return box.x > left && box.x + box.w < right && box.y > top - 12 && box.y + box.h < bottom &&
        !this.taken.some((other) => meet(box, other)) && !(ofLines && this.lines.some((other) => meet(box, other)));
  }

  /// Along the line, above or below it, where the text covers nothing, or at least no text and mark; without the rate
  /// if there is no other room.
  nameRoof(roof) {
    const letter = 7.7, cell = 13;
    const [from, to] = this.lineAt(roof, roof.rate[0]);
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (!(length > 40)) return [];
    const across = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const at = (forward, aside) => [from[0] + forward * across[0] - aside * across[1],
        from[1] + forward * across[1] + aside * across[0]];
    for (const ofLines of [true, false])
      for (const words of this.isNarrow ? [nameOf(roof)] : [roof.label, nameOf(roof)]) {
        const wide = letter * words.length;
        for (let start = 6; start + wide < length; start += 12)
          for (const shift of [-5, 14]) {
            const begin = roof.slanted ? start : length - start - wide;
            const cells = [];
            for (let i = 0; i < wide; i += cell) {
              const [x, y] = at(begin + i + cell / 2, shift - 4);
              cells.push({x: x - cell / 2, y: y - cell / 2, w: cell, h: cell});
            }
            if (!cells.every((box) => this.isFree(box, ofLines))) continue;
            this.taken.push(...cells);
            return [text(at(begin, shift), words, `name ${roof.colour ?? ""}`,
                (180 / Math.PI) * Math.atan2(across[1], across[0]))];
          }
      }
    return [];
  }

  /// Above, below or beside the mark; an important name also farther away, with a line.
  nameMark(mark, isImportant) {
    const w = (isImportant ? 7.7 : 7) * mark.name.length + 2, h = 14;
    const [x, y] = this.placeOf(mark);
    for (const ofLines of isImportant ? [true, false] : [true])
      for (let away = mark.radius + 2; away < mark.radius + (isImportant ? 70 : 12); away += 11)
        for (const [dx, dy] of [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]]) {
          const box = {x: x + dx * (away + w / 2) - w / 2, y: y + dy * (away + h / 2) - h / 2, w, h};
          if (!this.isFree(box, ofLines)) continue;
          this.taken.push(box);
          const near = [clamp(x, box.x, box.x + w), clamp(y, box.y, box.y + h)];
          return [
            ...(away > mark.radius + 14 ? [line([x, y], near, "leader")] : []),
            text([box.x + 1, box.y + 11], mark.name, `halo${isImportant ? " bold" : ""}`)
          ];
        }
    return [];
  }

  /// Roofs, then marks by rank.
  names() {
    const {left, right, top, bottom} = this.edges;
    const isInside = ([x, y]) => x > left - 1 && x < right + 1 && y > top - 1 && y < bottom + 1;
    const named = this.figure.marks
                      .filter((mark) => mark.rank >= 0 && mark.name && mark.x[0] > 0 && this.isDrawn(mark) &&
                              isInside(this.placeOf(mark)))
                      .sort((a, b) => a.rank - b.rank);
    return [
      ...this.figure.roofs.flatMap((roof) => this.nameRoof(roof)),
      ...named.flatMap(
          (mark, index) => this.nameMark(mark,
              mark.rank === 0 || index < (this.isNarrow ? 2 : mostNamed) + named.filter(({rank}) => !rank).length))
    ];
  }
}

let clips = 0;

/// The content of an SVG element of this size, and the scales of both axes.
export function drawFigure(figure, view, width, height) {
  const drawing = new Drawing(figure, view, width, height);
  const {left, right, top, bottom} = drawing.edges;
  const clip = `clip-${++clips}`;
  const inside = {x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, bottom - top)};
  const axes = drawing.axes();
  const lines = svg("g", {"clip-path": `url(#${clip})`}, ...drawing.roofs(), ...drawing.curves(), ...drawing.changes());
  const marks = svg("g", {class: "marks"}, ...drawing.marks());
  return {
    parts: [
      svg("clipPath", {id: clip}, svg("rect", inside)), svg("rect", {...inside, fill: "transparent"}), ...axes, lines,
      svg("g", {class: "pointed"}), marks, svg("g", {class: "names"}, ...drawing.names())
    ],
    x: drawing.x,
    y: drawing.y,
    edges: drawing.edges,
    isFree: (box) => drawing.isFree(box, false)
  };
}

/// The smallest view that holds these marks and roofs, a quarter of a decade wider.
export function boundsOf(marks, rates = []) {
  const around = (values) => {
    const known = values.filter((value) => value > 0 && Number.isFinite(value));
    return known.length ? [Math.min(...known) / 10 ** 0.25, Math.max(...known) * 10 ** 0.25] : null;
  };
  const x = around(marks.map((mark) => mark.x[0]));
  const y = around([...marks.map((mark) => mark.y[0]), ...rates]);
  return x && y ? {x, y} : null;
}

/// The view that holds all of them; null if there are none.
export function unionOf(views) {
  const known = views.filter(Boolean);
  const both =
      (axis) => [Math.min(...known.map((view) => view[axis][0])), Math.max(...known.map((view) => view[axis][1]))];
  return known.length ? {x: both("x"), y: both("y")} : null;
}
