// Colours from the style sheet (Okabe-Ito, safe for colour-blind readers), so charts follow the light and the dark
// theme.
const names = ["paper", "ink", "soft", "line", "tint", "roof", "warn", "forward", "backward", "update", "compute", "bandwidth",
  "unexplained", "rest", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

/// The light theme, for charts that are drawn without a page.
export const light = {
  paper: "#fff", ink: "#1c2126", soft: "#59636e", line: "#dfe4e9", tint: "#f5f7f9", roof: "#39424c", warn: "#a33c00",
  forward: "#0072b2", backward: "#d55e00", update: "#009e73", compute: "#0072b2", bandwidth: "#e69f00", unexplained: "#cc79a7",
  rest: "#b9c1c9", c0: "#0072b2", c1: "#d55e00", c2: "#009e73", c3: "#cc79a7", c4: "#e69f00", c5: "#56b4e9", c6: "#6b7580",
  c7: "#8c6d1f",
};

export function paletteOfPage() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || light[name]]));
}

export const seriesColour = (palette, index) => palette[`c${index % 8}`];
