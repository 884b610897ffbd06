// What a browser draws of pages: node drawn.mjs PAGE.html PACKAGES CHROMIUM OUT.json [PAGE.html ...]
// For each page the charts as first shown, after "Zoom to the layers", and with a mark at each memory level: ticks,
// frame, marks, roofs in pixels of the screen; and every table of layers and sentence that the script makes. drawn.py
// compares them with figures of its own.
import {writeFileSync} from "node:fs";
import {resolve} from "node:path";

import {browser, open, page, pause, problems, rest} from "../page/opened.mjs";

const [out, ...more] = rest;

/// The charts on the screen.
const charts = (tab) => tab.$$eval(".live-figure:not([hidden]) .chart > svg",
    (all) => all.filter((chart) => chart.querySelector(".axis")).map((chart) => {
      const middle = ({left, right, top, bottom}) => [(left + right) / 2, (top + bottom) / 2];
      const frame = chart.querySelector(".axis").getBoundingClientRect();
      const heights = (shape) =>
          shape.getAttribute("points")?.split(" ").map((corner) => Number(corner.split(",")[1])) ?? [0];
      return {
        section: chart.closest("section").id,
        frame: [frame.left, frame.right, frame.top, frame.bottom],
        ticks: [...chart.querySelectorAll("[data-axis]")].map((tick) => {
          const [x, y] = middle(tick.getBoundingClientRect());
          return {
            axis: tick.dataset.axis,
            at: Number(tick.dataset.at),
            text: tick.textContent,
            pixel: tick.dataset.axis === "x" ? x : y
          };
        }),
        marks: [...chart.querySelectorAll(".marks [data-key]")].map((mark) => {
          const shape = mark.querySelector(".shape") ?? mark;  // a line, without known bytes, has none
          const [x, y] = middle(shape.getBoundingClientRect()),
                    of = heights(shape);  // the middle of a triangle's box is not its place
          return {
            key: mark.dataset.key,
            level: mark.dataset.level ?? "",
            x,
            y: y - (Math.max(...of) + Math.min(...of)) / 2,
            outside: mark.classList.contains("outside"),
            unknown: mark.classList.contains("unknown")
          };
        }),
        roofs: [...chart.querySelectorAll("[data-roof]")].map((roof) => {
          const edge = roof.querySelector(".edge"), at = edge?.getScreenCTM(), path = edge?.getAttribute("d") ?? "";
          const corners =
              [...path.matchAll(/(-?[\d.e+-]+)[ ,](-?[\d.e+-]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
          return {
            label: roof.dataset.roof,
            corners: corners.map(([x, y]) => [at.a * x + at.c * y + at.e, at.b * x + at.d * y + at.f])
          };
        })
      };
    }));

const tables = (tab) => tab.$$eval("#layers-live tr[data-key]",
    (rows) => rows.map((row) => ({key: row.dataset.key, cells: [...row.cells].map((cell) => cell.textContent)})));

const press = (tab, text) => tab.$$eval(
    "#roofline .roofs button", (all, name) => all.find((button) => button.textContent === name)?.click(), text);

const found = [];
try {
  for (const file of [page, ...more]) {
    const {tab} = await open(1440, 900, "light");
    if (file !== page) {
      await tab.goto(`file://${resolve(file)}`);
      await tab.waitForSelector("html.ready");
    }
    const views = [await charts(tab)];
    await press(tab, "Zoom to the layers");
    await pause(60);
    views.push(await charts(tab));
    const has =
        await tab.$eval("#choose-model option[value=hierarchical]", (option) => !option.disabled).catch(() => false);
    if (has) {
      await tab.select("#choose-model", "hierarchical");
      await pause(60);
      views.push(await charts(tab));
    }
    found.push({page: resolve(file), views, layers: await tables(tab)});
    await tab.close();
  }
  writeFileSync(out, JSON.stringify({found, problems}));
} finally {
  await browser.close();
}
