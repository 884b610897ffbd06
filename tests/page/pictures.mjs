// Screenshots for the documentation: node pictures.mjs PAGE.html PACKAGES CHROMIUM FOLDER PREFIX [HASH]
// Without HASH: the first screen in three widths, light and dark. With it: the state that it names, 1400 pixels wide,
// light.
import {join} from "node:path";

import {browser, open, rest, settled} from "./opened.mjs";

const [folder, prefix, hash] = rest;
const sizes = hash === undefined ? [[1400, 900], [800, 1000], [400, 800]] : [[1400, 900]];

try {
  for (const [width, height] of sizes)
    for (const scheme of hash === undefined ? ["light", "dark"] : ["light"]) {
      const {tab} = await open(width, height, scheme, hash);
      await settled(tab);
      await tab.screenshot({path: join(folder, `${prefix}${hash === undefined ? `-${width}-${scheme}` : ""}.png`)});
      await tab.close();
    }
} finally {
  await browser.close();
}
