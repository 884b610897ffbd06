// Buttons that save what a section shows: its charts and pictures as SVG and PNG, its tables as CSV and JSON.
import {element} from "./controls.js";
import {svg} from "./geometry.js";

function save(blob, name) {
  const link = element("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const saveText = (text, type, name) => save(new Blob([text], {type}), name);

/// A picture as a file of its own: with its size and the page's style sheet; of a chart with what it shows and where.
function fileOf(picture) {
  const copy = picture.onPaper?.() ?? picture.cloneNode(true), {width, height} = copy.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const theme = getComputedStyle(document.documentElement);  // few programs except browsers know variables
  const style = [...document.querySelectorAll("style")]
                    .map(({textContent}) => textContent)
                    .join("\n")
                    .replace(/var\((--[\w-]+)\)/g, (_, name) => theme.getPropertyValue(name));
  for (const over of copy.querySelectorAll(".halo,.name,.on-bar")) {  // few programs except browsers know paint-order
    const under = over.cloneNode(true);
    under.classList.add("under");
    over.before(under);
  }
  const paper = svg("rect", {width, height, style: `fill:${theme.getPropertyValue("--paper")}`});
  copy.prepend(svg("style", {}, style), paper);
  return {text: withoutControls(new XMLSerializer().serializeToString(copy)), width, height};
}

/// On the paper of the theme, with twice the pixels.
function savePng(text, width, height, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", {width: 2 * width, height: 2 * height});
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/// Names come from files; XML has no place for control characters.
const withoutControls = (text) => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, "?");

/// Every picture of the section on the screen: { text, width, height }.
const picturesIn = (section) => [...section.querySelectorAll("svg")]
                                    .filter((one) => one.hasAttribute("aria-label") && one.getClientRects().length)
                                    .map(fileOf);

const quoted = (cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
/// A spreadsheet interprets a cell that starts with one of these as a formula.
const harmless = (cell) =>
    (typeof cell === "string" && /^[=+\-@]/.test(cell) && !/^-(?:[\d.]+)?$/.test(cell) ? `'${cell}` :
                                                                                         String(cell ?? ""));

/// `table`: { columns, rows }. Numbers are written as they are.
export const csvOf = ({columns,
  rows}) => [columns, ...rows].map((line) => line.map((cell) => quoted(harmless(cell))).join(",")).join("\r\n") +
    "\r\n";
export const jsonOf = ({columns, rows}) =>
    `${JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]))), null, 1)}\n`;

/// The texts of a table in the page, as they are sorted and filtered.
function read(table) {
  const texts = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  return {
    columns: texts(table.tHead.rows[0]),
    rows: [...table.tBodies[0].rows].filter((row) => !row.hidden).map(texts)
  };
}

const tablesIn =
    (section) => [...section.querySelectorAll("table")].filter((table) => table.tHead && !table.closest(".on-paper"));

/// The buttons of a section; `tables`: returns the tables in place of those in the page.
export function saveButtons(section, tables = null) {
  const all = (list, ending, write) =>
      list.forEach((one, index) => write(one, `${section.id}${list.length > 1 ? `-${index + 1}` : ""}.${ending}`));
  const pictures = () => picturesIn(section);
  const found = () => tables?.() ?? tablesIn(section).map(read);
  const button = (words, what, press) => element("button",
      {type: "button", class: "save", "aria-label": `Save ${what} of this section as ${words}`, onclick: press}, words);
  const buttons = [];
  if (section.querySelector("svg[aria-label]"))
    buttons.push(button("SVG", "the pictures",
                     () => all(pictures(), "svg", ({text}, name) => saveText(text, "image/svg+xml", name))),
        button("PNG", "the pictures",
            () => all(pictures(), "png", ({text, width, height}, name) => savePng(text, width, height, name))));
  if (tables || tablesIn(section).length)
    buttons.push(button("CSV", "the tables",
                     () => all(found(), "csv", (table, name) => saveText(csvOf(table), "text/csv", name))),
        button("JSON", "the tables",
            () => all(found(), "json", (table, name) => saveText(jsonOf(table), "application/json", name))));
  return buttons;
}
