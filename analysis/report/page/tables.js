// Makes the static tables of the page sortable by column, and long ones searchable.
import {element} from "./controls.js";
import {factorOf} from "./format.js";

const longFrom = 16;

/// The number that a cell begins with, by its SI prefix; null if it begins with none.
export function numberIn(text) {
  const found = /^[\u2264\u2265~]?\s*(?:range of )?(-?\d[\d.]*)\s*([A-Za-z%/]*)/.exec(text);
  if (!found) return null;
  const [, number, unit] = found;
  if (unit === "min") return 60 * Number(number);
  return Number(number) *
      (unit.length > 1 && /^.(s|B|B\/s|FLOP|FLOP\/s|Hz|iB)$/.test(unit) ? factorOf(unit[0]) ?? 1 : 1);
}

function compare(a, b) {
  const x = numberIn(a), y = numberIn(b);
  if (x !== null && y !== null) return x - y;
  return x === null && y === null ? a.localeCompare(b) : x === null ? 1 : -1;
}

function sort(table, index, heading) {
  const down = heading.getAttribute("aria-sort") !== "descending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const text = (row) => row.cells[index]?.textContent.trim() ?? "";
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => (down ? -1 : 1) * compare(text(a), text(b))));
}

function searchBox(table) {
  const found = element("span", {class: "legend", role: "status"});
  const input = element("input", {
    type: "search",
    "aria-label": "Filter the rows of this table",
    placeholder: "filter rows",
    oninput: ({target}) => {
      const rows = [...table.tBodies[0].rows];
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(target.value.toLowerCase());
      found.textContent = target.value ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
    }
  });
  return element("p", {class: "controls filter"}, input, found);
}

/// A number and its unit stay in one line; its interval may be in the next.
export function keepWhole(cell) {
  if (cell.firstElementChild) return;
  const parts = cell.textContent.split(/ (?=\[)/);
  cell.replaceChildren(...parts.flatMap((text, i) => [i ? " " : "", element("span", {class: "whole"}, text)]));
}

export function enhance(table) {
  if (!table.tHead || !table.tBodies[0]) return;
  [...table.tHead.rows[0].cells].forEach((heading, index) => {
    heading.setAttribute("aria-sort", "none");
    heading.replaceChildren(element(
        "button", {type: "button", class: "sort", onclick: () => sort(table, index, heading)}, heading.textContent));
  });
  const names = [...table.tHead.rows[0].cells].map((heading) => heading.textContent);
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) cell.dataset.label = names[cell.cellIndex];
  if (table.tBodies[0].rows.length >= longFrom) (table.closest(".scroll") ?? table).before(searchBox(table));
}
