// Names in the roofline of a page of a made folder.
// No text covers another one, and a name without a leader is nearer to its own mark than to any other: in each view of
// the page, on two widths, and in the static pictures.
import assert from "node:assert/strict";

import {choices, open, settled} from "./opened.mjs";

/// Of each chart: the corners of its texts, and how far a name is from its own mark and from the nearest other one.
const seenNames = (tab, charts) => tab.$$eval(charts, (all) => all.map((chart) => {
  /// A text may be turned; a little inside, for letters do not fill their line.
  const corners = (one) => {
    const {x, y, width, height} = one.getBBox(), at = one.getScreenCTM();
    const inside = [[x + 1, y + 3], [x + width - 1, y + 3], [x + width - 1, y + height - 3], [x + 1, y + height - 3]];
    return {
      text: one.textContent,
      corners: inside.map(([a, b]) => [at.a * a + at.c * b + at.e, at.b * a + at.d * b + at.f])
    };
  };
  const marks = [...chart.querySelectorAll("[data-key]:not(.unknown,.outside)")].map((mark) => {
    const {left, right, top, bottom} = mark.querySelector(".shape").getBoundingClientRect();
    return {key: mark.dataset.key, radius: (right - left) / 2, x: (left + right) / 2, y: (top + bottom) / 2};
  });
  const near = [...chart.querySelectorAll("[data-of]:not([data-leader])")].map((name) => {
    const {left, right, top, bottom} = name.getBoundingClientRect();
    const away = ({x, y, radius}) =>
        Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)) - radius;
    // No infinity comes out of the browser.
    const least = (isOwn) => Math.min(1e9, ...marks.filter(({key}) => (key === name.dataset.of) === isOwn).map(away));
    return {text: name.textContent, own: least(true), other: least(false)};
  });
  return {names: [...chart.querySelectorAll("text:not(.tick:not(.count),.label,.cell)")].map(corners), near};
}));

/// Whether two convex polygons meet: no line along an edge of one separates them.
const meet = (a, b) => ![a, b].some((polygon) => polygon.some((from, i) => {
  const to = polygon[(i + 1) % polygon.length];
  const aside = ([x, y]) => (to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0]);
  const [ofA, ofB] = [a, b].map((one) => one.map(aside));
  return Math.max(...ofA) <= Math.min(...ofB) || Math.max(...ofB) <= Math.min(...ofA);
}));

/// The number of names.
export async function namesAreClear(tab, what, charts = "#roofline .live-figure:not([hidden]) .chart > svg") {
  let count = 0;
  for (const {names, near} of await seenNames(tab, charts)) {
    count += names.length;
    for (const {text, own, other} of near)
      assert.ok(own < other, `${what}: '${text}' is ${own} pixels from its mark and ${other} from another`);
    names.forEach((a, i) => names.slice(i + 1).forEach(
                      (b) => assert.ok(!meet(a.corners, b.corners), `${what}: '${a.text}' covers '${b.text}'`)));
  }
  return count;
}

const choose = async (tab, id, value) => {
  if ((await choices(tab, id)).includes(value)) await tab.select(`#${id}`, value);
};

/// The first step, its layers, all steps.
async function everyView(tab, what) {
  let count = await namesAreClear(tab, `${what}, at first`);
  const flip = () => tab.$$eval("#roofline .roofs button", (all) => all[0].click());
  await flip();
  count += await namesAreClear(tab, `${what}, its layers`);
  await flip();
  await choose(tab, "choose-step", "*");
  return count + await namesAreClear(tab, `${what}, all steps`);
}

export default async function() {
  const {tab} = await open(1400, 900, "light");
  let count = await everyView(tab, "1400 pixels");
  const steps = await choices(tab, "choose-step");
  await choose(tab, "choose-step", steps[steps.length >> 1]);
  await choose(tab, "choose-model", "hierarchical");
  count += await namesAreClear(tab, "hierarchical");
  await choose(tab, "choose-model", "");
  await tab.setViewport({width: 390, height: 844});
  await settled(tab);
  count += await everyView(tab, "390 pixels");
  await tab.$$eval(".on-paper", (all) => all.forEach((one) => one.classList.remove("on-paper")));
  await tab.$$eval(".folded", (all) => all.forEach((one) => one.classList.remove("folded")));
  const pictures = await namesAreClear(
      tab, "a picture", "#roofline figure:not(.live-figure) svg, #time figure:not(.live-figure) svg");
  return `${count} names in the charts, ${pictures} in static pictures`;
}
