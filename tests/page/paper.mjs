// The page on paper and on a phone. FEW.html: a page with few points, for the rules that look at each of its parts.
import assert from "node:assert/strict";

import {isAccessible, open, settled, unfold} from "./opened.mjs";

/// The smallest side of a target in pixels (Web Content Accessibility Guidelines 2.2, 2.5.8); links within text are
/// exempt.
const least = 24;

async function targetsAreLarge(tab) {
  const small = await tab.evaluate(
      (side) => [...document.querySelectorAll(
                     "button, select, summary, nav a, input:not([type=range]), input[type=search]")]
                    .filter((one) => one.checkVisibility())
                    .map((one) => ({box: one.getBoundingClientRect(), text: one.textContent || one.id}))
                    .filter(({box}) => box.width < side || box.height < side)
                    .map(({box, text}) => `${text}: ${box.width} x ${box.height}`),
      least);
  assert.deepEqual(small, [], "targets are too small");
}

/// The cells of the verdict lie on a screen of 390 pixels.
async function answerStandsOnAPhone(tab) {
  const {wide, cut} = await tab.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    cut: [...document.querySelectorAll("#sentence, #verdict td")]
             .filter((one) => one.checkVisibility())
             .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
             .map((one) => one.textContent)
  }));
  assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
  assert.deepEqual(cut, [], "the answer is cut");
}

/// Folded and with every section and detail open, at four widths in both schemes.
async function isAccessibleEverywhere(file) {
  for (const scheme of ["light", "dark"]) {
    const {tab} = await open(1600, 900, scheme, "", file);
    await tab.$$eval(".on-paper, tbody tr:nth-child(n+4)", (all) => all.forEach((one) => one.remove()));  // are alike
    for (const isOpen of [false, true]) {
      if (isOpen) {
        await unfold(tab);
        await tab.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
      }
      for (const width of [1600, 1280, 800, 390]) {
        await tab.setViewport({width, height: 900});
        await settled(tab);
        await isAccessible(tab, `${width} pixels, ${scheme}, ${isOpen ? "unfolded" : "folded"}`);
      }
    }
  }
}

export default async function(paper, few) {
  await isAccessibleEverywhere(few);
  const {tab} = await open(1440, 900, "light");
  await isAccessible(tab, "with many points", "#roofline .chart");
  await targetsAreLarge(tab);
  const cut = await tab.$$eval(
      "#verdict .scroll", (boxes) => boxes.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
  assert.equal(cut, 0, "the verdict does not use the width of the window");
  await tab.pdf({path: paper, format: "A4", preferCSSPageSize: true, printBackground: true});
  await tab.setViewport({width: 390, height: 844});
  await settled(tab);
  await targetsAreLarge(tab);
  await answerStandsOnAPhone(tab);
}
