// A report in a headless browser without a network; shared by the scripts that use one:
//   node SCRIPT PAGE.html PACKAGES CHROMIUM [MORE]
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";

const [page, packages, chromium, ...rest] = process.argv.slice(2);
const packaged = createRequire(join(resolve(packages), "package.json"));
const puppeteer = packaged("puppeteer-core");

/// The script of axe-core, which finds what screen readers and keyboards cannot use.
const axe = readFileSync(packaged.resolve("axe-core/axe.min.js"), "utf8");
export {page, rest};
/// The browser of ROOF_PAGE_BROWSER, or one of its own. Waits without limits, for a busy machine is slow: the caller
/// ends a script that hangs.
const shared = process.env.ROOF_PAGE_BROWSER;
const whole =
    shared ? await puppeteer.connect({browserWSEndpoint: shared, protocolTimeout: 0}) : await puppeteer.launch({
      executablePath: chromium,
      headless: true,
      args: ["--no-sandbox", "--disable-gpu"],
      timeout: 0,
      protocolTimeout: 0
    });
const own = await whole.createBrowserContext();
export const browser = {
  close: async () => {
    await own.close();
    await (shared ? whole.disconnect() : whole.close());
  }
};
export const problems = [];
export const asked = [];

/// `hash`: the state in the page's address. `seconds` until it is ready, and `processor`: those of the page's main
/// thread.
export async function open(width, height, scheme, hash = "", file = page) {
  const tab = await own.newPage();
  tab.setDefaultTimeout(0);
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  tab.on("pageerror", (error) => problems.push(error.message));
  tab.on("request", (request) => /^(file|blob|data):/.test(request.url()) || asked.push(request.url()));
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

/// The texts that the rooflines on the screen draw.
export const axisTexts = (tab) =>
    tab.evaluate(() => [...document.querySelectorAll("#roofline .live-figure:not([hidden]) .chart text")].map(
                     (text) => text.textContent));
/// When what was asked for is drawn: two frames, or a while in a tab behind another, which has none.
export const settled = (tab) => tab.evaluate(() => Promise.race([
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  new Promise((done) => setTimeout(done, 200))
]));
/// What the marks, roofs and curves of the rooflines look like and where they are.
export const drawn = (tab) => tab.evaluate(
    () => [...document.querySelectorAll("#roofline .live-figure:not([hidden]) .chart :is(.marks,.roof,.curve)")]
              .map((part) => part.outerHTML)
              .join("\n"));

/// The rules of axe-core find nothing; `only`: these rules alone.
export async function isAccessible(tab, only = null) {
  if (!await tab.evaluate(() => "axe" in window)) await tab.evaluate(axe);
  const found =
      await tab.evaluate(async (rules) => (await window.axe.run(rules ? {runOnly: rules} : {})).violations, only);
  assert.deepEqual(
      found.map(({id, nodes}) => `${id}: ${nodes.map(({target}) => target).join(" ")}`), [], "axe finds violations");
}

if (process.argv[1].endsWith("opened.mjs")) {  // a browser for several scripts: prints its address, ends with its input
  console.log(whole.wsEndpoint());
  for await (const _ of process.stdin)
    ;
  await browser.close();
}
