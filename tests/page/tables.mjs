// Checks of a page's tables, files and words; browser.mjs uses them.
import assert from "node:assert/strict";

/// Every chart refers to a table in the page, and a picture without a chart has a table in its section.
export async function chartsHaveTables(tab) {
  const without = await tab.evaluate(
      () => [...document.querySelectorAll("main section")]
                .filter((section) => {
                  const charts = [...section.querySelectorAll(".chart")];
                  if (charts.length)
                    return charts.some(
                        (chart) =>
                            !document.getElementById(chart.getAttribute("aria-details"))?.querySelector("table"));
                  return section.querySelector("svg[aria-label]") && !section.querySelector("table");
                })
                .map((section) => section.id));
  assert.deepEqual(without, [], "sections with pictures and without a table");
}

/// Presses a section's buttons and reads what they would save.
export async function savesPicturesAndTables(tab) {
  const saved = await tab.evaluate(async () => {
    const names = [], texts = [];
    const click = HTMLAnchorElement.prototype.click;
    const blobs = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      blobs.push(blob);
      return make.call(URL, blob);
    };
    HTMLAnchorElement.prototype.click = function() { names.push(this.download); };
    for (const button of document.querySelectorAll("#roofline .save,#curve .save")) button.click();
    while (names.length < 6) await new Promise((done) => setTimeout(done, 5));  // a PNG takes its time
    for (const blob of blobs) texts.push(blob.type === "image/png" ? `PNG ${blob.size}` : await blob.text());
    HTMLAnchorElement.prototype.click = click;
    URL.createObjectURL = make;
    return {names, texts};
  });
  assert.deepEqual(
      [...saved.names].sort(), ["curve.csv", "curve.png", "curve.svg", "roofline.csv", "roofline.png", "roofline.svg"]);
  const text = (name) => saved.texts[saved.names.indexOf(name)];
  const [svg, png, csv, curve] = ["roofline.svg", "roofline.png", "roofline.csv", "curve.svg"].map(text);
  assert.match(svg, /^<svg.*arithmetic intensity.*bound by, of its time.*(bound|mixed|unknown)/s);
  assert.ok(Number(png.split(" ")[1]) > 10_000, png);
  const rows = await tab.$$eval("#layers-live tbody tr", (all) => all.length);
  assert.equal(csv.trim().split("\r\n").length - 1, rows);
  assert.match(csv, /^layer,kind,phase,time,/);
  assert.match(curve, /<style>.*--paper/s);
}

export async function tablesSort(tab) {
  const rates = () => tab.$$eval("#verdict tbody tr", (rows) => rows.map((row) => row.textContent));
  const before = await rates();
  const press = () => tab.$$eval(
      "#verdict th button", (buttons) => buttons.find((button) => button.textContent.startsWith("images/s")).click());
  await press();
  const down = await rates();
  await press();
  assert.deepEqual(await rates(), [...down].reverse());
  assert.notDeepEqual(down, before);
}

/// The words of the page outside tables, charts and choices.
export async function fewWords(tab, most) {
  const words = await tab.evaluate(() => {
    const text = (node) => (node.nodeType === 3 ? `${node.textContent} ` :
            node.nodeType !== 1 || node.matches("table,script,style,svg,select,.chart,pre") ?
                                                  "" :
                                                  [...node.childNodes].map(text).join(""));
    return text(document.body).split(/\s+/).filter((word) => /[a-z0-9]/i.test(word)).length;
  });
  assert.ok(words <= most, `the page has ${words} words outside tables, ${most} are allowed`);
  return words;
}

export async function searchFindsLayers(tab, word) {
  await tab.type("#layer-search", word);
  const rows = await tab.$$eval("#layers-live tbody tr", (found) => found.map((row) => row.textContent));
  assert.ok(rows.length > 0 && rows.every((row) => row.toLowerCase().includes(word)),
      `searching '${word}' finds ${rows.length}`);
  await tab.$eval("#layer-search", (box) => {
    box.value = "";
    box.dispatchEvent(new Event("input", {bubbles: true}));
  });
}
