// Draws a figure of analysis/report/figure.hpp in a view, with the rules of draw.cpp: what is outside the view is an
// arrow at its edge, outlines lie below points, no text covers another, and a name is nearest to its own mark or has a
// leader.
// clang-format off
import {clamp, discOf, distanceOf, dots, lineHeight, lineOf, meet, mostNamed, ridgesOf, scaleOf, shapeOf, sides, spotsOf, svg, ticksIn, wrapped} from "./geometry.js";
// clang-format on

const apart = ([x1, y1], [x2, y2]) => Math.hypot(x2 - x1, y2 - y1);

const degrees = (x, y) => (180 / Math.PI) * Math.atan2(y, x);

/// In the direction from one place to another.
function arrowHead(from, to, at, d) {
  const turn = degrees(to[0] - from[0], to[1] - from[1]);
  return svg("path", {class: "arrow shape", d, transform: `translate(${at.join(" ")}) rotate(${turn})`});
}

const line = ([x1, y1], [x2, y2], name) => svg("path", {class: name, d: `M${x1} ${y1}L${x2} ${y2}`});

function text([x, y], words, name, turn = 0) {
  return svg("text", {class: name, x, y, ...(turn ? {transform: `rotate(${turn} ${x} ${y})`} : {})}, words);
}

/// Without the rate.
const nameOf = ({label}) => (label.includes(": ") ? label.slice(0, label.lastIndexOf(": ")) : label);

class Drawing {
  /// `figure`: { x, y, roofs, marks, curves, legend }, on paper also heading, lines, and table, rows of texts;
  /// `view`: { x: [low, high], y: [low, high] }. Without a height the plot has that of a picture.
  constructor(figure, view, width, height) {
    const {heading = [], legend = [], table = []} = figure;
    this.heading = heading.flatMap((words) => wrapped(words, width / 7.5));
    this.spots = spotsOf(legend, width - 30);
    const top = 28 + 20 * this.heading.length, key = this.spots.length ? this.spots.at(-1)[1] + lineHeight : 0;
    const below = key + (table.length ? lineHeight * (table.length + 1) : 0);
    this.height = height || top + 610 + below;
    const left = 84, right = width - 24, bottom = this.height - 46 - below;
    this.edges = {left, right, top, bottom};
    this.tableTop = bottom + 64 + key;
    Object.assign(
        this, {figure, view, isNarrow: width < 520, taken: [], texts: [], lines: [], arrows: [], discs: new Map()});
    this.x = scaleOf(view.x, left, right, figure.x.linear);
    this.y = scaleOf(view.y, bottom, top, figure.y.linear);
  }

  /// As covered.
  take(boxes, ...parts) {
    this.taken.push(...boxes);
    this.texts.push(...boxes);
    return parts;
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
    this.taken.push({x: left, y: top - 28, w: 7 * this.figure.y.label.length, h: 22});
    parts.push(svg("path", {class: "axis", d: `M${left} ${top}V${bottom}H${right}`}),
        text([left, top - 10], this.figure.y.label, "label"),
        svg("text", {class: "label middle", x: (left + right) / 2, y: bottom + 36}, label));
    return parts;
  }

  lineAt(roof, rate) {
    return lineOf(roof, rate, roof.among ?? this.figure.roofs, this.view.x).map(([x,
      y]) => [this.x.at(x), this.y.at(y)]);
  }

  roofs() {
    const {left, right, top, bottom} = this.edges;
    const roofs = this.figure.roofs.map((roof) => {
      const [[from, to], low, high] = roof.rate.map((rate) => this.lineAt(roof, rate));
      this.lines.push(...dots(from, to, 101));
      const spec = roof.spec > 0 ? [line(...this.lineAt(roof, roof.spec), "reported-mark")] : [];
      return svg("g",
          {class: `roof${roof.dashed || roof.extra ? " mix" : ""} ${roof.colour ?? ""}`, "data-roof": roof.label},
          svg("title", {}, roof.title), svg("polygon", {class: "band", points: [...low, ...high.reverse()].join(" ")}),
          line(from, to, "edge"), ...spec);
    });
    this.ridges =
        ridgesOf(this.figure.roofs).map((ridge) => ({...ridge, at: [this.x.at(ridge.x), this.y.at(ridge.y)]})).filter(({
          at: [x, y]
        }) => x > left && x < right && y > top && y < bottom);
    this.taken.push(...this.ridges.map(({at: [x, y]}) => ({x: x - 4, y: y - 4, w: 8, h: 8})));
    const ring = ({at, title}) => svg("g", {class: "ridge"}, svg("title", {}, title), shapeOf(0, 3, at));
    return [...roofs, ...this.ridges.map(ring)];
  }

  placeOf({x, y}) { return [this.x.at(x[0]), this.y.at(y[0])]; }

  /// Whether the axes can show the mark at all.
  isDrawn({y}) { return y[0] > 0 || this.figure.y.linear; }

  curves() {
    return this.figure.curves.filter(({marks}) => marks.length > 1).flatMap(({css, marks}) => {
      const spots = marks.map((mark) => this.placeOf(mark));
      this.lines.push(...spots.slice(1).flatMap((to, i) => dots(spots[i], to, 41)));
      const path =
          svg("path", {class: `curve ${css}`, d: spots.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("")});
      if (!css.startsWith("trajectory")) return [path];
      const heads = spots.slice(1).map((to, i) => [spots[i], to]).filter(([from, to]) => apart(from, to) > 30);
      const middle = ([a, b], [c, d]) => [(a + c) / 2, (b + d) / 2];  // the arrow is towards the larger batch
      return [
        path,
        svg("g", {class: css.replace("trajectory", "mark")},
            ...heads.map(([from, to]) => arrowHead(from, to, middle(from, to), "M4 0L-4 3V-3Z")))
      ];
    });
  }

  /// Arrows from a baseline's points, with their intervals.
  changes() {
    const known = this.figure.marks.filter((mark) => mark.before && mark.x[0] > 0 && this.isDrawn(mark));
    return known.map((mark) => {
      const [[x], [y, low, high]] = mark.before;
      const [from, to] = [[this.x.at(x), this.y.at(y)], this.placeOf(mark)];
      return svg("g", {class: "change", "data-from": mark.key, "data-x": x, "data-y": y},
          line([from[0], this.y.at(low)], [from[0], this.y.at(high)], "interval"), line(from, to, "change-line"),
          ...(apart(from, to) > 8 ? [arrowHead(from, to, to, "M0 0L-8 3V-3Z")] : []));
    });
  }

  /// Outlines and steps first, then the large and the small: nothing hides a point.
  marks() {
    const below = ({classes}) => (classes.includes("outline") ? 2 : classes.includes("step") ? 1 : 0);
    const order = this.figure.marks.filter((mark) => this.isDrawn(mark))
                      .sort((a, b) => below(b) - below(a) || b.radius - a.radius);
    const parts = order.map((mark) => this.mark(mark));
    for (const {at, count} of this.arrows.filter((one) => one.count > 1)) {
      const box = {x: at[0] - 1, y: at[1] - 11, w: 7 * `${count}`.length + 2, h: 14};
      parts.push(...this.take([box], text(at, `${count}`, "tick count")));
    }
    return parts;
  }

  mark(mark) {
    const {left, right, top, bottom} = this.edges;
    const data = {"data-key": mark.key, "data-level": mark.level, "data-x": mark.x[0] ?? 0, "data-y": mark.y[0]};
    if (!(mark.x[0] > 0)) {
      const y = this.y.at(mark.y[0]);
      return svg("g", {class: "mark unknown", ...data}, line([left, y], [right, y], "edge"));
    }
    const at = this.placeOf(mark);
    const inside = [clamp(at[0], left, right), clamp(at[1], top, bottom)];
    const isOut = apart(at, inside) > 0.5;
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
    const disc = discOf(mark, at), {at: [x, y], radius} = disc;
    this.taken.push({x: x - radius, y: y - radius, w: 2 * radius, h: 2 * radius});
    this.discs.set(mark, disc);
    return made;
  }

  whiskers({x, y}, at) {
    const {left, right, top, bottom} = this.edges;
    const parts = [];
    if (x[1] < x[2]) {
      const [from, to] = [x[1], x[2]].map((value) => clamp(this.x.at(value), left, right) - at[0]);
      parts.push(line([from, 0], [to, 0], "interval"), line([from, -4], [from, 4], "interval"));
      this.lines.push(...dots([at[0] + from, at[1]], [at[0] + to, at[1]], 101));
    }
    if (y[1] < y[2]) {
      const [from, to] = [y[1], y[2]].map((value) => clamp(this.y.at(value), top, bottom) - at[1]);
      parts.push(line([0, from], [0, to], "interval"), line([-3, from], [3, from], "interval"),
          line([-3, to], [3, to], "interval"));
    }
    return parts;
  }

  /// At the edge, towards the place outside; arrows whose counts would be near one another are counted together.
  arrow(made, at, edge) {
    made.append(arrowHead(edge, at, [0, 0], "M0 0L-9 5V-5Z"));
    const {left, right, top, bottom} = this.edges;
    const spot = [clamp(edge[0], left + 12, right - 26), clamp(edge[1], top + 20, bottom - 12)];
    const near = this.arrows.find((one) => apart(spot, one.at) < 26);
    if (near)
      ++near.count;
    else
      this.arrows.push({at: spot, count: 1});
    this.taken.push({x: edge[0] - 12, y: edge[1] - 12, w: 24, h: 24});
  }

  isFree(box, ofLines) {
    const {left, right, top, bottom} = this.edges;
    return box.x > left && box.x + box.w < right + 20 && box.y > top - 12 && box.y + box.h < bottom &&
        !this.taken.some((other) => meet(box, other)) && !(ofLines && this.lines.some((other) => meet(box, other)));
  }

  /// Along a line, above or below it, the first of these texts where it covers nothing, or at least no text and mark.
  nameAlong([from, to], texts, name, isAtEnd) {
    const letter = 7.7, cell = 11, length = apart(from, to);
    const [dx, dy] = [0, 1].map((axis) => (to[axis] - from[axis]) / length);
    const at = (forward, aside) => [from[0] + forward * dx - aside * dy, from[1] + forward * dy + aside * dx];
    for (const ofLines of [true, false])
      for (const words of texts) {
        const wide = letter * words.length + 8;  // capitals are wider
        for (let start = 6; start + wide < length; start += 12)
          for (const shift of isAtEnd ? [-5, 14, -20] : [-5, 14]) {
            const begin = isAtEnd ? length - start - wide : start;
            const cells =
                Array.from({length: Math.ceil(wide / cell)}, (_, i) => at(begin + (i + 0.5) * cell, shift - 4)).map(([
                  x, y
                ]) => ({x: x - cell / 2, y: y - cell / 2, w: cell, h: cell}));
            if (cells.every((box) => this.isFree(box, ofLines)))
              return this.take(cells, text(at(begin, shift), words, name, degrees(dx, dy)));
          }
      }
    return [];
  }

  nameRoof(roof) {
    const along = this.lineAt(roof, roof.rate[0]);
    const isMain = !roof.extra && roof.label.startsWith(roof.name.split(" ")[0]);
    const texts = [roof.label, nameOf(roof), ...(isMain ? [roof.name] : [])].slice(this.isNarrow ? 1 : 0);
    if (!roof.label || !(apart(...along) > 40)) return [];
    return this.nameAlong(along, texts, `name ${roof.colour ?? ""}`, !roof.slanted);
  }

  nameUnknown({name, y}) {
    const at = this.y.at(y[0]);
    return this.nameAlong([[this.edges.left, at], [this.edges.right, at]], [`${name}: bytes unknown`], "halo", false);
  }

  /// The name with its number, or the number alone; of a layer without room for its name the number.
  nameMark(mark, isWhole) {
    const number = mark.rank > 0 && mark.rank < Infinity ? `${mark.rank}` : "";
    const words = isWhole ? `${number} ${mark.name}`.trim() : number || mark.name;
    const parts = this.nameAround(this.discs.get(mark), words, isWhole);
    return parts.length || !isWhole || !number ? parts : this.nameMark(mark, false);
  }

  /// In a large mark, above, below or beside it, where no other is as near; a whole name also farther away, with a
  /// leader that crosses no text.
  nameAround({key, at, radius}, words, isWhole) {
    const w = (isWhole ? 7.7 : 7) * words.length + 2, h = 14, [x, y] = at;
    const others = [...this.discs.values()].filter((other) => other.key !== key);
    const passed = others.filter((other) => apart(at, other.at) > other.radius);
    const write = (box, dx, ...leader) => {
      const [anchor, begin] = dx > 0.5 ? ["", 1] : dx < -0.5 ? [" end", w - 1] : [" middle", w / 2];
      const name = text([box.x + begin, box.y + 11], words, `halo${isWhole ? " bold" : ""}${anchor}`);
      if (key) Object.assign(name.dataset, {of: key, ...(leader.length ? {leader: ""} : {})});
      return this.take([box], ...leader, name);
    };
    const within = {x: x - w / 2, y: y - h / 2, w, h};
    const isCovered = () =>
        this.texts.some((other) => meet(other, within)) || others.some((other) => distanceOf(other, within) <= 0);
    if (!isWhole && radius > w / 2 && !isCovered()) return write(within, 0);
    for (const ofLines of isWhole ? [true, false] : [true])
      for (let away = radius + 2; away < radius + (isWhole ? 110 : 12); away += 11)
        for (const [dx, dy] of sides) {
          const box = {x: x + dx * (away + w / 2) - w / 2, y: y + dy * (away + h / 2) - h / 2, w, h};
          if (!this.isFree(box, ofLines)) continue;
          if (away <= radius + 12) {
            const own = distanceOf({at, radius}, box) + 3;
            if (others.some((other) => distanceOf(other, box) <= own + 0.2 * (radius + other.radius))) continue;
            return write(box, dx);
          }
          const near = [clamp(x, box.x, box.x + w), clamp(y, box.y, box.y + h)], leader = dots(at, near, 48);
          const crosses = (spot) => this.texts.some((other) => meet(spot, other)) ||
              (distanceOf({at, radius}, spot) > 4 && passed.some((other) => distanceOf(other, spot) < 2));
          if (leader.some(crosses)) continue;
          this.taken.push(...leader);
          this.texts.push(...leader.filter((spot) => distanceOf({at, radius}, spot) > 0));
          return write(box, dx, line(at, near, "leader"));
        }
    return [];
  }

  legend() {
    const {bottom} = this.edges;
    return (this.figure.legend ?? []).map(([shape, look, words, radius = 5.5], i) => {
      const x = 8 + this.spots[i][0], y = bottom + 46 + this.spots[i][1];
      return svg(
          "g", {class: `mark ${look}`}, shapeOf(shape, radius, [x + 6, y + 6]), text([x + 16, y + 10], words, "tick"));
    });
  }

  /// Above the plot its heading, below it the table of its points, columns as wide as their longest text.
  paper() {
    const {table = []} = this.figure,
                   words = (row, line, i, x) =>
                       text([x, this.tableTop + lineHeight * line], row[i], line ? "cell" : "label");
    let end = 8;
    const columns = (table[0] ?? []).flatMap((_, i) => {
      const x = end;
      end += 7 * Math.max(...table.map((row) => `${row[i]}`.length)) + 14;
      return table.map((row, line) => words(row, line, i, x));
    });
    return [...this.heading.map((words, i) => text([8, 20 * i + 14], words, i ? "label" : "name")), ...columns];
  }

  /// Roofs, then marks by rank; on paper the steps and the layers of the table alone.
  names() {
    const {marks, roofs, table} = this.figure;
    const isLayer = ({rank}) => rank > 0 && rank < Infinity;
    const isTold = (mark) => !isLayer(mark) || !table || table.some(([number]) => number === mark.rank);
    const drawn = marks.filter((mark) => mark.name && this.isDrawn(mark));
    const named =
        drawn.filter((mark) => mark.rank >= 0 && this.discs.has(mark) && isTold(mark)).sort((a, b) => a.rank - b.rank);
    const first = named.filter(isLayer).slice(0, this.isNarrow ? 2 : mostNamed);
    const isWhole = (mark) => (isLayer(mark) ? first.includes(mark) : !mark.rank || Boolean(table));
    return [
      ...drawn.filter(({x}) => !(x[0] > 0)).flatMap((mark) => this.nameUnknown(mark)),
      ...roofs.flatMap((roof) => this.nameRoof(roof)),
      ...this.ridges.flatMap(({at, words}) => (words ? this.nameAround({at, radius: 3}, words, false) : [])),
      ...named.flatMap((mark) => this.nameMark(mark, isWhole(mark)))
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
      marks, svg("g", {class: "names"}, ...drawing.names()), svg("g", {class: "key"}, ...drawing.legend()),
      ...drawing.paper()
    ],
    x: drawing.x,
    y: drawing.y,
    height: drawing.height
  };
}
