// The page on paper and on a phone: node paper.mjs PAGE.html PACKAGES CHROMIUM PAPER.pdf FEW.html
// FEW.html: a page with the same sections and fewer steps, for the rules that look at each of its parts.
import assert from "node:assert/strict";

import {browser, isAccessible, open, problems, rest, settled} from "./opened.mjs";

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

/// With every section and detail open at four widths, folded at the widest and the narrowest; in the dark, where only
/// the colours are others, open at these two.
async function isAccessibleIn(scheme) {
  const {tab} = await open(1600, 900, scheme, "", rest[1]);
  const check = async (width, isOpen) => {
    await tab.setViewport({width, height: 900});
    await settled(tab);
    if (isOpen) await tab.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
    await isAccessible(tab, scheme === "dark" ? ["color-contrast", "link-in-text-block"] : null);
  };
  if (scheme === "light")
    for (const width of [390, 1600]) await check(width, false);
  await tab.$$eval(".folded .fold", (buttons) => buttons.forEach((button) => button.click()));
  for (const width of scheme === "light" ? [1600, 1280, 800, 390] : [1600, 390]) await check(width, true);
  await tab.close();
}

try {
  for (const scheme of ["light", "dark"]) await isAccessibleIn(scheme);
  const {tab} = await open(1440, 900, "light");
  await targetsAreLarge(tab);
  const cut = await tab.$$eval(
      "#verdict .scroll", (boxes) => boxes.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
  assert.equal(cut, 0, "the verdict does not use the width of the window");
  await tab.pdf({path: rest[0], format: "A4", preferCSSPageSize: true, printBackground: true});
  const phone = await open(390, 844, "light");
  await targetsAreLarge(phone.tab);
  await answerStandsOnAPhone(phone.tab);
  assert.deepEqual(problems, [], "the console complains");
} finally {
  await browser.close();
}
