// Two charts as ECharts options: steps over the batch, and the times that the roofs allow.
import {duration, percent, tick, withInterval} from "./format.js";
import {axisLook, seriesColour, shared} from "./palette.js";
import {hoverText, logAxis, symbols} from "./rooflines.js";

export const seriesName = (row) =>
    `${row.model} ${row.precision} ${row.where}${row.data === "-" || row.data === "synthetic" ? "" : `, ${row.data}`}`;

/// Steps by series; each series is sorted by batch.
export function seriesOf(studies) {
  const series = new Map();
  for (const study of studies) {
    for (const point of study.points.filter((p) => p.scope === "step" && p.row.batch > 0)) {
      const name = (studies.length > 1 ? `${study.name}: ` : "") + seriesName(point.row);
      if (!series.has(name)) series.set(name, []);
      series.get(name).push(point);
    }
  }
  for (const points of series.values()) points.sort((a, b) => a.row.batch - b.row.batch);
  return series;
}

/// What a step does in its time: images, or the work of the time that its roofs allow.
const workOf = {
  "images/s": (point) => point.row.step_images,
  "share of attainable": (point) => point.attainable
};

const over = (work, {median, low, high}) => ({median: work / median, low: work / high, high: work / low});

function drawInterval(points, value, colour) {
  return (params, api) => {
    const {low, high} = value(points[params.dataIndex]);
    const [x, top] = api.coord([points[params.dataIndex].row.batch, high]);
    const [, bottom] = api.coord([points[params.dataIndex].row.batch, low]);
    const style = {stroke: colour, lineWidth: 1.4};
    return {
      type: "group",
      silent: true,
      children: [[x, top, x, bottom], [x - 3, top, x + 3, top], [x - 3, bottom, x + 3, bottom]].map(
          ([x1, y1, x2, y2]) => ({type: "line", shape: {x1, y1, x2, y2}, style}))
    };
  };
}

/// `what` is a key of `workOf`.
export function batchOption({series, what, palette, title}) {
  const value = (point) => over(workOf[what](point), point.seconds);
  const share = what !== "images/s";
  const text = (at) => (share ? percent(at.median) : withInterval(at, "images/s"));
  const names = [...series.keys()];
  const batches = [...series.values()].flat().map((point) => Math.log2(point.row.batch));
  const first = Math.floor(Math.min(...batches));
  return {
    ...shared(title, {left: 58, right: 18, top: 14, bottom: 46}, palette),
    xAxis: {
      ...axisLook(palette),
      type: "log",
      logBase: 2,
      name: "batch (images; per rank under weak scaling)",
      nameLocation: "middle",
      nameGap: 26,
      min: 2 ** first,
      max: 2 ** Math.max(first + 1, Math.ceil(Math.max(...batches) - 1e-9)),
      axisLabel: {color: palette.soft, hideOverlap: true}
    },
    yAxis: {
      ...axisLook(palette),
      type: share ? "value" : "log",
      min: share ? 0 : undefined,
      max: share ? 1 : undefined,
      axisLabel: {
        color: palette.soft,
        hideOverlap: true,
        formatter: (v) => (share ? `${Math.round(100 * v)}%` : `${Number(v.toPrecision(3))}`)
      }
    },
    series: names.flatMap((name, index) => {
      const points = series.get(name).filter((point) => !share || point.attainable > 0);
      const colour = seriesColour(palette, index);
      return [
        {
          type: "line",
          name,
          step: "middle",
          symbol: "circle",
          symbolSize: 8,
          z: 3,
          lineStyle: {color: colour, width: 1.2, opacity: 0.6},
          itemStyle: {color: colour},
          emphasis: {scale: 1.5},
          data: points.map((point) => ({
            value: [point.row.batch, value(point).median],
            key: point.key,
            title: `${name}, batch ${point.row.batch}\n${text(value(point))}`
          }))
        },
        {
          type: "custom",
          name: `${name} interval`,
          silent: true,
          animation: false,
          z: 2,
          data: points.map((point) => [point.row.batch, value(point).median]),
          renderItem: drawInterval(points, value, colour)
        },
      ];
    }),
  };
}

/// For each point, the times that the compute roof and the farthest memory level allow. Includes work without FLOPs.
export function timeOption({shown, whole, palette, size, title}) {
  const at = (point) => {
    const compute = point.roofs.compute.find((roof) => roof.precision === point.row.precision);
    const memory = point.roofs.levels.at(-1);
    return [memory ? point.compulsory / memory.median : 0, compute ? point.executed / compute.median : 0];
  };
  const all = shown.flatMap(at).filter((value) => value > 0);
  if (!all.length) all.push(1e-3);  // the filters leave nothing
  const low = 10 ** Math.floor(Math.log10(Math.max(1e-9, Math.min(...all))));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...all, low * 10)));
  const clamp = (value) => Math.min(high, Math.max(low, value));
  const axis = (name, nameGap) => logAxis(name, [low, high], (value) => tick(value, "s"), palette, {nameGap});
  return {
    ...shared(title, {left: 76, right: 18, top: 14, bottom: 48}, palette),
    xAxis: axis("seconds the memory roof allows", 28),
    yAxis: axis("seconds the compute roof allows", 56),
    series: [
      {
        type: "line",
        name: "balance",
        silent: true,
        symbol: "none",
        data: [[low, low], [high, high]],
        lineStyle: {color: palette.roof, width: 1.4},
        endLabel: {show: false}
      },
      {
        type: "scatter",
        name: "points",
        z: 3,
        data: shown.map((point) => {
          const [memory, compute] = at(point);
          return {
            value: [clamp(memory), clamp(compute)],
            key: point.key,
            symbol: symbols[point.phase],
            symbolSize: size(point, whole),
            title: `${hoverText(point)}\nmemory ${duration(memory)}, compute ${duration(compute)}`,
            itemStyle:
                {color: palette[point.phase] ?? palette.ink, opacity: 0.6, borderColor: palette.paper, borderWidth: 0.7}
          };
        }),
        emphasis: {scale: 1.25, itemStyle: {borderColor: palette.ink, borderWidth: 2, opacity: 1}}
      },
    ],
  };
}
