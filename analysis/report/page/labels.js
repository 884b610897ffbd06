// Where the names of points are written in a roofline.

export const gridEdges = {
  left: 84,
  right: 16,
  top: 14,
  bottom: 48
};

/// Where an intensity and a rate are on the screen.
export function pixelOf([intensity, rate], view, {width, height}) {
  const along = (value, [low, high], from, to) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  return [
    along(intensity, view.intensity, gridEdges.left, width - gridEdges.right),
    along(rate, view.rate, height - gridEdges.bottom, gridEdges.top)
  ];
}

/// A line between two places on the screen, as ECharts draws it.
export const lineShape = ([x1, y1], [x2, y2], style) => ({type: "line", shape: {x1, y1, x2, y2}, style});

/// The rectangles of the marks of a series on the screen.
export function rectanglesOf(data, view, size) {
  const room = (label) => (label.show && label.position !== "top" ? 16 : 0);  // the batch below the first step
  return data.map(({value, symbolSize, label}) => {
    const [x, y] = pixelOf(value, view, size);
    return {x: x - symbolSize / 2, y: y - symbolSize / 2, w: symbolSize, h: symbolSize + room(label)};
  });
}

/// Places labels one after another where they cover no mark and no other label: above the mark, below it, beside it,
/// then farther away. A label in `always` is placed even if it covers another; any other one is then left out. `taken`:
/// lists of rectangles by series, which the series of a chart share.
export function labelPlaces(name, always, taken, width, height) {
  const gap = 2;
  let before = Infinity;
  return ({dataIndex, labelRect, rect}) => {
    if (dataIndex <= before) taken.set(name, []);  // a new layout begins
    before = dataIndex;
    const {width: w, height: h} = labelRect;
    const middle = rect.x + rect.width / 2 - w / 2;
    const row = (y) => [[middle, y], [rect.x + rect.width + gap, y], [rect.x - w - gap, y]];
    const above = rect.y - h - gap;
    const below = rect.y + rect.height + gap;
    const places = [...row(above), ...row(below), ...row(rect.y + rect.height / 2 - h / 2)];
    if (always(dataIndex))
      for (let i = 1; i <= 8; ++i) places.push(...row(below + i * h), ...row(above - i * h));
    const fits = ([x, y]) => x > gridEdges.left && x + w < width - 8 && y > 2 && y + h < height - gridEdges.bottom &&
        [...taken.values()].every((list) => list.every((other) => x + w < other.x || other.x + other.w < x ||
                                          y + h < other.y || other.y + other.h < y));
    const found = places.find(fits) ?? (always(dataIndex) ? places[0] : [-9999, -9999]);
    taken.get(name).push({x: found[0], y: found[1], w, h});
    return {x: found[0], y: found[1], align: "left", verticalAlign: "top"};
  };
}
