// Makes the static tables of the page sortable by column.
import {element} from "./controls.js";
import {factorOf} from "./format.js";

/// The number that a cell begins with, by its SI prefix; null if it begins with none.
export function numberIn(text) {
  const found = /^[\u2264\u2265>~]?\s*(?:range of )?(-?\d[\d.]*)\s*([A-Za-z%/]*)/.exec(text);
  if (!found) return null;
  const [, number, unit] = found;
  if (unit === "min") return 60 * Number(number);
  return Number(number) *
      (unit.length > 1 && /^.(s|B|B\/s|FLOP|FLOP\/s|Hz|iB)$/.test(unit) ? factorOf(unit[0]) ?? 1 : 1);
}

/// Texts without a number stand below those with one.
function compare(a, b, down) {
  const x = numberIn(a), y = numberIn(b), sign = down ? -1 : 1;
  if (x !== null && y !== null) return sign * (x - y);
  return x === null && y === null ? sign * a.localeCompare(b) : x === null ? 1 : -1;
}

function sort(table, heading, down) {
  for (const other of heading.parentNode.cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const text = (row) => row.cells[heading.cellIndex]?.textContent.trim() ?? "";
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(text(a), text(b), down)));
}

/// New rows, by the column that the old ones were sorted by.
export function sortAgain(table) {
  const heading = [...table.tHead.rows[0].cells].find((one) => one.ariaSort !== "none");
  if (heading) sort(table, heading, heading.ariaSort === "descending");
}

/// A number and its unit stay in one line; its interval may be in the next.
export function keepWhole(cell) {
  if (cell.firstElementChild) return;
  const parts = cell.textContent.split(/ (?=\[)/);
  cell.replaceChildren(...parts.flatMap((text, i) => [i ? " " : "", element("span", {class: "whole"}, text)]));
}

/// Sorts by a press on a heading. `sorted`: the column that it is sorted by, largest first.
export function enhance(table, sorted) {
  if (!table.tHead || !table.tBodies[0]) return;
  const headings = [...table.tHead.rows[0].cells], names = headings.map(({textContent}) => textContent);
  headings.forEach((heading, i) => {
    heading.setAttribute("aria-sort", i === sorted ? "descending" : "none");
    heading.replaceChildren(element("button",
        {type: "button", class: "sort", onclick: () => sort(table, heading, heading.ariaSort !== "descending")},
        names[i]));
  });
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) cell.dataset.label = names[cell.cellIndex];
}
