// Draws the charts without a browser: node charts.mjs PAGE.json PAGE.html PACKAGES OUT_FOLDER writes an SVG for each.
import {readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";

import {batchOption, seriesOf, timeOption} from "../../analysis/report/page/batches.js";
import {chartsOf, firstChoices, pointsShown, roofsShown, stepsShown} from "../../analysis/report/page/choices.js";
import {fittedFrame, studiesOf} from "../../analysis/report/page/data.js";
import {paletteOf} from "../../analysis/report/page/palette.js";
import {diameter, rooflineOption} from "../../analysis/report/page/rooflines.js";

const [page, html, packages, out] = process.argv.slice(2);
const [, css] = /<style>([^]*?)<\/style>/.exec(readFileSync(html, "utf8"));
const light = paletteOf(css);
const echarts = createRequire(join(resolve(packages), "package.json"))("echarts");
const studies = studiesOf(readFileSync(page, "utf8"));
const choices = firstChoices(studies);
const [place] = chartsOf(studies);
const points = place.study.points.filter((point) => point.row.roofs === place.index);
const {layers, phases, whole} = pointsShown(points, choices);

const options = {
  roofline: rooflineOption({
    groups: [{
      name: "cpu",
      index: 0,
      all: place.roofs.levels,
      roofs: roofsShown(place.roofs, choices),
      shown: [...layers, ...phases],
      steps: stepsShown(points, choices),
      whole
    }],
    frame: fittedFrame(roofsShown(place.roofs, choices), layers),
    choices,
    palette: light,
    title: "Roofline"
  }),
  time: timeOption({shown: layers, whole, palette: light, size: diameter, title: "Time under the roofs"}),
  batches: batchOption({series: seriesOf(studies), what: "images/s", palette: light, title: "images/s over the batch"}),
};
for (const [name, option] of Object.entries(options)) {
  const chart = echarts.init(null, null, {renderer: "svg", ssr: true, width: 800, height: 500});
  chart.setOption(option);
  // One tag per line, so that differences are readable.
  writeFileSync(join(out, `chart-${name}.svg`), `${chart.renderToSVGString().replaceAll("><", ">\n<")}\n`);
  chart.dispose();
}
process.exit(0);
