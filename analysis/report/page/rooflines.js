// The hierarchical roofline of one device as an ECharts option: a pure function of data, choices and colours.
import { duration, isAbove, percent, shareText, si, tick, titleOf } from "./format.js";

export const symbols = { forward: "circle", backward: "rect", update: "triangle", "": "circle" };
const radiusOfWholeStep = 26;

/// The diameter whose area is the point's share of the step's time.
export function diameter(point, whole) {
  const share = whole > 0 ? Math.min(1, point.seconds.median / whole) : 0;
  return 2 * Math.max(2.5, radiusOfWholeStep * Math.sqrt(share));
}

const levelOf = (point, name) => point.levels.find((level) => level.name === name) ?? point.levels.at(-1);

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

/// One entry for each roof: its line, its interval band, its spec line and its name.
export function roofLines(roofs, frame) {
  const compute = roofs.compute;
  const peak = Math.max(0, ...compute.map((roof) => roof.median)) || frame.rate[1];
  const fastest = Math.max(0, ...roofs.levels.map((roof) => roof.median));
  const line = (roof, lineAt) => ({
    line: lineAt(roof.median), low: lineAt(roof.low), high: lineAt(roof.high), spec: roof.spec ? lineAt(roof.spec) : null, roof,
  });
  return [
    ...roofs.levels.map((roof) => ({ ...line(roof, (rate) => diagonal(rate, peak, frame)), name: roof.name, unit: "B/s", level: true })),
    ...compute.map((roof) => ({
      ...line(roof, (rate) => levelLine(rate, peak, fastest, frame)), name: `${roof.precision} ${roof.operation}`, unit: "FLOP/s", level: false,
    })),
    ...(roofs.mixes ?? []).map((roof) => ({
      ...line(roof, (rate) => levelLine(rate, peak, fastest, frame)), name: `${roof.precision} ${roof.operation}`, unit: "FLOP/s", level: false, mix: true,
    })),
  ];
}

const sentence = ({ roof, name, unit }) =>
  `${name} roof, measured: ${si(roof.median, unit)} [${si(roof.low, unit)}, ${si(roof.high, unit)}], ${roof.n} samples` +
  (roof.spec ? `; ${percent(roof.median / roof.spec)} of the ${si(roof.spec, unit)} that a guide specifies at that clock` : "");

function drawRoof(entry, palette, shift) {
  return (params, api) => {
    const at = (spot) => api.coord(spot);
    const [from, to] = entry.line.map(at);
    const children = [
      { type: "polygon", shape: { points: [...entry.low.map(at), ...entry.high.map(at).reverse()] }, style: { fill: palette.roof, opacity: 0.1 } },
      { type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: palette.roof, lineWidth: 1.6, lineDash: entry.mix ? [6, 4] : null } },
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
  const text = width < roomForRates ? entry.name : `${entry.name} ${si(entry.roof.median, entry.unit)}`;
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const along = 10 + 16 * Math.abs(Math.sin(angle));  // the frame would cut steep names at their start
  const x = from[0] + (entry.level ? along * Math.cos(angle) : 6);
  const y = from[1] + (entry.level ? along * Math.sin(angle) : 0);
  return {
    type: "text", x, y, rotation: entry.level ? -angle : 0, silent: true,
    style: { text, x: 0, y: shift, fill: palette.ink, font: "600 12px system-ui, sans-serif", stroke: palette.paper, lineWidth: 3,
      align: "left", verticalAlign: shift < 0 ? "bottom" : "top" },
  };
}

/// Places the name above the line, or below it if the next higher line is too near.
function shiftOf(entry, entries) {
  const near = entries.some((other) => other !== entry && other.level === entry.level &&
    other.roof.median > entry.roof.median && other.roof.median < 1.6 * entry.roof.median);
  return near ? 4 : -4;
}

function roofSeries(roofs, frame, palette) {
  const entries = roofLines(roofs, frame);
  return entries.map((entry) => ({
    type: "custom", name: `roof ${entry.name}`, data: [{ value: entry.line[0], title: sentence(entry) }], clip: true, animation: false, z: 1,
    renderItem: drawRoof(entry, palette, shiftOf(entry, entries)),
  }));
}

/// For each level of one point, a line from the intensity without reuse to that of compulsory traffic.
export function whiskerSeries(point, view, palette) {
  return { id: "whiskers", type: "custom", name: "whiskers", data: point?.flops > 0 && point.levels.length ? [[1, 1]] : [], silent: true, animation: false,
    clip: true, z: 5, renderItem: (params, api) => {
      const rate = point.flops / point.seconds.median;
      const x = (value) => api.coord([inside(value, view.intensity), rate])[0];
      const all = point.levels.flatMap((level) => [level.intensityLow, level.intensityHigh]).filter((value) => value > 0);
      const y = api.coord([view.intensity[0], rate])[1];
      const style = { stroke: palette[point.phase] ?? palette.ink, lineWidth: 1.6 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", silent: true, children: [line(x(Math.min(...all)), y, x(Math.max(...all)), y),
        ...point.levels.map((level) => line(x(level.intensityLow), y - 4, x(level.intensityLow), y + 4))] };
    } };
}

/// A horizontal line at the rate of a point whose bytes are unknown: it has no intensity.
function rateLines(points, view, palette) {
  return { type: "line", name: "bytes unknown", symbol: "none", z: 2, data: [], silent: true, animation: false,
    markLine: { symbol: "none", silent: true, animation: false, lineStyle: { color: palette.ink, type: "dashed", width: 1.2 },
      label: { position: "insideStartTop", color: palette.ink, formatter: ({ name }) => name },
      data: points.map((point) => ({ name: `${point.name}: bytes unknown`, yAxis: inside(point.flops / point.seconds.median, view.rate) })) } };
}

function item(point, choices, frame, palette, whole, { batchAt, named }) {
  const step = point.scope === "step";
  const colour = step ? palette.ink : palette[point.phase] ?? palette.ink;
  const hollow = point.scope !== "layer";
  const above = !hollow && point.levels.length > 0 && isAbove(point, levelOf(point, choices.level));
  return {
    value: spotOf(point, levelOf(point, choices.level), frame), key: point.key, title: hoverText(point),
    symbol: step ? "circle" : symbols[point.phase], symbolSize: step ? 13 : diameter(point, whole),
    itemStyle: { color: hollow ? (step ? palette.paper : "transparent") : above ? palette.paper : colour,
      borderColor: hollow || above ? colour : palette.paper, borderWidth: hollow ? 2 : above ? 1.4 : 0.7, opacity: hollow ? 1 : above ? 0.9 : 0.62 },
    label: batchAt ? { show: true, formatter: `b${point.row.batch}`, position: batchAt, color: palette.ink, fontSize: 11,
      textBorderColor: palette.paper, textBorderWidth: 3 }
      : { show: !step && point.scope === "layer" && point.flops > 0, formatter: `${point.name} ${point.phase}`, position: "top", distance: 3, color: palette.ink, fontSize: 11,
        fontWeight: named ? 600 : 400, textBorderColor: palette.paper, textBorderWidth: 3 },
  };
}

export const hoverText = (point) =>
  `${point.name}${point.phase ? ` ${point.phase}` : ""}: ${duration(point.seconds.median)}` +
  (point.flops > 0 ? `, ${si(point.flops / point.seconds.median, "FLOP/s")}` : ", no FLOPs") +
  (point.attainable > 0 ? `, ${shareText(point)} of attainable` : "") + (point.scope === "step" ? `\n${titleOf(point.row)}` : "");

const axis = (name, range, format, palette, extra) => ({
  type: "log", min: range[0], max: range[1], name, nameLocation: "middle", nameTextStyle: { color: palette.soft },
  axisLabel: { color: palette.soft, formatter: format, hideOverlap: true, showMinLabel: range[1] < 100 * range[0], showMaxLabel: range[1] < 100 * range[0] }, axisLine: { lineStyle: { color: palette.soft }, onZero: false },
  splitLine: { lineStyle: { color: palette.line } }, minorTick: { show: false }, ...extra,
});

const mostNamed = 5;

/// Places labels one after another where there is room: above the mark, below it, beside it, then farther down. A label
/// in `always` is placed even if it covers another; any other one is then left out.
function labelPlaces(always, width) {
  const taken = [];
  const gap = 2;
  return ({ dataIndex, labelRect, rect }) => {
    const { width: w, height: h } = labelRect;
    const middle = rect.x + rect.width / 2 - w / 2;
    const row = (y) => [[middle, y], [rect.x + rect.width + gap, y], [rect.x - w - gap, y]];
    const above = rect.y - h - gap;
    const below = rect.y + rect.height + gap;
    const places = [...row(above), ...row(below), ...row(rect.y + rect.height / 2 - h / 2)];
    if (always(dataIndex)) for (let i = 1; i <= 8; ++i) places.push(...row(below + i * h));
    const fits = ([x, y]) => x > 84 && x + w < width - 8 && y > 2 && taken.every((other) => x + w < other.x || other.x + other.w < x || y + h < other.y || other.y + other.h < y);
    const found = places.find(fits) ?? (always(dataIndex) ? places[0] : [-9999, -9999]);
    taken.push({ x: found[0], y: found[1], w, h });
    return { x: found[0], y: found[1], align: "left", verticalAlign: "top" };
  };
}

/// `shown`: the points to draw; `steps`: whole steps by growing batch; `whole`: the seconds that areas are relative to;
/// `frame`: fitted to the points, which are drawn on its edge if they are outside; `view`: the part of it on the screen.
export function rooflineOption({ roofs, frame, view = frame, shown, steps, whole, choices, palette, title, selected = null, width = 800 }) {
  const placed = shown.filter((point) => point.levels.length).sort((a, b) => (b.scope === "layer") - (a.scope === "layer") || b.headroom - a.headroom);
  const named = new Set(placed.filter((point) => point.scope === "layer").slice(0, mostNamed));
  const unknown = [...shown, ...steps.flat()].filter((point) => !point.levels.length && point.flops > 0 && point.scope !== "phase");
  return {
    animation: false, backgroundColor: "transparent", aria: { enabled: true, label: { description: title } },
    grid: { left: 84, right: 16, top: 14, bottom: 48 },
    tooltip: { trigger: "item", confine: true, renderMode: "richText", backgroundColor: palette.paper, borderColor: palette.line,
      textStyle: { color: palette.ink, fontSize: 12 }, formatter: ({ data: at }) => at.title ?? "" },
    xAxis: axis("arithmetic intensity (FLOP/B)", view.intensity, (value) => `${Number(value.toPrecision(2))}`, palette, { nameGap: 28 }),
    yAxis: axis("", view.rate, (value) => tick(value, "FLOP/s"), palette, {}),
    series: [
      ...roofSeries(roofs, view, palette),
      whiskerSeries(selected, view, palette),
      rateLines(unknown, view, palette),
      { type: "scatter", name: "points", data: placed.map((point) => item(point, choices, frame, palette, whole, { named: named.has(point) })), z: 3, clip: true,
        labelLayout: labelPlaces((index) => named.has(placed[index]), width),
        emphasis: { scale: 1.25, itemStyle: { borderColor: palette.ink, borderWidth: 2, opacity: 1 } } },
      ...trajectories(steps, choices, frame, palette, whole),
    ],
  };
}

function trajectories(steps, choices, frame, palette, whole) {
  return steps.map((series) => series.filter((point) => point.levels.length)).map((series, index) => ({
    type: "line", name: index ? `steps ${index}` : "steps", z: 4,
    data: series.map((point, i) => item(point, choices, frame, palette, whole, { batchAt: i === 0 ? "bottom" : i === series.length - 1 ? "top" : "" })), symbol: "circle",
    lineStyle: { color: palette.ink, width: 1.1, type: "dashed" }, emphasis: { scale: 1.25, itemStyle: { borderWidth: 3 } },
  }));
}
