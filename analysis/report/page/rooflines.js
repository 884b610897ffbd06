// Rooflines of one or several devices as an ECharts option: a pure function of data, choices and colours.
import { hierarchical, levelsOf } from "./choices.js";
import { seriesColour } from "./palette.js";
import { duration, isAbove, percent, shareText, si, tick, titleOf } from "./format.js";

export const symbols = { forward: "circle", backward: "rect", update: "triangle", "": "circle" };
const radiusOfWholeStep = 26;

/// The diameter whose area is the point's share of the step's time.
export function diameter(point, whole) {
  const share = whole > 0 ? Math.min(1, point.seconds.median / whole) : 0;
  return 2 * Math.max(2.5, radiusOfWholeStep * Math.sqrt(share));
}

/// Clamps to the frame, so points outside it and points without FLOPs are drawn on its edge.
const inside = (value, [low, high]) => Math.min(high, Math.max(low, value > 0 ? value : low));

const spotOf = (point, level, frame) =>
  [inside(level.intensityHigh, frame.intensity), inside(point.flops / point.seconds.median, frame.rate)];

/// [from, to] of rate = bandwidth * intensity inside the frame and below the peak.
function diagonal(bandwidth, peak, frame) {
  const from = Math.max(frame.intensity[0], frame.rate[0] / bandwidth);
  const to = Math.min(frame.intensity[1], peak / bandwidth);
  return [[from, from * bandwidth], [to, to * bandwidth]];
}

function levelLine(rate, peak, fastest, frame) {
  const from = fastest > 0 ? Math.max(frame.intensity[0], rate / fastest) : frame.intensity[0];
  return [[from, rate], [frame.intensity[1], rate]];
}

/// One entry for each roof that the frame cuts: its line, its interval band, its spec line and its name. `colourOf`: of a roof.
export function roofLines(roofs, frame, colourOf, prefix = "") {
  const peak = Math.max(0, ...roofs.compute.map((roof) => roof.median)) || frame.rate[1];
  const fastest = Math.max(0, ...roofs.levels.map((roof) => roof.median));
  const entry = (roof, name, unit, level, lineAt, mix = false) => ({ roof, name, unit, level, mix, prefix, colour: colourOf(roof),
    line: lineAt(roof.median), low: lineAt(roof.low), high: lineAt(roof.high), spec: roof.spec ? lineAt(roof.spec) : null });
  const slanted = (rate) => diagonal(rate, peak, frame);
  const flat = (rate) => levelLine(rate, peak, fastest, frame);
  return [
    ...roofs.levels.map((roof) => entry(roof, roof.name, "B/s", true, slanted)),
    ...roofs.compute.map((roof) => entry(roof, `${roof.precision} ${roof.operation}`, "FLOP/s", false, flat)),
    ...(roofs.mixes ?? []).map((roof) => entry(roof, `${roof.precision} ${roof.operation}`, "FLOP/s", false, flat, true)),
  ].filter(({ line: [from, to] }) => from[0] < to[0]);
}

const sentence = ({ roof, name, unit, prefix }) =>
  `${prefix}${name} roof, ${roof.how}: ${si(roof.median, unit)} [${si(roof.low, unit)}, ${si(roof.high, unit)}], ${roof.n} samples` +
  (roof.spec ? `; ${percent(roof.median / roof.spec)} of the ${si(roof.spec, unit)} that a guide specifies at that clock` : "");

function drawRoof(entry, palette, shift) {
  return (params, api) => {
    const at = (spot) => api.coord(spot);
    const [from, to] = entry.line.map(at);
    const children = [
      { type: "polygon", shape: { points: [...entry.low.map(at), ...entry.high.map(at).reverse()] }, style: { fill: entry.colour, opacity: 0.1 } },
      { type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: entry.colour, lineWidth: 1.6, lineDash: entry.mix ? [6, 4] : null } },
    ];
    if (entry.spec) {
      const [a, b] = entry.spec.map(at);
      children.push({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
        style: { stroke: palette.soft, lineWidth: 1, lineDash: [2, 4], opacity: 0.8 } });
    }
    const { width } = params.coordSys;
    const isShort = Math.hypot(to[0] - from[0], to[1] - from[1]) < 60;
    if (!isShort && (!entry.mix || width >= roomForRates)) children.push(label(entry, from, to, palette, shift, width));
    return { type: "group", children };
  };
}

/// Narrower charts omit the rates of roofs and the names of mixes; the tooltips have both.
const roomForRates = 420;

function label(entry, from, to, palette, shift, width) {
  const text = entry.prefix + (width < roomForRates ? entry.name : `${entry.name} ${si(entry.roof.median, entry.unit)}`);
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const along = 10 + 16 * Math.abs(Math.sin(angle));  // the frame would cut steep names at their start
  const x = from[0] + (entry.level ? along * Math.cos(angle) : 6);
  const y = from[1] + (entry.level ? along * Math.sin(angle) : 0);
  return {
    type: "text", x, y, rotation: entry.level ? -angle : 0, silent: true,
    style: { text, x: 0, y: shift, fill: entry.colour === palette.roof ? palette.ink : entry.colour, font: "600 12px system-ui, sans-serif", stroke: palette.paper, lineWidth: 3,
      align: "left", verticalAlign: shift < 0 ? "bottom" : "top" },
  };
}

/// Places the name above the line, or below it if the next higher line is too near.
function shiftOf(entry, entries) {
  const near = entries.some((other) => other !== entry && other.level === entry.level &&
    other.roof.median > entry.roof.median && other.roof.median < 1.6 * entry.roof.median);
  return near ? 4 : -4;
}

function roofSeries(entries, palette) {
  return entries.map((entry) => ({
    type: "custom", name: `roof ${entry.prefix}${entry.name}`, data: [{ value: entry.line[0], title: sentence(entry) }], clip: true, animation: false, z: 1,
    renderItem: drawRoof(entry, palette, shiftOf(entry, entries)),
  }));
}

/// For one point, a line over the intensities that its bytes allow at `levels`.
export function whiskerSeries(point, levels, view, palette) {
  return { id: "whiskers", type: "custom", name: "whiskers", data: point?.flops > 0 && levels.length ? [[1, 1]] : [], silent: true, animation: false,
    clip: true, z: 5, renderItem: (params, api) => {
      const rate = point.flops / point.seconds.median;
      const x = (value) => api.coord([inside(value, view.intensity), rate])[0];
      const all = levels.flatMap((level) => [level.intensityLow, level.intensityHigh]).filter((value) => value > 0);
      const y = api.coord([view.intensity[0], rate])[1];
      const style = { stroke: palette[point.phase] ?? palette.ink, lineWidth: 1.6 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", silent: true, children: [line(x(Math.min(...all)), y, x(Math.max(...all)), y),
        ...levels.map((level) => line(x(level.intensityLow), y - 4, x(level.intensityLow), y + 4))] };
    } };
}

/// A horizontal line at the rate of a point whose bytes are unknown: it has no intensity.
function rateLines(points, view, palette) {
  return { type: "line", name: "bytes unknown", symbol: "none", z: 2, data: [], silent: true, animation: false,
    markLine: { symbol: "none", silent: true, animation: false, lineStyle: { color: palette.ink, type: "dashed", width: 1.2 },
      label: { position: "insideStartTop", color: palette.ink, formatter: ({ name }) => name },
      data: points.map((point) => ({ name: `${point.name}: bytes unknown`, yAxis: inside(point.flops / point.seconds.median, view.rate) })) } };
}

/// "features.3 bwd": the first of fused layers, and the phase.
const shortName = (point) => `${point.name.split("+")[0]} ${{ forward: "fwd", backward: "bwd" }[point.phase] ?? point.phase}`;

/// A mark of `point` at `level`. `colour`: of its run or its level; null: of its phase.
function item(point, level, frame, palette, whole, { batchAt = "", named = false, isNamed = true, colour: own = null, small = false }) {
  const step = point.scope === "step";
  const colour = own ?? (step ? palette.ink : palette[point.phase] ?? palette.ink);
  const hollow = point.scope !== "layer";
  const above = !hollow && isAbove(point, level);
  const text = batchAt ? `b${point.row.batch}` : shortName(point);
  return {
    value: spotOf(point, level, frame), key: point.key, title: hoverText(point) + (small ? `\nat ${level.name}: ${si(level.low, "B")}${level.high > level.low ? ` to ${si(level.high, "B")}` : ""} (${level.known})` : ""),
    symbol: step ? "circle" : symbols[point.phase], symbolSize: step ? 13 : Math.max(5, diameter(point, whole) * (small ? 0.6 : 1)),
    itemStyle: { color: hollow ? (step ? palette.paper : "transparent") : above ? palette.paper : colour,
      borderColor: hollow || above ? colour : palette.paper, borderWidth: hollow ? 2 : above ? 1.4 : 0.7, opacity: hollow ? 1 : above ? 0.9 : 0.62 },
    label: { show: Boolean(batchAt) || (isNamed && point.scope === "layer" && point.flops > 0), formatter: text, position: batchAt || "top", distance: 3, color: palette.ink,
      opacity: 1, fontSize: 11, fontWeight: named || batchAt ? 600 : 400, textBorderColor: palette.paper, textBorderWidth: 3 },
  };
}

export const hoverText = (point) =>
  `${point.name}${point.phase ? ` ${point.phase}` : ""}: ${duration(point.seconds.median)}` +
  (point.flops > 0 ? `, ${si(point.flops / point.seconds.median, "FLOP/s")}` : ", no FLOPs") +
  (point.attainable > 0 ? `, ${shareText(point)} of attainable` : "") + (point.scope === "step" ? `\n${titleOf(point.row)}` : "");

/// 1, 2 and 5 in each decade, or whole decades where there are more than three.
export function ticksOf([low, high]) {
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); 10 ** decade <= high; ++decade)
    for (const step of [1, 2, 5]) {
      const at = Number(`${step}e${decade}`);
      if ((step === 1 || high < 1000 * low) && at >= low && at <= high) ticks.push(at);
    }
  return ticks;
}

const axis = (name, range, format, palette, extra) => ({
  type: "log", min: range[0], max: range[1], name, nameLocation: "middle", nameTextStyle: { color: palette.soft },
  axisLabel: { color: palette.soft, formatter: format, hideOverlap: true, customValues: ticksOf(range) }, axisTick: { customValues: ticksOf(range) }, axisLine: { lineStyle: { color: palette.soft }, onZero: false },
  splitLine: { lineStyle: { color: palette.line } }, minorTick: { show: false }, ...extra,
});

const mostNamed = 5;

const gridEdges = { left: 84, right: 16, top: 14, bottom: 48 };

/// The rectangles of the marks of a series on the screen.
function rectanglesOf(data, view, width, height) {
  const along = (value, [low, high], from, to) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  const room = (label) => (label.show && label.position !== "top" ? 16 : 0);  // the batch below the first step
  return data.map(({ value: [intensity, rate], symbolSize: size, label }) => ({ x: along(intensity, view.intensity, gridEdges.left, width - gridEdges.right) - size / 2,
    y: along(rate, view.rate, height - gridEdges.bottom, gridEdges.top) - size / 2, w: size, h: size + room(label) }));
}

/// Places labels one after another where they cover no mark and no other label: above the mark, below it, beside it, then
/// farther away. A label in `always` is placed even if it covers another; any other one is then left out. `taken`: lists of
/// rectangles by series, which the series of a chart share.
function labelPlaces(name, always, taken, width, height) {
  const gap = 2;
  let before = Infinity;
  return ({ dataIndex, labelRect, rect }) => {
    if (dataIndex <= before) taken.set(name, []);  // a new layout begins
    before = dataIndex;
    const { width: w, height: h } = labelRect;
    const middle = rect.x + rect.width / 2 - w / 2;
    const row = (y) => [[middle, y], [rect.x + rect.width + gap, y], [rect.x - w - gap, y]];
    const above = rect.y - h - gap;
    const below = rect.y + rect.height + gap;
    const places = [...row(above), ...row(below), ...row(rect.y + rect.height / 2 - h / 2)];
    if (always(dataIndex)) for (let i = 1; i <= 8; ++i) places.push(...row(below + i * h), ...row(above - i * h));
    const fits = ([x, y]) => x > gridEdges.left && x + w < width - 8 && y > 2 && y + h < height - gridEdges.bottom &&
      [...taken.values()].every((list) => list.every((other) => x + w < other.x || other.x + other.w < x || y + h < other.y || other.y + other.h < y));
    const found = places.find(fits) ?? (always(dataIndex) ? places[0] : [-9999, -9999]);
    taken.get(name).push({ x: found[0], y: found[1], w, h });
    return { x: found[0], y: found[1], align: "left", verticalAlign: "top" };
  };
}

/// Charts of several runs have less room for names.
const mostNamedOfSeveral = 2;

/// The colour of a roof or a mark: of its run where there are several, of its level where points are drawn at each, else null.
function colours(group, groups, choices, palette) {
  const run = groups.length > 1 ? seriesColour(palette, group.index) : null;
  const byLevel = !run && hierarchical(choices) && !choices.level;
  const number = (name) => group.all.findIndex((level) => level.name === name);
  return { run, ofRoof: (roof) => run ?? (byLevel && roof.name ? seriesColour(palette, number(roof.name)) : palette.roof), ofLevel: (level) => run ?? (byLevel ? seriesColour(palette, number(level.name)) : null), byLevel };
}

function scatter(group, groups, choices, frame, palette, taken, size) {
  const { ofLevel, byLevel } = colours(group, groups, choices, palette);
  const order = [...group.shown].sort((a, b) => (b.scope === "layer") - (a.scope === "layer") || b.headroom - a.headroom);
  const named = new Set(order.filter((point) => point.scope === "layer").slice(0, groups.length > 1 ? mostNamedOfSeveral : mostNamed));
  const marks = order.flatMap((point) => levelsOf(point, choices).map((level, index, all) => ({ point, level, last: index === all.length - 1 })));
  const isNamed = ({ point, last }) => last && (groups.length === 1 || named.has(point));
  return {
    type: "scatter", name: `points ${group.name}`, z: 3, clip: true,
    data: marks.map((mark) => item(mark.point, mark.level, frame, palette, group.whole, { named: named.has(mark.point), isNamed: isNamed(mark), colour: ofLevel(mark.level), small: byLevel })),
    labelLayout: labelPlaces(`labels ${group.name}`, (index) => named.has(marks[index].point) && marks[index].last, taken, size.width, size.height),
    emphasis: { scale: 1.25, itemStyle: { borderColor: palette.ink, borderWidth: 2, opacity: 1 } },
  };
}

/// Whole steps by growing batch, joined.
function trajectories(group, groups, choices, frame, palette) {
  const { run } = colours(group, groups, choices, palette);
  const at = (point) => levelsOf(point, choices).at(-1);
  return group.steps.map((series) => series.filter(at)).map((series, index) => ({
    type: "line", name: `steps ${group.name} ${index}`, z: 4, clip: true, symbol: "circle",
    data: series.map((point, i) => item(point, at(point), frame, palette, group.whole, { batchAt: i === 0 ? "bottom" : i === series.length - 1 ? "top" : "", colour: run })),
    lineStyle: { color: run ?? palette.ink, width: 1.1, type: "dashed" }, emphasis: { scale: 1.25, itemStyle: { borderWidth: 3 } },
  }));
}

/// `groups`: a list of { name, index, roofs, all, shown, steps, whole }, one for each run in the chart: the roofs to draw, `all`
/// levels of its device, its layers and phases, its whole steps by growing batch, and the seconds that areas are relative to.
/// `frame`: fitted to the points, which are drawn on its edge if they are outside; `view`: the part of it on the screen.
export function rooflineOption({ groups, frame, view = frame, choices, palette, title, selected = null, width = 800, height = 500 }) {
  const unknown = groups.flatMap(({ shown, steps }) => [...shown, ...steps.flat()]).filter((point) => !point.levels.length && point.flops > 0 && point.scope !== "phase");
  const entries = groups.flatMap((group) => roofLines(group.roofs, view, colours(group, groups, choices, palette).ofRoof, groups.length > 1 ? `${group.name}: ` : ""));
  const taken = new Map();
  const marks = [...groups.map((group) => scatter(group, groups, choices, frame, palette, taken, { width, height })), ...groups.flatMap((group) => trajectories(group, groups, choices, frame, palette))];
  for (const { name, data } of marks) taken.set(name, rectanglesOf(data, view, width, height));
  return {
    animation: false, backgroundColor: "transparent", aria: { enabled: true, label: { description: title } },
    grid: gridEdges,
    tooltip: { trigger: "item", confine: true, renderMode: "richText", backgroundColor: palette.paper, borderColor: palette.line,
      textStyle: { color: palette.ink, fontSize: 12 }, formatter: ({ data: at }) => at.title ?? "" },
    xAxis: axis("arithmetic intensity (FLOP/B)", view.intensity, (value) => `${Number(value.toPrecision(2))}`, palette, { nameGap: 28 }),
    yAxis: axis("", view.rate, (value) => tick(value, "FLOP/s"), palette, {}),
    series: [
      ...roofSeries(entries, palette),
      whiskerSeries(selected, selected ? levelsOf(selected, choices) : [], view, palette),
      rateLines(unknown, view, palette),
      ...marks,
    ],
  };
}
