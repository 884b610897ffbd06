// Two machines in one plot. The page is of a CPU's steps and a GPU's
// calibration.
import assert from "node:assert/strict";

import {axisTexts, open} from "./opened.mjs";

const figures = (tab) => tab.$$eval("#roofline .live-figure:not([hidden])", (list) => list.length);
/// The colours of the runs' roofs.
const colours = (tab) => tab.$$eval("#roofline .live-figure:not([hidden]) .roof .edge",
    (lines) => [...new Set(lines.map((line) => getComputedStyle(line).stroke))]);

export default async function() {
  const {tab} = await open(1400, 900, "light");
  assert.equal(await figures(tab), 1, "two runs are not in one plot");
  const texts = await axisTexts(tab);
  for (const roof of ["cpu: DRAM, ", "cpu: fp32, fma", "gpu:0: DRAM, ", "gpu:0: fp32, fma"])
    assert.ok(texts.some((text) => text.startsWith(roof)), `no roof is named '${roof}'`);
  assert.deepEqual(await colours(tab), ["rgb(0, 114, 178)", "rgb(213, 94, 0)"]);
  const runs = await tab.$$(".runs .roof-button");
  assert.equal(runs.length, 2);
  const names = await tab.$$eval(".runs .roof-button", (buttons) => buttons.map((button) => button.textContent));
  assert.deepEqual(names, ["cpu, 2 threads, amd-epyc-family26-2cpu", "gpu:0, NVIDIA H100 80GB HBM3"]);
  assert.match(await tab.$eval("#sentence", (line) => line.textContent), /^amd-epyc-family26-2cpu: /);
  await runs[1].click();
  assert.ok(!(await axisTexts(tab)).some((text) => text.startsWith("gpu:0")), "a hidden run is still drawn");
  assert.match(tab.url(), /hidden=/);
  const alone = await axisTexts(tab);
  for (const roof of ["DRAM, ", "L1, ", "fp32, fma"])
    assert.ok(alone.some((text) => text.startsWith(roof)), `no roof of the run that is alone is named '${roof}'`);
  await tab.$$eval(".runs .roof-button", (buttons) => buttons[1].click());
  assert.equal((await colours(tab)).length, 2, "the hidden run does not come back");
  const small = await open(400, 800, "dark");
  const wide = await small.tab.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `the page is ${wide} pixels wide on a screen of 400`);
}
