// Where marks are drawn. POINTS.json: { key: [[intensity, ...], rate] } of the points that a roofline can show, from
// `roof report --data` (placements.csv); the intensities are the allowed ones, by level. The expected pixel comes from
// these and from the ticks on the screen, after random zooms and filters; in each view names are clear (names.mjs).
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {namesAreClear} from "./names.mjs";
import {choices, open} from "./opened.mjs";

let points = {}, seed = 20261123;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const pick = (list) => list[Math.floor(random() * list.length)];

/// The number that a tick says: "10 GFLOP/s", "0.5".
function numberOf(text) {
  const [, digits, prefix] = /^([\d.e+-]+) ?([PTGMkm\u00b5n]?)/.exec(text);
  return Number(digits) * {P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1, m: 1e-3, "\u00b5": 1e-6, n: 1e-9}[prefix];
}

/// From the two ticks farthest apart, the pixel of a value of a logarithmic axis; null with fewer than two ticks.
function pixels(ticks) {
  const [a, b] = [ticks[0], ticks.at(-1)];
  if (!a || a === b) return null;
  return (value) => a.at + (b.at - a.at) * Math.log(value / a.value) / Math.log(b.value / a.value);
}

/// What the visible rooflines show: ticks, marks, the frame, and the corners of all names.
const seen = (tab) =>
    tab.$$eval("#roofline .live-figure:not([hidden]) .chart > svg", (charts) => charts.map((chart) => {
      const middle = ({left, right, top, bottom}) => [(left + right) / 2, (top + bottom) / 2];
      const {left, right, top, bottom} = chart.querySelector(".axis").getBoundingClientRect();
      return {
        frame: {left, right, top, bottom},
        ticks: [...chart.querySelectorAll("[data-axis]")].map(
            (tick) =>
                ({axis: tick.dataset.axis, text: tick.textContent, middle: middle(tick.getBoundingClientRect())})),
        marks: [...chart.querySelectorAll(".marks [data-key]:not(.unknown)")].map((mark) => ({
          key: mark.dataset.key,
          level: mark.dataset.level,
          isOut: mark.classList.contains("outside"),
          shape: middle(mark.querySelector(".shape").getBoundingClientRect()),
          shapeKind: mark.querySelector(".shape").tagName,
          corners: mark.querySelector(".shape").getAttribute("points")
        }))
      };
    }));

/// The centre of a triangle's box is not its place.
const placeOf = ({shape: [x, y], corners}) => {
  const heights = corners?.split(" ").map((corner) => Number(corner.split(",")[1])) ?? [0];
  return [x, y - (Math.max(...heights) + Math.min(...heights)) / 2];
};

async function check(tab, what) {
  let checked = 0, outside = 0, worst = 0;
  await namesAreClear(tab, what);
  for (const {frame, ticks, marks} of await seen(tab)) {
    const of = (axis, at) => pixels(
        ticks.filter((tick) => tick.axis === axis).map((tick) => ({value: numberOf(tick.text), at: tick.middle[at]})));
    const x = of("x", 0), y = of("y", 1);
    if (!x || !y) continue;
    for (const mark of marks) {
      const point = points[mark.key];
      assert.ok(point, `${what}: no point of the data is ${mark.key}`);
      const intensity = point.x[mark.level];
      assert.ok(intensity > 0, `${what}: the data have no intensity of ${mark.key} at '${mark.level}'`);
      const expected = [x(intensity), y(point.y)];
      const isOut = expected[0] < frame.left - 1 || expected[0] > frame.right + 1 || expected[1] < frame.top - 1 ||
          expected[1] > frame.bottom + 1;
      if (isOut) {
        ++outside;
        assert.ok(mark.isOut, `${what}: ${mark.key} is outside and drawn as if inside`);
        continue;
      }
      if (mark.isOut) {
        const near = Math.min(...[expected[0] - frame.left, frame.right - expected[0], expected[1] - frame.top,
            frame.bottom - expected[1]]
                                  .map(Math.abs));
        assert.ok(near < 2, `${what}: ${mark.key} is inside and drawn as an arrow`);
        continue;
      }
      const place = placeOf(mark);
      const distance = Math.hypot(place[0] - expected[0], place[1] - expected[1]);
      worst = Math.max(worst, distance);
      assert.ok(distance <= 1, `${what}: ${mark.key} at ${place}, expected ${expected}`);
      ++checked;
    }
  }
  return {checked, outside, worst};
}

/// For each visible roofline, how many of its slanted roofs have a tenth of their length or more within the frame.
const slantedRoofs = (tab) =>
    tab.$$eval("#roofline .live-figure:not([hidden]) .chart > svg", (charts) => charts.map((chart) => {
      const {left, right, top, bottom} = chart.querySelector(".axis").getBoundingClientRect();
      return [...chart.querySelectorAll("[data-roof] .edge")]
          .filter((edge) => {
            const at = edge.getScreenCTM(), length = edge.getTotalLength();
            const spots = Array.from({length: 101}, (_, i) => edge.getPointAtLength(length * i / 100));
            const isSlanted = Math.abs(spots[0].y - spots[100].y) > 1;
            const inside = spots.map(({x, y}) => [at.a * x + at.e, at.d * y + at.f]).filter(([x,
              y]) => x >= left && x <= right && y >= top && y <= bottom);
            return isSlanted && inside.length > 10;
          })
          .length;
    }));

const zoom = async (tab, key) => {
  await tab.focus("#roofline .live-figure:not([hidden]) .chart");
  await tab.keyboard.press(key);
};
const press = (tab, text) => tab.$$eval(
    "#roofline .roofs button", (buttons, name) => buttons.find((button) => button.textContent === name).click(), text);
const select = async (tab, id) => {
  const values = await choices(tab, id);
  if (values.length) await tab.select(`#${id}`, pick(values));
};

export default async function(file) {
  points = JSON.parse(readFileSync(file, "utf8"));
  const {tab} = await open(1440, 900, "light");
  const sums = {checked: 0, outside: 0, worst: 0};
  const add = ({checked, outside, worst}) => {
    sums.checked += checked;
    sums.outside += outside;
    sums.worst = Math.max(sums.worst, worst);
  };
  add(await check(tab, "at first"));
  await tab.select("#choose-step", "*");
  add(await check(tab, "with all steps"));
  for (const slanted of await slantedRoofs(tab)) assert.ok(slanted > 0, "no slanted roof is in the view of all steps");
  for (const what of ["-", "drag", "choose-step", "choose-model", "choose-level", "+", "find", "runs", "Backspace"]) {
    if (what === "drag") {
      const {x, y, width, height} = await (await tab.$("#roofline .live-figure:not([hidden]) .chart")).boundingBox();
      await tab.mouse.move(x + width / 2, y + height / 2);
      await tab.mouse.down();
      await tab.mouse.move(x + width / 2 + 200 * (random() - 0.5), y + height / 2 + 100 * (random() - 0.5), {steps: 3});
      await tab.mouse.up();
    } else if (what === "find")
      await tab.type("#layer-search", pick(["conv", "backward", " "]));
    else if (what === "runs")
      await tab.$$eval(".runs .roof-button", (all, at) => all[Math.floor(at * all.length)]?.click(), random());
    else if (!what.startsWith("choose"))
      await zoom(tab, what);
    else
      await select(tab, what);
    add(await check(tab, `after ${what}`));
  }
  await press(tab, "Zoom to the layers");
  add(await check(tab, "after Zoom to the layers"));
  assert.ok(sums.checked > 0, "no mark was checked");
  return `${sums.checked} marks within ${sums.worst.toFixed(2)} pixels, ${sums.outside} arrows`;
}
