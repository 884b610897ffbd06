// Screenshots for the documentation into a folder, as PREFIX. Without a hash: the first screen in three widths, light
// and dark. With it: the state that it names, 1400 pixels wide, light.
import {join} from "node:path";

import {open, settled} from "./opened.mjs";

export default async function(folder, prefix, hash) {
  for (const [width, height] of hash === undefined ? [[1400, 900], [800, 1000], [400, 800]] : [[1400, 900]])
    for (const scheme of hash === undefined ? ["light", "dark"] : ["light"]) {
      const {tab} = await open(width, height, scheme, hash);
      await settled(tab);
      await tab.screenshot({path: join(folder, `${prefix}${hash === undefined ? `-${width}-${scheme}` : ""}.png`)});
    }
}
