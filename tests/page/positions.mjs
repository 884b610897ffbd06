// Where marks are drawn: node positions.mjs PAGE.html PACKAGES CHROMIUM POINTS.json
// POINTS.json: { key: [[intensity, ...], rate] } of the points that a roofline can show, from `roof report --data`
// (placements.csv); the intensities are the allowed ones, by level. The expected pixel comes from these and from the
// ticks on the screen, after ten random zooms and filters. No text covers another one in any of the views, and a name
// without a leader is nearer to its own mark than to any other.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {browser, open, pause, problems, rest} from "./opened.mjs";

const points = JSON.parse(readFileSync(rest[0], "utf8"));
let seed = 20261123;
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
      /// The corners of a text, which may be turned, a little inside: letters do not fill their line.
      const corners = (one) => {
        const {x, y, width, height} = one.getBBox(), at = one.getScreenCTM();
        const inside =
            [[x + 1, y + 3], [x + width - 1, y + 3], [x + width - 1, y + height - 3], [x + 1, y + height - 3]];
        return {
          text: one.textContent,
          corners: inside.map(([a, b]) => [at.a * a + at.c * b + at.e, at.b * a + at.d * b + at.f])
        };
      };
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
        })),
        names: [...chart.querySelectorAll(".names text, .marks text")].map(corners),
        near: [...chart.querySelectorAll(".names text[data-of]:not([data-leader])")].map((name) => {
          const own = name.getBoundingClientRect();
          const away = [...chart.querySelectorAll(".marks [data-key]:not(.unknown,.outside)")].map((mark) => {
            const {left: a, right: b, top: c, bottom: d} = mark.querySelector(".shape").getBoundingClientRect();
            const radius = (b - a) / 2, x = (a + b) / 2, y = (c + d) / 2;
            const dx = Math.max(own.left - x, 0, x - own.right), dy = Math.max(own.top - y, 0, y - own.bottom);
            return [mark.dataset.key, Math.hypot(dx, dy) - radius];
          });
          const least = (list) => Math.min(Infinity, ...list.map(([, distance]) => distance));
          return {
            text: name.textContent,
            own: least(away.filter(([key]) => key === name.dataset.of)),
            other: least(away.filter(([key]) => key !== name.dataset.of))
          };
        })
      };
    }));

/// The centre of a triangle's box is not its place.
const placeOf = ({shape: [x, y], corners}) => {
  const heights = corners?.split(" ").map((corner) => Number(corner.split(",")[1])) ?? [0];
  return [x, y - (Math.max(...heights) + Math.min(...heights)) / 2];
};

/// Whether two convex polygons meet: no line along an edge of one separates them.
const meet = (a, b) => ![a, b].some((polygon) => polygon.some((from, i) => {
  const to = polygon[(i + 1) % polygon.length];
  const aside = ([x, y]) => (to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0]);
  const [ofA, ofB] = [a, b].map((one) => one.map(aside));
  return Math.max(...ofA) <= Math.min(...ofB) || Math.max(...ofB) <= Math.min(...ofA);
}));

async function check(tab, what) {
  let checked = 0, outside = 0, worst = 0;
  for (const {frame, ticks, marks, names, near} of await seen(tab)) {
    for (const {text, own, other} of near)
      assert.ok(
          own < (other ?? Infinity), `${what}: '${text}' is ${own} pixels from its mark and ${other} from another`);
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
    names.forEach((a, i) => names.slice(i + 1).forEach(
                      (b) => assert.ok(!meet(a.corners, b.corners), `${what}: '${a.text}' covers '${b.text}'`)));
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
  const values = await tab.$$eval(`#${id} option:not(:disabled)`, (options) => options.map((option) => option.value))
                     .catch(() => []);
  if (values.length) await tab.select(`#${id}`, pick(values));
};

try {
  const {tab} = await open(1440, 900, "light");
  const sums = {checked: 0, outside: 0, worst: 0};
  const add = ({checked, outside, worst}) => {
    sums.checked += checked;
    sums.outside += outside;
    sums.worst = Math.max(sums.worst, worst);
  };
  add(await check(tab, "at first"));
  await tab.select("#choose-step", "*");
  await pause(60);
  add(await check(tab, "with all steps"));
  for (const slanted of await slantedRoofs(tab)) assert.ok(slanted > 0, "no slanted roof is in the view of all steps");
  for (let step = 0; step < 10; ++step) {
    const what = pick([
      "+", "-", "-", "Backspace", "choose-step", "choose-model", "choose-level", "choose-phase", "choose-kind",
      "choose-overlay", "drag"
    ]);
    if (what === "drag") {
      const {x, y, width, height} = await (await tab.$("#roofline .live-figure:not([hidden]) .chart")).boundingBox();
      await tab.mouse.move(x + width / 2, y + height / 2);
      await tab.mouse.down();
      await tab.mouse.move(x + width / 2 + 200 * (random() - 0.5), y + height / 2 + 100 * (random() - 0.5), {steps: 3});
      await tab.mouse.up();
    } else if (!what.startsWith("choose"))
      await zoom(tab, what);
    else
      await select(tab, what);
    await pause(60);
    add(await check(tab, `after ${what}, step ${step + 1}`));
  }
  await press(tab, "Zoom to the layers");
  await pause(60);
  add(await check(tab, "after Zoom to the layers"));
  assert.ok(sums.checked > 0, "no mark was checked");
  assert.deepEqual(problems, [], "the console complains");
  console.log(`${sums.checked} marks within ${sums.worst.toFixed(2)} pixels, ${sums.outside} arrows`);
} finally {
  await browser.close();
}
