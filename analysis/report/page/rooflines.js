// Rooflines of one or several devices as an ECharts option: a pure function of data, choices and colours.
import {hierarchical, levelsOf} from "./choices.js";
import {duration, isAbove, shareText, si, tick, titleOf} from "./format.js";
import {gridEdges, labelPlaces, lineShape, rectanglesOf} from "./labels.js";
import {axisLook, seriesColour, shared} from "./palette.js";
import {placeNames, roofLines, roofSeries} from "./roof_lines.js";

export const symbols = {
  forward: "circle",
  backward: "rect",
  update: "triangle",
  "": "circle"
};
const radiusOfWholeStep = 26;

/// The diameter whose area is the point's share of the step's time.
export function diameter(point, whole) {
  const share = whole > 0 ? Math.min(1, point.seconds.median / whole) : 0;
  return 2 * Math.max(2.5, radiusOfWholeStep * Math.sqrt(share));
}

/// Clamps to the frame, so points outside it and points without FLOPs are drawn on its edge.
const inside = (value, [low, high]) => Math.min(high, Math.max(low, value > 0 ? value : low));

const spotOf = (point, level,
    frame) => [inside(level.intensityHigh, frame.intensity), inside(point.flops / point.seconds.median, frame.rate)];

/// For one point, a line over the intensities that its bytes allow at `levels`.
export function whiskerSeries(point, levels, view, palette) {
  return {
    id: "whiskers",
    type: "custom",
    name: "whiskers",
    data: point?.flops > 0 && levels.length ? [[1, 1]] : [],
    silent: true,
    animation: false,
    clip: true,
    z: 5,
    renderItem: (params, api) => {
      const rate = point.flops / point.seconds.median;
      const x = (value) => api.coord([inside(value, view.intensity), rate])[0];
      const all = levels.flatMap((level) => [level.intensityLow, level.intensityHigh]).filter((value) => value > 0);
      const y = api.coord([view.intensity[0], rate])[1];
      const style = {stroke: palette[point.phase] ?? palette.ink, lineWidth: 1.1, lineDash: [2, 3]};
      return {
        type: "group",
        silent: true,
        children: [
          lineShape([x(Math.min(...all)), y], [x(Math.max(...all)), y], style),
          ...levels.map((level) => x(level.intensityLow)).map((at) => lineShape([at, y - 4], [at, y + 4], style))
        ]
      };
    }
  };
}

/// A horizontal line at the rate of a point whose bytes are unknown: it has no intensity.
function rateLines(points, view, palette) {
  return {
    type: "line",
    name: "bytes unknown",
    symbol: "none",
    z: 2,
    data: [],
    silent: true,
    animation: false,
    markLine: {
      symbol: "none",
      silent: true,
      animation: false,
      lineStyle: {color: palette.ink, type: "dashed", width: 1.2},
      label: {position: "insideStartTop", color: palette.ink, formatter: ({name}) => name},
      data: points.map(
          (point) =>
              ({name: `${point.name}: bytes unknown`, yAxis: inside(point.flops / point.seconds.median, view.rate)}))
    }
  };
}

/// "features.3 bwd": the first of fused layers, and the phase.
const shortName = (point) =>
    `${point.name.split("+")[0]} ${{forward: "fwd", backward: "bwd"}[point.phase] ?? point.phase}`;

/// A mark of `point` at `level`. `colour`: of its run or its level; null: of its phase.
function item(point, level, frame, palette, whole,
    {batchAt = "", named = false, isNamed = true, colour: own = null, small = false}) {
  const step = point.scope === "step";
  const colour = own ?? (step ? palette.ink : palette[point.phase] ?? palette.ink);
  const hollow = point.scope !== "layer";
  const above = !hollow && isAbove(point, level);
  const text = batchAt ? `b${point.row.batch}` : shortName(point);
  let look = {color: colour, borderColor: palette.paper, borderWidth: 0.7, opacity: 0.62};
  if (above) look = {color: palette.paper, borderColor: colour, borderWidth: 1.4, opacity: 0.9};
  if (hollow) look = {color: step ? palette.paper : "transparent", borderColor: colour, borderWidth: 2, opacity: 1};
  return {
    value: spotOf(point, level, frame),
    key: point.key,
    title: hoverText(point) +
        (small ? `\nat ${level.name}: ${si(level.low, "B")}${
                     level.high > level.low ? ` to ${si(level.high, "B")}` : ""} (${level.known})` :
                 ""),
    symbol: step ? "circle" : symbols[point.phase],
    symbolSize: step ? 13 : Math.max(5, diameter(point, whole) * (small ? 0.6 : 1)),
    itemStyle: look,
    label: {
      show: Boolean(batchAt) || (isNamed && point.scope === "layer" && point.flops > 0),
      formatter: text,
      position: batchAt || "top",
      distance: 3,
      color: palette.ink,
      opacity: 1,
      fontSize: 11,
      fontWeight: named || batchAt ? 600 : 400,
      textBorderColor: palette.paper,
      textBorderWidth: 3
    },
  };
}

export const hoverText = (point) =>
    `${point.name}${point.phase ? ` ${point.phase}` : ""}: ${duration(point.seconds.median)}` +
    (point.flops > 0 ? `, ${si(point.flops / point.seconds.median, "FLOP/s")}` : ", no FLOPs") +
    (point.attainable > 0 ? `, of attainable: ${shareText(point)}` : "") +
    (point.scope === "step" ? `\n${titleOf(point.row)}` : "");

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

export const logAxis = (name, range, format, palette, extra) => ({
  ...axisLook(palette),
  type: "log",
  min: range[0],
  max: range[1],
  name,
  nameLocation: "middle",
  axisLabel: {color: palette.soft, formatter: format, hideOverlap: true, customValues: ticksOf(range)},
  axisTick: {customValues: ticksOf(range)},
  minorTick: {show: false},
  ...extra,
});

const mostNamed = 5;

/// Charts of several runs have less room for names.
const mostNamedOfSeveral = 2;

/// The colour of a roof or a mark: of its run where there are several, of its level where points are drawn at each,
/// else null.
function colours(group, groups, choices, palette) {
  const run = groups.length > 1 ? seriesColour(palette, group.index) : null;
  const byLevel = !run && hierarchical(choices) && !choices.level;
  const number = (name) => group.all.findIndex((level) => level.name === name);
  return {
    run,
    ofRoof: (roof) => run ?? (byLevel && roof.name ? seriesColour(palette, number(roof.name)) : palette.roof),
    ofLevel: (level) => run ?? (byLevel ? seriesColour(palette, number(level.name)) : null),
    byLevel
  };
}

function scatter(group, groups, choices, frame, palette, taken, size) {
  const {ofLevel, byLevel} = colours(group, groups, choices, palette);
  const order =
      [...group.shown].sort((a, b) => (b.scope === "layer") - (a.scope === "layer") || b.headroom - a.headroom);
  const named = new Set(
      order.filter((point) => point.scope === "layer").slice(0, groups.length > 1 ? mostNamedOfSeveral : mostNamed));
  const marks = order.flatMap(
      (point) => levelsOf(point, choices).map((level, index, all) => ({point, level, last: index === all.length - 1})));
  const isNamed = ({point, last}) => last && (groups.length === 1 || named.has(point));
  return {
    type: "scatter",
    name: `points ${group.name}`,
    z: 3,
    clip: true,
    data: marks.map(
        (mark) => item(mark.point, mark.level, frame, palette, group.whole,
            {named: named.has(mark.point), isNamed: isNamed(mark), colour: ofLevel(mark.level), small: byLevel})),
    labelLayout: labelPlaces(`labels ${group.name}`, (index) => named.has(marks[index].point) && marks[index].last,
        taken, size.width, size.height),
    emphasis: {scale: 1.25, itemStyle: {borderColor: palette.ink, borderWidth: 2, opacity: 1}},
  };
}

/// Whole steps by growing batch, joined.
function trajectories(group, groups, choices, frame, palette) {
  const {run} = colours(group, groups, choices, palette);
  const at = (point) => levelsOf(point, choices).at(-1);
  return group.steps.map((series) => series.filter(at)).map((series, index) => ({
    type: "line",
    name: `steps ${group.name} ${index}`,
    z: 4,
    clip: true,
    symbol: "circle",
    data: series.map((point, i) => item(point, at(point), frame, palette, group.whole,
                         {batchAt: i === 0             ? "bottom" :
                               i === series.length - 1 ? "top" :
                                                         "",
                           colour: run})),
    lineStyle: {color: run ?? palette.ink, width: 1.1, type: "dashed"},
    emphasis: {scale: 1.25, itemStyle: {borderWidth: 3}},
  }));
}

/// `groups`: a list of { name, index, roofs, all, shown, steps, whole }, one for each run in the chart: the roofs to
/// draw, `all` levels of its device, its layers and phases, its whole steps by growing batch, and the seconds that
/// areas are relative to. `frame`: fitted to the points, which are drawn on its edge if they are outside; `view`: the
/// part of it on the screen.
export function rooflineOption(
    {groups, frame, view = frame, choices, palette, title, selected = null, width = 800, height = 500}) {
  const unknown = groups.flatMap(({shown, steps}) => [...shown, ...steps.flat()])
                      .filter((point) => !point.levels.length && point.flops > 0 && point.scope !== "phase");
  const entries =
      groups.flatMap((group) => roofLines(group.roofs, view, colours(group, groups, choices, palette).ofRoof,
                         groups.length > 1 ? `${group.name}: ` : ""));
  const taken = new Map();
  const marks = [
    ...groups.map((group) => scatter(group, groups, choices, frame, palette, taken, {width, height})),
    ...groups.flatMap((group) => trajectories(group, groups, choices, frame, palette))
  ];
  for (const {name, data} of marks) taken.set(name, rectanglesOf(data, view, {width, height}));
  taken.set("roofs", placeNames(entries, [...taken.values()].flat(), view, {width, height}));
  return {
    ...shared(title, gridEdges, palette),
    xAxis: logAxis("arithmetic intensity (FLOP/B)", view.intensity, (value) => `${Number(value.toPrecision(2))}`,
        palette, {nameGap: 28}),
    yAxis: logAxis("", view.rate, (value) => tick(value, "FLOP/s"), palette, {}),
    series: [
      ...roofSeries(entries, palette),
      whiskerSeries(selected, selected ? levelsOf(selected, choices) : [], view, palette),
      rateLines(unknown, view, palette),
      ...marks,
    ],
  };
}
