// Where the arrows of a baseline begin: POINTS.json
// POINTS.json: { "INTENSITY RATE": true } of the earlier points, from the tables of the earlier run's own report. The
// pixels come from the ticks on the screen.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {open} from "./opened.mjs";

export default async function(file) {
  const points = JSON.parse(readFileSync(file, "utf8"));
  const {tab} = await open(1440, 900, "light");
  const {ticks, arrows} = await tab.$eval("#roofline .live-figure:not([hidden]) .chart > svg", (chart) => ({
    ticks: [...chart.querySelectorAll("[data-axis]")].map((tick) => ({
      axis: tick.dataset.axis,
      value: Number(tick.dataset.at),
      at: tick.dataset.axis === "x" ? Number(tick.getAttribute("x")) : Number(tick.getAttribute("y")) - 4
    })),
    arrows: [...chart.querySelectorAll(".change")].map((arrow) => ({
      key: arrow.dataset.from,
      from: /M([-\d.e]+) ([-\d.e]+)/.exec(arrow.querySelector(".change-line").getAttribute("d")).slice(1)
    }))
  }));
  const value = (axis, pixel) => {
    const own = ticks.filter((tick) => tick.axis === axis);
    const [a, b] = [own[0], own.at(-1)];
    return a.value * (b.value / a.value) ** ((pixel - a.at) / (b.at - a.at));
  };
  const scale = (axis) => {
    const own = ticks.filter((tick) => tick.axis === axis);
    return Math.abs((own[0].at - own.at(-1).at) / Math.log(own[0].value / own.at(-1).value));
  };
  assert.ok(arrows.length > 10, `${arrows.length} arrows`);
  let worst = 0;
  for (const {key, from} of arrows) {
    const [x, y] = [value("x", Number(from[0])), value("y", Number(from[1]))];
    const away = Math.min(...points.map(
        ([intensity, rate]) => Math.hypot(scale("x") * Math.log(x / intensity), scale("y") * Math.log(y / rate))));
    worst = Math.max(worst, away);
    assert.ok(away <= 1, `the arrow to ${key} begins at ${x}, ${y}, ${away} pixels from any earlier point`);
  }
  const section = await tab.$eval("#baseline", (one) => one.innerText);  // without what is folded
  assert.match(section, /Baseline: /);
  return `${arrows.length} arrows begin within ${worst.toFixed(2)} pixels`;
}
