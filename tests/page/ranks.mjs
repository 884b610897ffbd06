// The page of one model and batch with 1 and 2 ranks and threads
import assert from "node:assert/strict";

import {open} from "./opened.mjs";

const distinct = (list) => [...new Set(list)];
const texts = (tab, selector) => tab.$$eval(selector, (found) => found.map((one) => one.textContent));
/// What of these is wider than its box, or ends right of the window.
const cut = (tab, selector) => tab.$$eval(selector,
    (all) => all.filter((one) => one.checkVisibility())
                 .filter((one) => one.scrollWidth > one.clientWidth + 1 ||
                         one.getBoundingClientRect().right > innerWidth + 0.5)
                 .map((one) => `${one.closest("section")?.id}: ${one.textContent.slice(0, 40)}`));
/// Texts of these that stand in more than one line.
const broken = (tab, selector) => tab.$$eval(selector,
    (all) => all.filter((one) => one.checkVisibility())
                 .filter((one) => {
                   const range = document.createRange();
                   range.selectNodeContents(one);
                   return new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size > 1;
                 })
                 .map((one) => one.textContent));

/// Layers' marks as a reader sees them: name, phase, and the colour of the run.
const marks = (tab) => tab.evaluate(() => {
  const {studies} = JSON.parse(document.getElementById("roof-data").textContent);
  return [
    ...document.querySelectorAll("#roofline .live-figure:not([hidden]) .marks :is(.dot,.hollow,.outside)[data-key]")
  ].map(({dataset, classList}) => {
    const [study, i] = dataset.key.split(":").map(Number);
    const {points, names, phases} = studies[study];
    return `${names[points.name[i]]} ${phases[points.phase[i]]} ${
            [...classList].filter((one) => /^s\d$|again/.test(one))}`;
  });
});

async function stepsAreToldApart(tab) {
  // 74.4 images per second, beside 56.2, 38.0 and 24.0.
  assert.match(
      await tab.$eval("#sentence", (line) => line.textContent), /^alexnet, batch 8, fp32 on cpu, 2 threads is /);
  assert.deepEqual(await texts(tab, ".runs .roof-button"), [
    "cpu, 2 threads", "cpu, 2 ranks, weak scaling, 2 threads", "cpu, 2 ranks, strong scaling, 2 threads",
    "cpu, 1 thread"
  ]);
  const seen = await marks(tab);
  assert.ok(seen.length > 100, `${seen.length} marks`);
  assert.equal(distinct(seen).length, seen.length, "two marks look alike");
  const rows = await texts(tab, "#layers-live tbody tr");
  assert.equal(distinct(rows).length, rows.length, "two rows of the layers read alike");
  const roofs = await texts(tab, "#roofline .live-figure:not([hidden]) .roof title");
  assert.equal(distinct(roofs).length, roofs.length, "a roof is drawn twice");
  const legend = () => tab.$$eval("#roofline .live-figure:not([hidden]) .key .mark",
      (entries) => entries.map((entry) => [entry.textContent, /\bs\d/.exec(entry.getAttribute("class"))?.[0] ?? ""]));
  const entries = await legend();
  const runs = entries.filter(([, colour]) => colour);
  assert.deepEqual(runs.map(([name]) => name).sort(), (await texts(tab, ".runs .roof-button")).sort());
  assert.equal(distinct(runs.map(([, colour]) => colour)).length, runs.length, "two runs have one colour");
  assert.ok(entries.some(([name, colour]) => name === "forward" && !colour), "a phase has the colour of a run");
  const flip = async () => {
    for (const i of [1, 2, 3]) await tab.$$eval(".runs .roof-button", (buttons, at) => buttons[at].click(), i);
  };
  await flip();
  assert.ok((await legend()).every(([, colour]) => colour), "an entry has not the colour of the only series");
  await flip();
}

/// The only batch has a tick, and room on both sides.
async function oneBatchStandsInTheMiddle(tab) {
  const {frame, ticks, marks} = await tab.$eval("#trajectory svg", (chart) => ({
    frame: chart.querySelector(".axis").getBoundingClientRect().toJSON(),
    ticks: [...chart.querySelectorAll(".tick.middle")].map((one) => one.textContent),
    marks: [...chart.querySelectorAll("[data-key] > .shape")].map((one) => one.getBoundingClientRect().x)
  }));
  assert.ok(ticks.includes("8"), `${ticks}`);
  assert.ok(marks.length === 4 && marks.every((x) => x > frame.left + 50 && x < frame.right - 50), `${marks}`);
}

export default async function() {
  for (const width of [1280, 1400]) {
    const {tab} = await open(width, 900, "light");
    assert.deepEqual(await cut(tab, ".scroll"), [], `tables are cut on a screen of ${width} pixels`);
    await tab.close();
  }
  const {tab} = await open(1400, 900, "light");
  await stepsAreToldApart(tab);
  await oneBatchStandsInTheMiddle(tab);
  assert.ok((await texts(tab, "#roofline .on-paper text")).includes("alexnet b8 per rank"), "of a static picture");
  const fills =
      await tab.$$eval("#breakdown .bar i", (parts) => parts.map((one) => getComputedStyle(one).backgroundColor));
  assert.equal(distinct(fills).length, 4, "forward, backward, update and the rest have a colour each");
  await tab.setViewport({width: 703, height: 1000});  // of A4 without its margins
  await tab.emulateMediaType("print");
  assert.ok((await texts(tab, "#scaling td")).length > 20 &&
      await tab.$eval("#scaling table", (one) => one.checkVisibility()));
  assert.deepEqual(await cut(tab, ".scroll"), [], "tables are cut on paper");
  assert.deepEqual(await broken(tab, "td.n .whole"), [], "a number and its unit stand in two lines");
  const phone = await open(390, 844, "light");
  assert.deepEqual(await cut(phone.tab, ".scroll, #scaling td"), [], "cut on a phone");
  assert.deepEqual(await broken(phone.tab, "#layers-live td:nth-child(3)"), [], "a word is broken");
}
