// Converts the page's data into points and marks. analysis/report/page_data.cpp writes one JSON block with a column per
// number.

/// `text` is the content of the element #roof-data.
export function pageOf(text) {
  const {studies, trajectories} = JSON.parse(text);
  return {
    studies: studies.map((study, index) => ({
      ...study,
      index,
      figures: study.figures.map(({roofline, time}) => ({roofline: figureOf(roofline), time: figureOf(time)})),
      points: study.points.row.map((row, i) => point(study, index, i))
    })),
    trajectories: trajectories.map(figureOf)
  };
}

export const studiesOf = (text) => pageOf(text).studies;

function point(study, index, i) {
  const columns = study.points;
  const row = study.rows[columns.row[i]];
  const attainable = columns.attainable[i];
  const seconds = {median: columns.median[i], low: columns.low[i], high: columns.high_seconds[i]};
  return {
    key: `${index}:${i}`,
    study: index,
    row,
    seconds,
    attainable,
    flops: columns.flops[i],
    compulsory: columns.compulsory[i],
    executed: columns.executed[i] || columns.flops[i],
    rates: study.rates[columns.rates[i]],
    scope: study.scopes[columns.scope[i]],
    name: study.names[columns.name[i]],
    kind: study.kinds[columns.kind[i]],
    phase: study.phases[columns.phase[i]],
    text: columns.text[i],
    cells: columns.cells[i],
    label: study.names[columns.name[i]],
    headroom: Math.max(0, attainable > 0 ? seconds.median - attainable : 0)
  };
}

const range = ([drawn, low = drawn, high = drawn]) => [drawn, low, high];

/// A mark: { key, level, x, y, shape, classes, whisker, radius, name, rank, title }; x and y are [drawn, low, high].
/// The marks of one point at several levels follow one another. A curve: { css, marks }; its marks are keys.
function figureOf(figure) {
  const {marks: columns, looks} = figure;
  const marks = columns.key.flatMap((key, i) => columns.at[i].map(([level, ...x]) => {
    const [shape, ...classes] = looks[columns.look[i]].split(" ");
    return {
      key,
      level,
      x: range(x),
      y: range(columns.y[i]),
      shape: Number(shape),
      classes: classes.filter((name) => name !== "whisker"),
      whisker: classes.includes("whisker"),
      radius: columns.radius[i],
      name: columns.name[i],
      rank: columns.rank[i],
      title: columns.title[i],
      before: level ? null : columns.before?.[i]?.map(range) ?? null
    };
  }));
  return {...figure, marks};
}
