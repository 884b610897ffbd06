// Converts the page's data into points. analysis/report/page_data.cpp writes one JSON block with a column per number.

/// `text` is the content of the element #roof-data.
export function studiesOf(text) {
  return JSON.parse(text).studies.map((study, index) => ({ ...study, index, points: pointsOf(study, index) }));
}

function pointsOf(study, index) {
  const columns = study.points;
  return columns.row.map((row, i) => point(study, index, columns, i, study.rows[row]));
}

function point(study, index, columns, i, row) {
  const roofs = study.roofs[row.roofs] ?? { levels: [], compute: [] };
  const flops = columns.flops[i];
  const low = columns.compulsory[i];
  const levels = (columns.high[i] ?? []).map((high, level) => ({
    name: roofs.levels[level].name, roof: roofs.levels[level].median, low, high, intensityLow: high > 0 ? flops / high : 0, intensityHigh: low > 0 ? flops / low : 0,
  }));
  const seconds = { median: columns.median[i], low: columns.low[i], high: columns.high_seconds[i] };
  const attainable = columns.attainable[i];
  return {
    key: `${index}:${i}`, study: index, row, roofs, levels, seconds, flops, attainable, compulsory: low,
    executed: columns.executed[i] || flops, scope: study.scopes[columns.scope[i]], name: study.names[columns.name[i]],
    kind: study.kinds[columns.kind[i]], phase: study.phases[columns.phase[i]], bound: study.bounds[columns.bound[i]],
    known: study.known, note: study.notes[columns.note[i]],
    bottlenecks: columns.bottlenecks[i].map(([roof, share]) => ({ roof: study.roofNames[roof], share })),
    fraction: attainable > 0 ? attainable / seconds.median : 0, headroom: Math.max(0, attainable > 0 ? seconds.median - attainable : 0),
  };
}

/// One frame for all charts: the union of the studies' frames, each of which depends on its ceilings alone.
export function frameOf(studies) {
  const frames = studies.map((study) => study.frame).filter(Boolean);
  if (!frames.length) return null;
  return {
    intensity: [Math.min(...frames.map((f) => f.intensity[0])), Math.max(...frames.map((f) => f.intensity[1]))],
    rate: [Math.min(...frames.map((f) => f.rate[0])), Math.max(...frames.map((f) => f.rate[1]))],
  };
}
