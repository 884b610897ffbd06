// Legends of the charts, and the few words that explain how to read them.
import {element} from "./controls.js";
import {diameter} from "./rooflines.js";

const swatch = (name, text) => [element("i", {class: name}), `${text} `];

/// Shapes, areas and colours of a roofline; `runs`: the names of several runs in one chart, which have the colours.
export function phaseKey() {
  const disc = (share) => {
    const d = diameter({seconds: {median: share}}, 1);
    return element("i", {class: "disc", style: `width:${d}px;height:${d}px`});
  };
  return element("p", {class: "legend"}, ...["forward", "backward", "update"].flatMap((phase) => swatch(phase, phase)),
      "(outlined: the whole phase). Area: share of the step ",
      ...[0.01, 0.1, 0.3].flatMap((share) => [disc(share), `${100 * share}% `]),
      "Ring: a step, joined over batches. Hollow: above the slanted roof.");
}

export const seriesKey = (names) =>
    element("p", {class: "legend"}, ...names.flatMap((name, index) => swatch(`s${index % 8}`, name)));

export function questions() {
  const answer = (question, text) => [element("dt", {}, question), element("dd", {}, text)];
  return element("details", {id: "questions"}, element("summary", {}, "How to read this"),
      element("dl", {},
          ...answer("roof",
              "The highest rate measured here: slanted for the bytes of a memory level, flat for the FLOPs of a " +
                  "precision. The lowest roof above a point limits it. Bands: 95% intervals."),
          ...answer(
              "cache-aware", "One intensity for all levels: FLOPs over compulsory bytes, each operand moved once."),
          ...answer("hierarchical",
              "A mark at each level, at the bytes that it moves: counted, or the least that the nearer memory " +
                  "allows. The selected point's line shows what is possible."),
          ...answer("unexplained",
              "Below half of its roof: latency, launches and waiting are in the time, not in the roofs."),
          ...answer("fp32 or DRAM (93 / 7%)", "Neither binds in 95% of the resampled calibrations."),
          ...answer("mouse and keys",
              "Ctrl and wheel zoom, dragging moves, a double click shows all. Arrows explain points, Enter selects.")));
}
