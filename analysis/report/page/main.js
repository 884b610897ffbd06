// The report page. Charts replace the static pictures, which remain for print and for browsers without scripts.
import {element} from "./controls.js";
import {studiesOf} from "./data.js";
import {Page} from "./page.js";
import {saveButtons} from "./save.js";
import {enhance, keepWhole} from "./tables.js";

const unfolded = ["roofline", "verdict", "winners", "baseline", "breakdown", "trajectory", "scaling"];

/// Folds the other sections under their headings; print shows all. `changed` is called when one is unfolded.
function fold(alwaysOpen, changed) {
  const flip = (section, folded) => {
    section.classList.toggle("folded", folded);
    section.querySelector("h2 button").setAttribute("aria-expanded", String(!folded));
    if (!folded) changed();
  };
  for (const section of document.querySelectorAll("main section")) {
    if (unfolded.includes(section.id) || alwaysOpen.includes(section.id)) continue;
    const heading = section.querySelector("h2");
    heading.replaceChildren(element("button",
        {type: "button", class: "fold", onclick: () => flip(section, !section.classList.contains("folded"))},
        heading.textContent));
    flip(section, true);
    for (const link of document.querySelectorAll(`a[href="#${section.id}"]`))
      link.addEventListener("click", () => flip(section, false));
  }
}

/// A list beside the page where there is room, else a menu.
function listSections() {
  const menu = document.querySelector("nav details"), isWide = matchMedia("(min-width:1520px)");
  const show = () => (menu.open = isWide.matches);
  isWide.addEventListener("change", show);
  menu.addEventListener("click", ({target}) => target.matches("a") && show());
  show();
}

function start() {
  document.head.append(element("style", {}, css));
  const page = new Page(studiesOf(document.getElementById("roof-data").textContent));
  document.querySelectorAll("main td.n").forEach(keepWhole);
  page.place();
  listSections();
  for (const table of document.querySelectorAll("main section table"))
    if (!table.closest(".on-paper,#layers-live")) enhance(table);
  fold(page.hasSteps ? [] : ["ceilings"], () => page.draw());
  for (const section of document.querySelectorAll("main section"))
    (section.querySelector(".save-here") ?? section.querySelector("h2")).append(...saveButtons(section));
  page.draw();
  window.addEventListener("hashchange", () => location.hash.startsWith("#?") && page.restore());
  for (const box of document.querySelectorAll(".scroll")) box.tabIndex = 0;  // so that the keyboard reaches what is cut
  document.documentElement.classList.add("ready");
}

start();
