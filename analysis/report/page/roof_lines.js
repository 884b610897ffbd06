// The roofs of a roofline as ECharts series: lines, bands of their intervals, and names along the lines.
import {percent, si} from "./format.js";
import {lineShape, pixelOf} from "./labels.js";

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

/// One entry for each roof that the frame cuts: its line, its interval band, its spec line and its name with the
/// access, such as "DRAM, update". `colourOf`: of a roof.
export function roofLines(roofs, frame, colourOf, prefix = "") {
  const peak = Math.max(0, ...roofs.compute.map((roof) => roof.median)) || frame.rate[1];
  const fastest = Math.max(0, ...roofs.levels.map((roof) => roof.median));
  const entry = (roof, name, unit, level, lineAt, mix = false) => ({
    roof,
    name,
    unit,
    level,
    mix,
    prefix,
    colour: colourOf(roof),
    line: lineAt(roof.median),
    low: lineAt(roof.low),
    high: lineAt(roof.high),
    spec: roof.spec ? lineAt(roof.spec) : null
  });
  const slanted = (rate) => diagonal(rate, peak, frame);
  const flat = (rate) => levelLine(rate, peak, fastest, frame);
  return [
    ...roofs.levels.map((roof) => entry(roof, `${roof.name}, ${roof.operation}`, "B/s", true, slanted)),
    ...roofs.compute.map((roof) => entry(roof, `${roof.precision}, ${roof.operation}`, "FLOP/s", false, flat)),
    ...(roofs.mixes ?? [])
        .map((roof) => entry(roof, `${roof.precision}, ${roof.operation}`, "FLOP/s", false, flat, true)),
  ].filter(({line: [from, to]}) => from[0] < to[0]);
}

const sentence = ({roof, name, unit, prefix}) => `${prefix}${name} roof, ${roof.how}: ${si(roof.median, unit)} [${
                                                     si(roof.low, unit)}, ${si(roof.high, unit)}], ${roof.n} samples` +
    (roof.spec ?
            `; ${percent(roof.median / roof.spec)} of the ${si(roof.spec, unit)} that a guide specifies at that clock` :
            "");

function drawRoof(entry, palette) {
  return (params, api) => {
    const at = (spot) => api.coord(spot);
    const [from, to] = entry.line.map(at);
    const children = [
      {
        type: "polygon",
        shape: {points: [...entry.low.map(at), ...entry.high.map(at).reverse()]},
        style: {fill: entry.colour, opacity: 0.1}
      },
      lineShape(from, to, {stroke: entry.colour, lineWidth: 1.6, lineDash: entry.mix ? [6, 4] : null}),
    ];
    const style = {stroke: palette.soft, lineWidth: 1, lineDash: [2, 4], opacity: 0.8};
    if (entry.spec) children.push(lineShape(...entry.spec.map(at), style));
    if (entry.written) children.push(nameOf(entry, from, to, palette));
    return {type: "group", children};
  };
}

/// Narrower charts omit the rates of roofs and the names of mixes; the tooltips have both.
const roomForRates = 520;

function nameOf({written: {text, along, shift}, colour}, from, to, palette) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  return {
    type: "text",
    x: from[0] + along * Math.cos(angle),
    y: from[1] + along * Math.sin(angle),
    rotation: -angle,
    silent: true,
    style: {
      text,
      x: 0,
      y: shift,
      fill: colour === palette.roof ? palette.ink : colour,
      font: "600 12px system-ui, sans-serif",
      stroke: palette.paper,
      lineWidth: 3,
      align: "left",
      verticalAlign: shift < 0 ? "bottom" : "top"
    },
  };
}

/// Places the name above the line, or below it if the next higher line is too near.
function shiftOf(entry, entries) {
  const near = entries.some((other) => other !== entry && other.level === entry.level &&
          other.roof.median > entry.roof.median && other.roof.median < 1.6 * entry.roof.median);
  return near ? 4 : -4;
}

/// Sets `written` of each entry, { text, along, shift }: the name, where it begins on the line, and whether it stands
/// above or below; none where the line is too short. A name begins where it covers no mark, if there is such a place.
/// Returns what the lines and names cover, as rectangles. `marks`: rectangles.
export function placeNames(entries, marks, view, size) {
  const letter = 6.9, dot = 8, step = 12;
  const covered = [];
  const isFree = ([x, y]) => marks.every(
      (mark) => x < mark.x - dot || mark.x + mark.w + dot < x || y < mark.y - dot || mark.y + mark.h + dot < y);
  for (const entry of entries) {
    const [from, to] = entry.line.map((spot) => pixelOf(spot, view, size));
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const across = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const at = (along,
        shift) => [from[0] + along * across[0] - shift * across[1], from[1] + along * across[1] + shift * across[0]];
    for (let along = 0; along < length; along += 4) covered.push(at(along, 0));
    const isNarrow = size.width < roomForRates;
    const full = `${entry.prefix}${entry.name}: ${si(entry.roof.median, entry.unit)}`;
    const text = isNarrow || letter * full.length + 26 > length ? entry.prefix + entry.name : full;
    if (length < 60 || (entry.mix && isNarrow)) continue;
    const shift = shiftOf(entry, entries);
    const dots = (along) =>
        Array.from({length: Math.ceil(letter * text.length / dot)}, (_, i) => at(along + i * dot, 2.5 * shift));
    const first = entry.level ? 10 + 16 * Math.abs(across[1]) : 6;  // the frame would cut steep names at their start
    const last = Math.max(first, length - letter * text.length);
    let along = first;
    while (along < last && !dots(along).every(isFree)) along += step;
    entry.written = {text, along: along < last ? along : first, shift};
    covered.push(...dots(entry.written.along).map(([x, y]) => [x - dot / 2, y - dot / 2, dot]));
  }
  return covered.map(([x, y, side = 1]) => ({x, y, w: side, h: side}));
}

export function roofSeries(entries, palette) {
  return entries.map((entry) => ({
    type: "custom",
    name: `roof ${entry.prefix}${entry.name}`,
    data: [{value: entry.line[0], title: sentence(entry)}],
    clip: true,
    animation: false,
    z: 1,
    renderItem: drawRoof(entry, palette),
  }));
}
