// Where things are: scales, ticks, the ends of roofs and their ridge points, shapes, names and legends, views.
import {plain} from "./format.js";

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
export const mostNamed = 5;

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
  const part = [
    [], [[-0.89, -0.89]], [[0, -1.35], [1.1745, 0.675], [-1.1745, 0.675]], [[0, -1.35]],
    [[-1.2, -0.4], [-0.4, -0.4], [-0.4, -1.2]]
  ][shape];
  const turned = (turns) => part.map(([x, y]) => [[x, y], [-y, x], [-x, -y], [y, -x]][turns]);
  const corners = (shape === 2 ? [0] : [0, 1, 2, 3]).flatMap(turned);
  return svg(
      "polygon", {class: "shape", points: corners.map(([x, y]) => `${at[0] + r * x},${at[1] + r * y}`).join(" ")});
}

export const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/// What a mark covers: a triangle reaches farther up than down.
export const discOf = ({key, shape, radius}, [x, y]) =>
    ({key, at: [x, y - (shape === 2 ? 0.3375 * radius : 0)], radius: [1, 1, 1.1745, 1.35, 1.2][shape] * radius});

/// From the edge of a disc to a box.
export const distanceOf = ({at: [x, y], radius}, {x: left, y: top, w, h}) =>
    Math.hypot(x - clamp(x, left, left + w), y - clamp(y, top, top + h)) - radius;

/// Where the levels' roofs meet the flat ones of the same device, as Figure::ridges() in figure.cpp.
export function ridgesOf(roofs) {
  const groups = [...new Set(roofs.map(({among}) => among ?? roofs))];
  return groups
      .flatMap((among) => {
        const [flat, slanted] =
            [false, true].map((kind) => among.filter((roof) => roof.slanted === kind && !roof.extra && roof.label));
        const farthest = Math.min(...slanted.map(({rate}) => rate[0]));
        return flat.flatMap(({name, rate: [y]}) => slanted.map(({name: level, rate: [rate]}) => ({
          x: y / rate,
          y,
          title: `Ridge point of ${level} and ${name.split(" ")[0]}: ${plain(y / rate, 2)} FLOP/B`,
          words: rate === farthest ? `${plain(y / rate, 2)} FLOP/B` : ""
        })));
      })
      .filter(({x, y}, i, all) => all.findIndex((one) => one.x === x && one.y === y) === i);  // of precisions alike
}

export const lineHeight = 18;

/// So many small boxes on the line between two places.
export const dots = ([x, y], [toX, toY], count) => Array.from({length: count},
    (_, i) => ({x: x + (toX - x) * i / (count - 1) - 1, y: y + (toY - y) * i / (count - 1) - 1, w: 2, h: 2}));

/// Directions from a mark to its name, first choice first: above, below, beside, then between.
export const sides =
    [
      8, 24, 0, 16, 4, 12, 20, 28, 6, 10, 22, 26, 2, 14, 18, 30, 7, 9, 23, 25, 5, 11, 21, 27, 3, 13, 19, 29, 1, 15, 17,
      31
    ].map((part) => part * Math.PI / 16)
        .map((angle) => [Math.cos(angle), -Math.sin(angle)].map((part) => Math.round(100 * part) / 100));

/// Where the entries of a legend begin, from left to right in lines of this width.
export function spotsOf(legend, width) {
  let x = 0, y = 0;
  return legend.map(([, , words]) => {
    const step = 28 + 6.6 * words.length;
    if (x > 0 && x + step > width) [x, y] = [0, y + lineHeight];
    x += step;
    return [x - step, y];
  });
}

export function wrapped(words, most) {
  const lines = [""];
  for (const word of words.split(" "))
    if (lines.at(-1).length + word.length < most)
      lines[lines.length - 1] += `${word} `;
    else
      lines.push(`${word} `);
  return lines;
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
