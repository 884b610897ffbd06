// The colours of the page, read from its style sheet (analysis/report/style.cpp), so that they exist once and charts
// follow the light and the dark theme.

/// { name: colour } of every variable in the first rule of a style sheet: the light theme.
export const paletteOf = (css) =>
    Object.fromEntries([...css.slice(0, css.indexOf("}")).matchAll(/--([\w-]+):([^;}]+)/g)].map(
        ([, name, colour]) => [name, colour.trim()]));

export function paletteOfPage() {
  const style = getComputedStyle(document.documentElement);
  const names = Object.keys(paletteOf(document.querySelector("style").textContent));
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export const seriesColour = (palette, index) => palette[`c${index % 8}`];

export const axisLook = (palette) => ({
  axisLine: {lineStyle: {color: palette.soft}, onZero: false},
  splitLine: {lineStyle: {color: palette.line}},
  nameTextStyle: {color: palette.soft}
});

/// The options that all charts share. A point's `title` is shown beside it.
export const shared = (title, grid, palette) => ({
  animation: false,
  backgroundColor: "transparent",
  aria: {enabled: true, label: {description: title}},
  grid,
  tooltip: {
    trigger: "item",
    confine: true,
    renderMode: "richText",
    backgroundColor: palette.paper,
    borderColor: palette.line,
    textStyle: {color: palette.ink, fontSize: 12},
    formatter: ({data}) => data.title ?? ""
  }
});
