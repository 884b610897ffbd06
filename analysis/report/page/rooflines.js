// The hierarchical roofline of one device as an ECharts option: a pure function of data, choices and colours.
import { duration, isAbove, percent, si, tick, titleOf } from "./format.js";

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
export function roofLines(roofs, frame, precision) {
  const compute = roofs.compute.filter((roof) => !precision || roof.precision === precision);
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
    ...(roofs.mixes ?? []).filter((roof) => !precision || roof.precision === precision).map((roof) => ({
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
      { type: "polygon", shape: { points: [...entry.low.map(at), ...entry.high.map(at).reverse()] }, style: { fill: palette.roof, opacity: 0.18 } },
      { type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: palette.roof, lineWidth: 1.6, lineDash: entry.mix ? [6, 4] : null } },
    ];
    if (entry.spec) {
      const [a, b] = entry.spec.map(at);
      children.push({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
        style: { stroke: palette.soft, lineWidth: 1, lineDash: [2, 4], opacity: 0.8 } });
    }
    const { width } = params.coordSys;
    if (!entry.mix || width >= roomForRates) children.push(label(entry, from, to, palette, shift, width));
    return { type: "group", children };
  };
}

/// Narrower charts omit the rates of roofs and the names of mixes; the tooltips have both.
const roomForRates = 420;

function label(entry, from, to, palette, shift, width) {
  const text = width < roomForRates ? entry.name : `${entry.name} ${si(entry.roof.median, entry.unit)}`;
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const along = 10 + 16 * Math.abs(Math.sin(angle));  // the frame would cut steep names at their start
  const x = entry.level ? from[0] + along * Math.cos(angle) : to[0] - 6;
  const y = entry.level ? from[1] + along * Math.sin(angle) : to[1];
  return {
    type: "text", x, y, rotation: entry.level ? -angle : 0, silent: true,
    style: { text, x: 0, y: shift, fill: palette.ink, font: "600 12px system-ui, sans-serif", stroke: palette.paper, lineWidth: 3,
      align: entry.level ? "left" : "right", verticalAlign: shift < 0 ? "bottom" : "top" },
  };
}

/// Places the name above the line, or below it if the next higher line is too near.
function shiftOf(entry, entries) {
  const near = entries.some((other) => other !== entry && other.level === entry.level &&
    other.roof.median > entry.roof.median && other.roof.median < 1.6 * entry.roof.median);
  return near ? 4 : -4;
}

function roofSeries(roofs, frame, precision, palette) {
  const entries = roofLines(roofs, frame, precision);
  return entries.map((entry) => ({
    type: "custom", name: `roof ${entry.name}`, data: [{ value: entry.line[0], title: sentence(entry) }], clip: true, animation: false, z: 1,
    renderItem: drawRoof(entry, palette, shiftOf(entry, entries)),
  }));
}

/// For each level, a line from the intensity without reuse to that of compulsory traffic. Lines of one point are
/// joined.
function drawInterval(points, frame, palette) {
  return (params, api) => {
    const point = points[params.dataIndex];
    const rate = inside(point.flops / point.seconds.median, frame.rate);
    const all = point.levels.flatMap((level) => [level.intensityLow, level.intensityHigh]).filter((value) => value > 0);
    if (!all.length) return null;
    const [x1, y] = api.coord([inside(Math.min(...all), frame.intensity), rate]);
    const [x2] = api.coord([inside(Math.max(...all), frame.intensity), rate]);
    const style = { stroke: palette[point.phase] ?? palette.ink, lineWidth: 1, opacity: 0.4 };
    const marks = point.levels.map((level) => api.coord([inside(level.intensityLow, frame.intensity), rate])[0]);
    return { type: "group", silent: true, children: [{ type: "line", shape: { x1, y1: y, x2, y2: y }, style },
      ...marks.map((x) => ({ type: "line", shape: { x1: x, y1: y - 3, x2: x, y2: y + 3 }, style }))] };
  };
}

function item(point, choices, frame, palette, whole, batchAt) {
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
      textBorderColor: palette.paper, textBorderWidth: 3 } : { show: false },
  };
}

export const hoverText = (point) =>
  `${point.name}${point.phase ? ` ${point.phase}` : ""}: ${duration(point.seconds.median)}` +
  (point.flops > 0 ? `, ${si(point.flops / point.seconds.median, "FLOP/s")}` : ", no FLOPs") +
  (point.attainable > 0 ? `, ${percent(point.fraction)} of its ceiling` : "") + (point.scope === "step" ? `\n${titleOf(point.row)}` : "");

const axis = (name, range, format, palette, extra) => ({
  type: "log", min: range[0], max: range[1], name, nameLocation: "middle", nameTextStyle: { color: palette.soft },
  axisLabel: { color: palette.soft, formatter: format, hideOverlap: true }, axisLine: { lineStyle: { color: palette.soft }, onZero: false },
  splitLine: { lineStyle: { color: palette.line } }, minorTick: { show: false }, ...extra,
});

/// `shown`: the points to draw; `steps`: whole steps by growing batch; `whole`: the seconds that areas are relative to.
export function rooflineOption({ roofs, frame, shown, steps, whole, choices, palette, title }) {
  const data = (points) => points.map((point) => item(point, choices, frame, palette, whole));
  return {
    animation: false, backgroundColor: "transparent", aria: { enabled: true, label: { description: title } },
    grid: { left: 84, right: 16, top: 14, bottom: 48 },
    tooltip: { trigger: "item", confine: true, renderMode: "richText", backgroundColor: palette.paper, borderColor: palette.line,
      textStyle: { color: palette.ink, fontSize: 12 }, formatter: ({ data: at }) => at.title ?? "" },
    xAxis: axis("arithmetic intensity (FLOP/B)", frame.intensity, (value) => `${Number(value.toPrecision(3))}`, palette, { nameGap: 28 }),
    yAxis: axis("", frame.rate, (value) => tick(value, "FLOP/s"), palette, {}),
    series: [
      ...roofSeries(roofs, frame, choices.precision, palette),
      { type: "custom", name: "levels", data: shown.map((point) => ({ value: spotOf(point, levelOf(point, choices.level), frame) })), silent: true,
        animation: false, clip: true, z: 2, renderItem: drawInterval(shown, frame, palette) },
      { type: "scatter", name: "points", data: data(shown), z: 3, emphasis: { scale: 1.25, itemStyle: { borderColor: palette.ink, borderWidth: 2, opacity: 1 } } },
      ...trajectories(steps, choices, frame, palette, whole),
    ],
  };
}

function trajectories(steps, choices, frame, palette, whole) {
  return steps.map((series, index) => ({
    type: "line", name: index ? `steps ${index}` : "steps", z: 4,
    data: series.map((point, i) => item(point, choices, frame, palette, whole, i === 0 ? "bottom" : i === series.length - 1 ? "top" : "")), symbol: "circle",
    lineStyle: { color: palette.ink, width: 1.1, type: "dashed" }, emphasis: { scale: 1.25, itemStyle: { borderWidth: 3 } },
  }));
}
