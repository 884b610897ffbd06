// Uses the controls of a report. Says its measurements of the page.
import assert from "node:assert/strict";
import {statSync} from "node:fs";

import {axisTexts, choices, drawn, open, settled, unfold, write} from "./opened.mjs";
import {chartsHaveTables, fewWords, savesPicturesAndTables, searchFindsLayers, tablesSort} from "./tables.mjs";

const shown = (tab) => tab.evaluate(() => Number(document.documentElement.dataset.points));
/// The centres of the layers' marks on the screen, as [x, y].
const marks = (tab) => tab.evaluate(() => {
  document.querySelector("#roofline .chart").scrollIntoView({block: "center"});
  return [
    ...document.querySelectorAll("#roofline .chart .marks .dot > .shape, #roofline .chart .marks .hollow > .shape")
  ].map((shape) => shape.getBoundingClientRect())
      .map(({x, y, width, height}) => [x + width / 2, y + height / 2]);
});
/// The text under the pointer; empty if there is none.
const tip = (tab) => tab.$eval("#roofline .tip", (one) => (one.hidden ? "" : one.textContent));
const find = (tab, words) => write(tab, "layer-search", words);
const litRows = (tab) =>
    tab.$$eval("#layers-live tr.lit td:first-child", (cells) => cells.map((cell) => cell.textContent));

async function axesNameUnits(tab) {
  const texts = await axisTexts(tab);
  assert.ok(texts.some((text) => text.includes("arithmetic intensity (FLOP/B)")), "the intensity axis has no name");
  assert.ok(texts.some((text) => /^\d+ [MGT]FLOP\/s$/.test(text)), `no rate is marked: ${texts.slice(0, 20)}`);
  assert.ok(texts.some((text) => /^DRAM, \w+: .*B\/s$/.test(text)), "the DRAM roof has no name");
}

async function filtersLeaveTheAxes(tab) {
  const all = await shown(tab);
  assert.ok(all > 0, "no layer is shown");
  const marks = async () => (await axisTexts(tab)).filter((text) => /FLOP/.test(text)).sort();
  const before = await marks();
  await find(tab, "conv backward");
  const some = await shown(tab);
  assert.ok(some > 0 && some < all, `the search leaves ${some} of ${all}`);
  assert.deepEqual(await marks(), before, "a search moved the axes");
  assert.match(tab.url(), /find=conv/);
  await find(tab, "");
  assert.equal(await shown(tab), all);
  return all;
}

/// Arrow keys explain a point and leave the selection; Enter selects it, also when the keyboard has left.
async function keyboardExplains(tab) {
  const explained = () => tab.$eval("#explained", (paragraph) => paragraph.textContent);
  const selected = await explained();
  await tab.focus("#roofline .chart");
  await tab.keyboard.press("ArrowRight");
  await settled(tab);
  assert.match(await tip(tab), / of attainable|no FLOPs/, "the arrow key shows no tooltip");
  const first = await explained();
  assert.match(first, /B.*roof.*measured/s, `this explains nothing: ${first}`);
  assert.notEqual(first, selected);
  assert.equal((await litRows(tab)).length, 1, "the arrow key lights no row of the table");
  await tab.keyboard.press("ArrowRight");
  assert.notEqual(await explained(), first, "the second arrow key stays at the first point");
  await tab.keyboard.press("Home");
  assert.equal(await explained(), first);
  await tab.evaluate(() => document.activeElement.blur());
  assert.deepEqual(await litRows(tab), [], "a row stays lit when the keyboard has left the chart");
  assert.equal(await explained(), selected, "an arrow key alone changed the selection");
  await tab.focus("#roofline .chart");
  await tab.keyboard.press("Home");
  await tab.keyboard.press("Enter");
  await tab.evaluate(() => document.activeElement.blur());
  assert.equal(await explained(), first, "Enter selects nothing");
  assert.match(tab.url(), /point=/, "the link does not name the selected point");
}

/// Whether bytes of the levels are known; if not, the choice is off and says why.
async function modelIsOn(tab) {
  const {disabled, text} = await tab.$eval(
      "#choose-model option[value=hierarchical]", (option) => ({disabled: option.disabled, text: option.textContent}));
  if (disabled) assert.match(text, /off, bytes of a level unknown/);
  return !disabled;
}

/// No two choices of model and level draw the same marks and roofs, unless the page says that levels have the same
/// bytes.
async function everyModelAndLevelIsAPicture(tab) {
  const pictures = new Map([["cache-aware", await drawn(tab)]]);
  if (!(await modelIsOn(tab))) return;
  await tab.select("#choose-model", "hierarchical");
  for (const level of await choices(tab, "choose-level")) {
    await tab.select("#choose-level", level);
    const picture = await drawn(tab);
    for (const [other, seen] of pictures)
      assert.notEqual(picture, seen, `level '${level}' gives the picture of '${other}'`);
    pictures.set(level, picture);
  }
  assert.match(await tab.$eval("#explained", (line) => line.textContent), /Bytes: L1 .*DRAM.*(analytic|counter)/,
      "nothing says how the bytes are known");
  await tab.select("#choose-model", "");
  assert.equal(await tab.$eval("#choose-level", (select) => select.disabled), true);
  assert.equal(await drawn(tab), pictures.get("cache-aware"));
}

/// The address shows another reader the same page.
async function linkShowsTheSame(tab) {
  if (await modelIsOn(tab)) {
    await tab.select("#choose-model", "hierarchical");
    await tab.select("#choose-level", "L2");
  }
  await tab.$$eval(".roof-button", (buttons) => buttons.at(-1).click());
  const {hash, picture} = {hash: new URL(tab.url()).hash, picture: await drawn(tab)};
  const other = await open(1400, 900, "light", hash);
  assert.equal(await drawn(other.tab), picture, `${hash} shows another picture`);
  await other.tab.close();
  await tab.$$eval(".roof-button", (buttons) => buttons.at(-1).click());
  await tab.select("#choose-model", "");
}

/// Hovers over a mark and checks its tooltip, its row in the table of layers, and its mark in the chart of times.
async function hoverLightsEveryPanel(tab) {
  const lit = () => tab.$$eval("#time .chart .mark.lit", (marks) => marks.length);
  await tab.mouse.move(2, 2);
  await settled(tab);
  assert.equal(await lit(), 0);
  for (const [x, y] of (await marks(tab)).slice(-40)) {
    await tab.mouse.move(x, y);
    await settled(tab);
    const [name] = await litRows(tab);
    if (!name) continue;
    await settled(tab);
    assert.ok((await tip(tab)).startsWith(name), `no tooltip names '${name}'`);
    assert.equal(await lit(), 1, "the chart of times does not light up");
    await tab.mouse.click(x, y);
    const explanation = await tab.$eval("#explained", (paragraph) => paragraph.textContent);
    assert.ok(explanation.startsWith(name), `'${name}' was clicked, and this explained: ${explanation}`);
    await tab.mouse.move(2, 2);
    await settled(tab);
    assert.deepEqual(await litRows(tab), [], "a row stays lit when the mouse has left");
    return;
  }
  assert.fail("the mouse over a mark lights no row of the table");
}

/// The roofline is on the first screen, with a sentence above it and five named points.
async function firstScreenIsTheRoofline(tab, height) {
  const {bottom, sentence} = await tab.evaluate(() => ({
    bottom: document.querySelector("#roofline .chart").getBoundingClientRect().bottom + window.scrollY,
    sentence: document.querySelector("#sentence").textContent
  }));
  assert.ok(bottom <= height, `the roofline ends at ${bottom} pixels, the screen at ${height}`);
  await settled(tab);
  const texts = await axisTexts(tab);
  const ends = {forward: "fwd", backward: "bwd", update: "update"};
  const first = await tab.$$eval(
      "#layers-live tbody tr", (rows) => rows.slice(0, 5).map((row) => [...row.cells].map((cell) => cell.textContent)));
  // A name without room is a number or left out: a phone has less room, and a long name needs more.
  const tied = first.filter((_, i) => texts.some((text) => text === `${i + 1}` || text.startsWith(`${i + 1} `)));
  const named = first.filter(([name, , phase], i) => texts.includes(`${i + 1} ${name.split("+")[0]} ${ends[phase]}`));
  const [least, names] = height < 900 ? [2, 1] : first.some(([name]) => name.length > 40) ? [3, 0] : [4, 3];
  assert.ok(tied.length >= least && named.length >= names,
      `of the five layers with the largest headroom ${tied.length} have a number, ${named.length} a name: ${texts}`);
  assert.match(sentence,
      / is (compute-bound|memory-bound|mixed|bound by neither roof).*\d+%.* A step takes .*; at its roofs it would take /);
}

const pressedRoofs = (tab) => tab.$$eval(
    ".roof-button", (buttons) => buttons.map((button) => [button.textContent, button.getAttribute("aria-pressed")]));

async function roofsHideAndTheFrameZooms(tab) {
  const names = () => axisTexts(tab);
  assert.ok((await names()).some((text) => text.startsWith("DRAM, ")), "the DRAM roof is not drawn");
  const press = (text) => tab.$$eval("#roofline .roofs button",
      (buttons, name) => buttons.find((button) => button.textContent === name).click(), text);
  const roofs = () => tab.$$eval("#roofline .chart [data-roof]", (lines) => lines.map(({dataset}) => dataset.roof));
  assert.ok((await roofs()).some((label) => label.startsWith("L1, ")), "the roof of L1 is not drawn");
  await press("Cache roofs");
  assert.ok(!(await roofs()).some((label) => label.startsWith("L1, ")), "a hidden roof is still drawn");
  assert.equal((await pressedRoofs(tab)).find(([name]) => name === "Cache roofs")[1], "false");
  await press("Cache roofs");
  const ticks = async () => (await names()).filter((text) => /^[\d.]+ .?FLOP\/s$/.test(text)).join();
  const before = await ticks();
  await press("Zoom to the layers");
  const near = await ticks();
  assert.notEqual(near, before, "zooming changes no axis");
  await press("Zoom to the layers");
  assert.equal(await ticks(), before, "the first view does not come back");
  await tab.focus("#roofline .chart");
  for (const key of ["+", "+", "Backspace", "Backspace"]) await tab.keyboard.press(key);
  assert.equal(await ticks(), before, "undoing two zooms does not bring the first view");
  const {x, y, width, height} = await (await tab.$("#roofline .chart")).boundingBox();
  await tab.mouse.move(x + width / 2, y + height / 4);
  await tab.mouse.down();
  await tab.mouse.move(x + width / 2 + 90, y + height / 4 + 70, {steps: 3});
  await tab.mouse.up();
  assert.notEqual(await ticks(), before, "a rectangle does not zoom");
  await tab.keyboard.press("Backspace");
  assert.equal(await ticks(), before);
}

/// The ends of both axes are the same for every step, and whole decades.
async function frameIsOfTheCeilings(tab) {
  const frame = () => tab.evaluate(() => {
    const {studies} = JSON.parse(document.getElementById("roof-data").textContent);
    return [...document.querySelectorAll("#roofline .live-figure:not([hidden]) .chart [data-axis]")]
        .map(({dataset, textContent}) => `${dataset.axis} ${dataset.at} ${textContent}`)
        .concat(studies.length);
  });
  const steps = await choices(tab, "choose-step");
  const chosen = await tab.$eval("#choose-step", (select) => select.value);
  const first = await frame();
  for (const step of steps) {
    await tab.select("#choose-step", step);
    assert.deepEqual(await frame(), first, `the frame of ${step} is another`);
  }
  await tab.select("#choose-step", chosen);
}

/// At most six screens while details are folded; then every section is opened for the tests that follow.
async function foldedSectionsOpen(tab) {
  const screens = await tab.evaluate(() => document.documentElement.scrollHeight / innerHeight);
  assert.ok(screens <= 6, `the page has ${screens.toFixed(1)} screens`);
  const hidden = await tab.$$eval(".folded", (sections) => sections.length);
  assert.ok(hidden > 3, "nothing is folded");
  await unfold(tab);
  assert.equal(await tab.$$eval(".folded", (sections) => sections.length), 0);
}

/// The explanation is of the chosen step after another one was chosen.
async function explanationFollows(tab) {
  const steps = await choices(tab, "choose-step");
  const chosen = await tab.$eval("#choose-step", (select) => select.value);
  for (const step of steps.slice(0, 4)) {
    await tab.select("#choose-step", step);
    const [model, batch] = JSON.parse(step);
    const [explained, sentence] = await tab.evaluate(
        () => [document.querySelector("#explained").textContent, document.querySelector("#sentence").textContent]);
    assert.ok(explained.includes(`${model}, batch ${batch}`), `${step} is explained by '${explained.slice(0, 80)}'`);
    assert.ok(sentence.startsWith(`${model}, batch ${batch}`), `the sentence of ${step} is '${sentence.slice(0, 80)}'`);
  }
  await tab.select("#choose-step", chosen);
}

/// The share under the compute roof is one number in the sentence and in the bar of the step in the verdict.
async function onePercentage(tab) {
  const [sentence, bars] = await tab.evaluate(
      () => [document.querySelector("#sentence").textContent,
          [...document.querySelectorAll("#verdict .bar")].map((bar) => bar.getAttribute("aria-label"))]);
  const share = /compute-bound: (\d[\d.]*%)/.exec(sentence)?.[1];
  if (share)
    assert.ok(bars.some((bar) => bar.startsWith(`compute-bound ${share},`)),
        `the sentence says ${share}, the bars '${bars}'`);
}

async function textSetsRoofs(tab) {
  const times = () => tab.$$eval("#whatif-live tbody tr", (rows) => rows.map((row) => row.children[4].textContent));
  const before = await times();
  const set = (text) => write(tab, "whatif-set", text);
  const roof = () => axisTexts(tab).then((texts) => texts.find((text) => text.startsWith("DRAM, ")));
  const drawnRoof = await roof();
  const ring = () =>
      tab.$$eval("#roofline .chart .mark.step", (rings) => rings.map((one) => one.getAttribute("transform")).join());
  const place = await ring();
  assert.ok(place, "no ring is drawn");
  await set("DRAM=900GB/s");
  assert.notDeepEqual(await times(), before, "a memory of 900 GB/s changes no step");
  assert.notEqual(await roof(), drawnRoof, "the drawn roof does not move");
  assert.notEqual(await ring(), place, "the ring of the step does not move");
  assert.match(await tab.$eval("#whatif-verdict", (line) => line.textContent), /DRAM .*\u2192/,
      "nothing says which roof took over");
  await set("nonsense");
  assert.match(await tab.$eval("#whatif-controls .warn", (explanation) => explanation.textContent), /nonsense.*write/);
  await set("");
  assert.deepEqual(await times(), before);
}

async function absentThingsNameACommand(tab) {
  const lines = await tab.$$eval("#absent tbody tr", (found) => found.map((line) => line.textContent));
  assert.ok(lines.length > 2, "nothing says what was not measured");
  for (const line of lines) assert.match(line, /`|no command|kernels\.csv/i, `this brings nothing: ${line}`);
}

async function clickingARowExplains(tab) {
  await tab.click("#layers-live tbody tr:nth-child(2)");
  const [explanation, name] =
      await tab.evaluate(() => [document.querySelector("#explained").textContent,
                             document.querySelector("#layers-live tbody tr:nth-child(2) td").textContent]);
  assert.ok(explanation.startsWith(name), `'${name}' is explained by '${explanation}'`);
}

async function hostileNamesStayText(tab) {
  const made = await tab.evaluate(
      () => document.querySelectorAll("img, iframe, object, script[src], [onload], [onerror]").length);
  assert.equal(made, 0, "a name became markup");
}

export default async function() {
  const {tab, seconds, processor} = await open(1400, 900, "light");
  await firstScreenIsTheRoofline(tab, 900);
  await foldedSectionsOpen(tab);
  await onePercentage(tab);
  await explanationFollows(tab);
  await roofsHideAndTheFrameZooms(tab);
  await frameIsOfTheCeilings(tab);
  await axesNameUnits(tab);
  await chartsHaveTables(tab);
  await everyModelAndLevelIsAPicture(tab);
  await linkShowsTheSame(tab);
  await savesPicturesAndTables(tab);
  await tablesSort(tab);
  const words = await fewWords(tab, 1300);
  const all = await filtersLeaveTheAxes(tab);
  await keyboardExplains(tab);
  await hoverLightsEveryPanel(tab);
  await clickingARowExplains(tab);
  await searchFindsLayers(tab, "conv");
  await textSetsRoofs(tab);
  await absentThingsNameACommand(tab);
  await hostileNamesStayText(tab);
  const names = await tab.evaluate(
      () => [...document.querySelectorAll(".chart")].every((chart) => chart.getAttribute("aria-label")));
  assert.ok(names, "a chart has no name for a screen reader");
  const small = await open(400, 800, "dark");
  const wide = await small.tab.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `the page is ${wide} pixels wide on a screen of 400`);
  await firstScreenIsTheRoofline(small.tab, 800);
  const size = `${(statSync(new URL(tab.url())).size / 1e6).toFixed(2)} MB`, took = (value) => `${value.toFixed(2)} s`;
  return `${size}, ready after ${took(seconds)}, ${took(processor)} of processor; ${all} layers, ${words} words`;
}
