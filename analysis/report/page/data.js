// Converts the page's data into points. analysis/report/page_data.cpp writes one JSON block with a column per number.

/// `text` is the content of the element #roof-data.
export function studiesOf(text) {
  return JSON.parse(text).studies.map(
      (study, index) => ({...study, index, points: study.points.row.map((row, i) => point(study, index, i))}));
}

function point(study, index, i) {
  const columns = study.points;
  const row = study.rows[columns.row[i]];
  const roofs = study.roofs[row.roofs] ?? {levels: [], compute: []};
  const flops = columns.flops[i];
  const low = columns.compulsory[i];
  const bytesAt = (level, least, most) => ({
    name: roofs.levels[level].name,
    roof: roofs.levels[level].median,
    low: least,
    high: most,
    intensityLow: most > 0 ? flops / most : 0,
    intensityHigh: least > 0 ? flops / least : 0,
  });
  const levels = (columns.high[i] ?? []).map((high, level) => bytesAt(level, low, high));
  const moved =
      (columns.moved[i] ?? []).map(([least, most, known], level) => ({...bytesAt(level, least, most), known}));
  const seconds = {median: columns.median[i], low: columns.low[i], high: columns.high_seconds[i]};
  const attainable = columns.attainable[i];
  return {
    key: `${index}:${i}`,
    study: index,
    row,
    roofs,
    levels,
    moved,
    seconds,
    flops,
    attainable,
    compulsory: low,
    executed: columns.executed[i] || flops,
    scope: study.scopes[columns.scope[i]],
    name: study.names[columns.name[i]],
    kind: study.kinds[columns.kind[i]],
    phase: study.phases[columns.phase[i]],
    bound: study.bounds[columns.bound[i]],
    isAtMost: columns.at_most[i],
    servedBy: levels[columns.served[i] - 1]?.name ?? "",
    known: study.known,
    note: study.notes[columns.note[i]],
    bottlenecks: columns.bottlenecks[i].map(([roof, share]) => ({roof: study.roofNames[roof], share})),
    fraction: attainable > 0 ? attainable / seconds.median : 0,
    headroom: Math.max(0, attainable > 0 ? seconds.median - attainable : 0),
  };
}

const margin = 10 ** 0.25;
const mostOfTheTime = 0.98;

/// The frame of a chart, a quarter of a decade around its points and the roofs that matter to them: `roofs` of one
/// precision, up to their ridge point. The layers with the last two percent of the time do not stretch it.
/// `levelsOf`: the levels at which a point is drawn; `ridges`: the roofs whose ridge point is shown.
/// analysis/report/frame.cpp fits static pictures in the same way.
export function fittedFrame(
    roofs, points, levelsOf = (point) => point.levels.slice(-1), ridges = roofs.levels.slice(-1)) {
  const rates = roofs.compute.map((roof) => roof.median);
  const intensities = [];
  const far = roofs.levels.at(-1);
  if (rates.length) intensities.push(...ridges.map((roof) => Math.max(...rates) / roof.median));
  const longest = points.filter((point) => point.flops > 0).sort((a, b) => b.seconds.median - a.seconds.median);
  const total = longest.reduce((sum, point) => sum + point.seconds.median, 0);
  let sum = 0;
  for (const point of longest) {
    if (sum > mostOfTheTime * total) break;
    sum += point.seconds.median;
    rates.push(point.flops / point.seconds.median);
    for (const level of levelsOf(point))
      if (level.intensityHigh > 0) intensities.push(level.intensityHigh);
  }
  if (!longest.length && roofs.levels.length)
    intensities.push(Math.min(...rates) / roofs.levels[0].median / 10, intensities[0] * 10);
  if (!longest.length && intensities.length) rates.push(far.median * Math.min(...intensities));
  if (!rates.length || !intensities.length) return null;
  const around = (values) => [Math.min(...values) / margin, Math.max(...values) * margin];
  return {intensity: around(intensities), rate: around(rates)};
}

/// The frame that holds all of them; null if there are none.
export function unionOf(frames) {
  const known = frames.filter(Boolean);
  const both =
      (axis) => [Math.min(...known.map((frame) => frame[axis][0])), Math.max(...known.map((frame) => frame[axis][1]))];
  return known.length ? {intensity: both("intensity"), rate: both("rate")} : null;
}
