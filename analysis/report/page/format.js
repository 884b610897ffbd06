// Numbers and sentences for people, in the same format as analysis/table/quantities.cpp.
const prefixes =
    [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"]];

/// The factor of an SI prefix; undefined for any other text.
export const factorOf = (prefix) => prefixes.find(([, letter]) => letter === prefix)?.[0];

const prefixOf = (value) => prefixes.find(([factor]) => Math.abs(value) * (1 + 5e-4) >= factor) ?? prefixes.at(-1);

/// Three significant digits without an exponent.
export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, digits - before));
}

export function si(value, unit) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return `0 ${unit}`;
  const [factor, letter] = prefixOf(value);
  return `${plain(value / factor)} ${letter}${unit}`;
}

export const duration = (seconds) =>
    (seconds >= 120 ? `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s` : si(seconds, "s"));

/// The median and its interval, with one prefix for all three numbers; images have none.
export function withInterval({median, low, high}, unit) {
  const [factor, letter] = unit === "images/s" ? [1, ""] : prefixOf(median);
  return `${plain(median / factor)} ${letter}${unit} [${plain(low / factor)}, ${plain(high / factor)}]`;
}

/// As in analysis/roofline/place.hpp.
const shownAsAbove = 1.005;

/// The share of attainable; "≤" under a roof that is a lower bound. Above its roof "> 100%", and the farthest level
/// whose roof allows the time.
export function shareText(point) {
  if (point.fraction >= shownAsAbove)
    return (point.isAtMost ? "≤ 100%" : "> 100%") + (point.servedBy ? `, from ${point.servedBy}` : "");
  return (point.isAtMost ? "≤ " : "") + percent(point.fraction);
}

export function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0)}%` : "-";
}

export const tick = (value, unit) => {
  const [factor, letter] = prefixOf(value);
  return `${Number((value / factor).toPrecision(3))} ${letter}${unit}`;
};

export const titleOf = (row) => row.title;

export const threads = (count) => `${count} thread${count === 1 ? "" : "s"}`;

/// "fp32", or both candidates with their shares if neither binds in 95% of the resampled calibrations.
export function bottleneckText(point) {
  if (!point.bottlenecks.length) return "no roof";
  const [first, second] = point.bottlenecks;
  if (first.share >= 0.95 || !second) return first.roof;
  return `${first.roof} or ${second.roof} (${Math.round(100 * first.share)} / ${Math.round(100 * second.share)}%)`;
}

const intensityText = (low, high) =>
    (plain(low, 2) === plain(high, 2) ? plain(high, 2) : `${plain(low, 2)} to ${plain(high, 2)}`);

const mostlyOverhead = 0.1;

/// Whether the point is above the level's slanted roof.
export const isAbove = (point, level) =>
    point.flops > 0 && level.low > 0 && level.low / level.roof > point.seconds.median;

/// Remarks on the bytes of a point, and on its position relative to the roofs.
function remarksOn(point, at) {
  const remarks = [];
  if (at && at.high > at.low)
    remarks.push(`The bytes are between the two: at ${at.name}'s roof ${duration(at.low / at.roof)} to ${
        duration(at.high / at.roof)}.`);
  if (at && isAbove(point, at) && point.fraction <= 1)
    remarks.push(`It is above the ${at.name} roof: part of its bytes was still in a nearer cache.`);
  if (point.attainable > 0 && point.fraction < mostlyOverhead)
    remarks.push("Below a tenth of its roof: mostly latency, launching and waiting, which no roof includes.");
  if (!(point.flops > 0))
    remarks.push("It does no FLOPs, so it is on the lower edge; the chart of times shows its cost.");
  return remarks;
}

/// One sentence with the arithmetic of a point; `levels`: those at which it is drawn.
export function explain(point, levels) {
  const what =
      `${point.name}${point.scope === "step" ? " step" : ""}${point.scope === "layer" ? ` ${point.phase}` : ""}`;
  let text = `${what} (${titleOf(point.row)}): ${si(point.flops, "FLOP")} (${point.known}) in ${
      withInterval(point.seconds, "s")} (${point.row.how})`;
  if (point.flops > 0) text += ` is ${si(point.flops / point.seconds.median, "FLOP/s")}`;
  const at = levels.at(-1);
  levels.forEach((level, index) => {
    text += index ? ", " : "; it moves ";
    text += `${si(level.low, "B")}${level.high > level.low ? ` to ${si(level.high, "B")}` : ""} to ${level.name}${
        index && level.known === levels[0].known ? "" : ` (${level.known ?? point.known})`}`;
    if (point.flops > 0)
      text +=
          `${levels.length > 1 ? ":" : ", which is"} ${intensityText(level.intensityLow, level.intensityHigh)} FLOP/B`;
  });
  if (point.attainable > 0) {
    text += `; the ${bottleneckText(point)} roof (${point.roofs.levels[0]?.how ?? point.row.how}) allows ${
        duration(point.attainable)}: `;
    text += point.fraction >= shownAsAbove ?
        `it took 1/${plain(point.fraction)} of that` :
        `${shareText(point)} of it is reached, and ${point.isAtMost ? "at least " : ""}${
            duration(point.headroom)} could be saved`;
  }
  return `${text}.${point.note ? ` ${point.note[0].toUpperCase()}${point.note.slice(1)}.` : ""}${
      remarksOn(point, at).map((remark) => ` ${remark}`).join("")}`;
}
