// Three tasks of a reader of the example's page, with the number of actions that each takes.
// ANSWERS.json: { layer, doubled, batch64 }, the answers by the command line: name and phase of the layer with the
// largest headroom, and the predicted seconds of all steps, null where there is no answer. Prints the numbers; fails if
// an answer is not on the screen or is another one.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {duration} from "../../analysis/report/page/format.js";

import {open, write} from "./opened.mjs";

let answers = null;

/// A page just opened, and the actions of its reader.
async function reader() {
  const {tab} = await open(1400, 900, "light");
  let actions = 1;  // opening the page
  const act = async (what) => {
    ++actions;
    await what();
  };
  return {
    tab,
    count: () => actions,
    click: (selector) => act(() => tab.click(selector)),
    type: (id, text) => act(() => write(tab, id, text)),
  };
}

const isOnScreen = (tab, selector) => tab.$eval(selector, (element) => {
  const {top, bottom} = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
});

/// The page's predicted times are those of the command line, which has the steps in another order.
async function comparePredicted(tab, seconds) {
  const texts = await tab.$$eval("#whatif-live tbody tr", (rows) => rows.map((row) => row.children[4].textContent));
  const known = seconds.filter((value) => value !== null).map(duration);
  assert.ok(known.length, "the command line predicts no step");
  assert.deepEqual(texts.filter((text) => known.includes(text)).sort(), known.sort());
}

async function whichLayerFirst() {
  const {tab, count} = await reader();
  const row = "#layers-live tbody tr";
  assert.ok(await isOnScreen(tab, row), "the first row of the table is not on the screen");
  const cells = await tab.$eval(row, (first) => [...first.cells].map((cell) => cell.textContent));
  assert.deepEqual([cells[0], cells[2]], answers.layer);
  return count();
}

async function twiceTheMemory() {
  const {tab, count, click, type} = await reader();
  await click("#whatif-controls summary");
  await type("whatif-set", "DRAM=2x");
  assert.match(await tab.$eval("#whatif-verdict", (line) => line.textContent), /DRAM .*\u2192/);
  await click('#whatif-controls a[href="#whatif"]');
  assert.ok(await isOnScreen(tab, "#whatif-live tbody tr"), "the predicted times are not on the screen");
  await comparePredicted(tab, answers.doubled);
  return count();
}

async function isBatch64WorthIt() {
  const {tab, count, click, type} = await reader();
  await click("#whatif-controls summary");
  await type("whatif-set", "batch=64");
  await click('#whatif-controls a[href="#whatif"]');
  assert.ok(await isOnScreen(tab, "#whatif-live tbody tr"), "the predicted times are not on the screen");
  const faster = await tab.$$eval("#whatif-live tbody tr", (rows) => rows.map((row) => row.children[5]?.textContent));
  assert.ok(faster.some((text) => Number(text) > 0), "nothing says how many times as fast");
  await comparePredicted(tab, answers.batch64);
  return count();
}

export default async function(file) {
  answers = JSON.parse(readFileSync(file, "utf8"));
  const counts = [await whichLayerFirst(), await twiceTheMemory(), await isBatch64WorthIt()];
  assert.deepEqual(counts, [1, 4, 4]);
  return `actions: which layer first ${counts[0]}, twice the memory bandwidth ${counts[1]}, batch 64 ${counts[2]}`;
}
