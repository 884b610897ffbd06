// Two machines in one plot: node overlay.mjs PAGE.html PACKAGES CHROMIUM. The page is of a CPU's steps and a GPU's
// calibration.
import assert from "node:assert/strict";

import {asked, axisTexts, browser, drawn, open, problems} from "./opened.mjs";

const figures = (tab) => tab.$$eval("#roofline .live-figure:not([hidden])", (list) => list.length);
const colours = async (tab) => new Set([...(await drawn(tab)).matchAll(/#[0-9a-f]{3,6}\b/g)].map(([colour]) => colour));

try {
  const {tab} = await open(1400, 900, "light");
  assert.equal(await figures(tab), 1, "two runs are not in one plot");
  const texts = await axisTexts(tab);
  for (const roof of ["cpu: DRAM, ", "cpu: fp32, fma", "gpu:0: DRAM, ", "gpu:0: fp32, fma"])
    assert.ok(texts.some((text) => text.startsWith(roof)), `no roof is named '${roof}'`);
  for (const colour of ["#0072b2", "#d55e00"])
    assert.ok((await colours(tab)).has(colour), `no line has the colour ${colour} of a run`);
  const runs = await tab.$$(".runs .roof-button");
  assert.equal(runs.length, 2);
  await runs[1].click();
  assert.ok(!(await axisTexts(tab)).some((text) => text.startsWith("gpu:0")), "a hidden run is still drawn");
  assert.match(tab.url(), /hidden=/);
  await tab.$$eval(".runs .roof-button", (buttons) => buttons[1].click());
  await tab.select("#choose-overlay", "each");
  assert.equal(await figures(tab), 2, "a plot for each run");
  const small = await open(400, 800, "dark");
  const wide = await small.tab.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `the page is ${wide} pixels wide on a screen of 400`);
  assert.deepEqual(asked, [], "the page asked the network");
  assert.deepEqual(problems, [], "the console complains");
} finally {
  await browser.close();
}
