// Converts the page's data into points and their marks. analysis/report/page_data.cpp writes one JSON block with a
// column per number.

/// `text` is the content of the element #roof-data.
export const studiesOf = (text) => JSON.parse(text).studies.map((found, index) => {
  const study = {...found, index, points: found.points.row.map((row, i) => point(found, index, i))};
  for (const row of study.rows) row.layers = study.points.filter((one) => one.row === row && one.scope === "layer");
  return study;
});

const range = ([drawn, low = drawn, high = drawn]) => [drawn, low, high];

/// `marks`: one at its least bytes, whose `level` is empty, and one at each level; `time`: that among the times, or
/// null. A mark: { key, level, x, y, shape, classes, whisker, radius, name, rank }; x and y are [drawn, low, high].
function point(study, index, i) {
  const of = (column) => study.points[column][i];
  const row = study.rows[of("row")], scope = study.scopes[of("scope")], phase = study.phases[of("phase")];
  const name = study.names[of("name")], label = study.names[of("label")], flops = of("flops"),
        attainable = of("attainable");
  const seconds = {median: of("median"), low: of("low"), high: of("high_seconds")};
  const mark = {
    key: `${index}:${i}`,
    level: "",
    y: [seconds.median, seconds.high, seconds.low].map((time) => flops / time),
    shape: Math.max(0, of("phase") - 1),
    classes: scope === "step" ? ["step"] : [phase,
      scope === "phase" ? "outline" :
          of("hollow")  ? "hollow" :
                          "dot"],
    whisker: scope === "step",
    radius: of("radius"),
    name: label,
    rank: of("rank")
  };
  return {
    key: mark.key,
    row,
    scope,
    phase,
    name,
    seconds,
    attainable,
    flops,
    label: scope === "step" ? label : name,
    number: scope === "layer" && mark.rank > 0 ? mark.rank : "",
    compulsory: of("compulsory"),
    executed: of("executed") || flops,
    rates: study.rates[of("rates")],
    kind: study.kinds[of("kind")],
    text: of("text"),
    cells: of("cells"),
    headroom: Math.max(0, attainable > 0 ? seconds.median - attainable : 0),
    marks: of("at").map(([level,
      ...x]) => ({...mark, level, x: range(x), before: level || !of("before") ? null : of("before").map(range)})),
    time: of("time") && { ...mark, x: range(of("time")[0]), y: range(of("time")[1]) }
  };
}
