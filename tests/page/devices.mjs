// A CPU, one GPU and two GPUs of one plan in one plot.
import assert from "node:assert/strict";

import {axisTexts, drawn, open} from "./opened.mjs";

/// Of a drawn roof; its text leaves the rate out where there is no room.
const rate = (tab, prefix) => tab.$$eval("#roofline .live-figure:not([hidden]) [data-roof]",
    (lines, begin) => Number(
        /([\d.]+) TFLOP\/s$/.exec(lines.map(({dataset}) => dataset.roof).find((one) => one.startsWith(begin)))?.[1]),
    prefix);

export default async function() {
  const {tab} = await open(1400, 900, "light");
  const figures = await tab.$$eval("#roofline .live-figure:not([hidden])", (list) => list.length);
  assert.equal(figures, 1, "the devices are not in one plot");
  const texts = await axisTexts(tab);
  for (const device of ["cpu", "gpu:0", "gpu:0,1"])
    for (const roof of ["DRAM, ", "fp32, fma"])
      assert.ok(texts.some((text) => text.startsWith(`${device}: ${roof}`)), `no roof is named '${device}: ${roof}'`);
  const ratio = await rate(tab, "gpu:0,1: fp32") / await rate(tab, "gpu:0: fp32");
  assert.ok(Math.abs(ratio - 2) < 0.02, `two GPUs have ${ratio} times the roof of one`);
  const names = await tab.$$eval(".runs .roof-button", (buttons) => buttons.map((button) => button.textContent));
  assert.deepEqual(
      names, ["cpu, 2 threads", "gpu:0, Emulated H100", "gpu:0,1, 2 ranks, weak scaling, 2 x Emulated H100"]);
  const marks = await drawn(tab);
  for (const colour of ["s0", "s1", "s2"])
    assert.ok(marks.includes(`class="mark ${colour} `), `no mark has the colour ${colour} of a run`);
  // How a number is known is said of each device.
  const known = new Set();
  await tab.focus("#roofline .live-figure:not([hidden]) .chart");
  for (let i = 0; i < 400 && known.size < 2; ++i) {
    await tab.keyboard.press("ArrowRight");
    const text = await tab.$eval("#explained", (line) => line.textContent);
    const isGpu = / on gpu:/.test(text);
    assert.ok(text.endsWith(isGpu ? "; emulated)" : "; measured)"), text);
    known.add(isGpu);
  }
  assert.equal(known.size, 2, "the arrow keys explain points of one kind of device alone");
}
