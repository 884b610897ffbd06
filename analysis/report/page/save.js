// Buttons that save what a section shows: its charts and pictures as SVG and PNG, its tables as CSV.
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
  for (const over of copy.querySelectorAll(".halo,.name")) {  // few programs except browsers know paint-order
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
const harmless = (cell) => (/^[=+\-@]/.test(cell) && !/^-(?:[\d.]+)?$/.test(cell) ? `'${cell}` : cell);

/// The texts of a table in the page, as they are sorted.
const csvOf = (table) => [...table.tHead.rows, ...table.tBodies[0].rows]
                             .map((row) => [...row.cells].map((cell) => quoted(harmless(cell.textContent.trim()))))
                             .map((cells) => `${cells.join(",")}\r\n`)
                             .join("");

const tablesIn =
    (section) => [...section.querySelectorAll("table")].filter((table) => table.tHead && !table.closest(".on-paper"));

export function saveButtons(section) {
  const all = (list, ending, write) =>
      list.forEach((one, index) => write(one, `${section.id}${list.length > 1 ? `-${index + 1}` : ""}.${ending}`));
  const button = (words, what, press) => element("button",
      {type: "button", class: "save", "aria-label": `Save ${what} of this section as ${words}`, onclick: press}, words);
  const buttons = [];
  if (section.querySelector("svg[aria-label]"))
    buttons.push(button("SVG", "the pictures",
                     () => all(picturesIn(section), "svg", ({text}, name) => saveText(text, "image/svg+xml", name))),
        button("PNG", "the pictures",
            () =>
                all(picturesIn(section), "png", ({text, width, height}, name) => savePng(text, width, height, name))));
  if (tablesIn(section).length)
    buttons.push(button("CSV", "the tables",
        () => all(tablesIn(section), "csv", (table, name) => saveText(csvOf(table), "text/csv", name))));
  return buttons;
}
