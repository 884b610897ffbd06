// Layers above a roof, and shares of attainable: ANSWERS.json
// ANSWERS.json: what `roof report --json` says of the same steps. No share above 100% is shown; a layer above its roof
// says so, with the level that can have served it.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {axisTexts, choices, open, unfold} from "./opened.mjs";

const impossible = /(?<!> )\b(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,})%/;
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;

export default async function(answers) {
  const {rows} = JSON.parse(readFileSync(answers, "utf8")).studies[0];
  const {tab} = await open(1400, 900, "light");
  await unfold(tab);
  let above = 0, compared = 0;
  for (const step of await choices(tab, "choose-step")) {
    if (step === "*") continue;  // all steps
    await tab.select("#choose-step", step);
    const [model, batch] = JSON.parse(step);
    const sentence = await tab.$eval("#sentence", (line) => line.textContent);
    const explained = await tab.$eval("#explained", (line) => line.textContent);
    const shares = rows.filter((row) => row.model === model && row.batch_images === batch)
                       .map((row) => percent(row.share_of_attainable));
    assert.ok(shares.some((share) => explained.includes(`${share} reached`)),
        `the terminal says ${shares}, the page '${explained}'`);
    if (!compared++)
      await tab.$$eval("#layers-live th button", (all) => all.find((one) => one.textContent === "reached").click());
    const layers = await tab.$$eval("#layers-live tbody tr", (lines) => lines.map((line) => line.textContent));
    for (const text of [sentence, ...layers]) assert.doesNotMatch(text, impossible);
    const at = layers.findIndex((text) => /[>\u2264] 100%, from L\d/.test(text));
    if (at < 0) continue;
    ++above;
    await tab.click(`#layers-live tbody tr:nth-child(${at + 1})`);
    const reason = await tab.$eval("#explained", (line) => line.textContent);
    assert.match(reason, /it took 1\/[\d.]+ of that\. Above the .*in a nearer cache; the L\d roof allows its rate/);
    assert.doesNotMatch(reason, impossible);
  }
  assert.ok(above > 0, "no layer of this page is above its roof");
  assert.ok(compared > 1, "one step alone was compared");
  await tab.focus("#roofline .chart");
  for (let i = 0; i < 30; ++i) {
    await tab.keyboard.press("ArrowRight");
    assert.doesNotMatch(await tab.$eval("#roofline .tip", (tip) => tip.textContent), impossible);
    for (const text of await axisTexts(tab)) assert.doesNotMatch(text, impossible);
  }
}
