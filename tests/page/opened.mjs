// Reports in a headless browser without a network: node opened.mjs PACKAGES CHROMIUM
// Each line of the input is {"script", "page", "rest"} in JSON. Runs the default function of that script with `rest` on
// that page, and answers with a line: {"said"}, or {"failed"} where it threw, the page asked the network, or the
// console complained.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {createInterface} from "node:readline";

const [packages, chromium] = process.argv.slice(2);
const packaged = createRequire(join(resolve(packages), "package.json"));

/// The script of axe-core, which finds what screen readers and keyboards cannot use.
const axe = readFileSync(packaged.resolve("axe-core/axe.min.js"), "utf8");
/// Waits without limits, for a busy machine is slow: the caller ends a script that hangs.
const starting = packaged("puppeteer-core").launch({
  executablePath: chromium,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu"],
  timeout: 0,
  protocolTimeout: 0
});
let problems = [], page = "";

/// `hash`: the state in the page's address. `seconds` until it is ready, and `processor`: those of the page's main
/// thread.
export async function open(width, height, scheme, hash = "", file = page) {
  const tab = await (await starting).newPage();
  tab.setDefaultTimeout(0);
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  tab.on("pageerror", (error) => problems.push(error.message));
  tab.on("request", (request) => /^(file|blob|data):/.test(request.url()) || problems.push(`asks ${request.url()}`));
  tab.on("dialog", async (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await tab.setOfflineMode(true);
  await tab.setViewport({width, height});
  await tab.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
  const session = await tab.createCDPSession();
  await session.send("Performance.enable", {timeDomain: "threadTicks"});
  const started = performance.now();
  await tab.goto(`file://${resolve(file)}${hash}`);
  await tab.waitForSelector("html.ready");
  const seconds = (performance.now() - started) / 1000, {metrics} = await session.send("Performance.getMetrics");
  await session.detach();
  return {tab, seconds, processor: metrics.find(({name}) => name === "TaskDuration").value};
}

/// The texts that the roofline on the screen draws.
export const axisTexts = (tab) =>
    tab.$$eval("#roofline .live-figure .chart text", (all) => all.map((text) => text.textContent));
/// When what was asked for is drawn: two frames, or a while in a tab behind another, which has none.
export const settled = (tab) => tab.evaluate(() => Promise.race([
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  new Promise((done) => setTimeout(done, 200))
]));
/// What the marks, roofs and curves of the roofline look like and where they are.
export const drawn = (tab) => tab.$$eval("#roofline .live-figure .chart :is(.marks,.roof,.curve)",
    (parts) => parts.map((part) => part.outerHTML).join("\n"));
export const unfold = (tab) => tab.$$eval(".folded .fold", (buttons) => buttons.forEach((button) => button.click()));
export const choices = (tab, id) =>
    tab.$$eval(`#${id} option:not(:disabled)`, (all) => all.map((option) => option.value));
export const write = (tab, id, words) => tab.$eval(`#${id}`, (box, value) => {
  box.value = value;
  box.dispatchEvent(new Event("input", {bubbles: true}));
}, words);

/// The rules of axe-core find nothing, in the page or in a part of it.
export async function isAccessible(tab, what, part = "html") {
  if (!await tab.evaluate(() => "axe" in window)) await tab.evaluate(axe);
  const found = await tab.evaluate(
      async (within) => (await window.axe.run(within, {resultTypes: ["violations"]})).violations, part);
  assert.deepEqual(found.map(({id, nodes}) => `${id}: ${nodes.map(({target}) => target).join(" ")}`), [],
      `axe finds violations ${what}`);
}

async function answer({script, page: file, rest = []}) {
  [problems, page] = [[], file];
  try {
    const {default: run} = await import(new URL(script, import.meta.url));
    const said = await run(...rest);
    assert.deepEqual(problems, [], "of the console or the network");
    return {said: said ?? ""};
  } catch (error) {
    return {failed: error.stack};
  } finally {
    const [, ...tabs] = await (await starting).pages();
    await Promise.all(tabs.map((tab) => tab.close()));
  }
}

/// Not at the top level: the scripts import this module, and would wait for its end.
async function serve() {
  for await (const line of createInterface({input: process.stdin}))
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  await (await starting).close();
}
serve();
