// Controls built from standard elements, so that keyboards and screen readers work.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null)
      made.setAttribute(name, value === true ? "" : value);
  }
  // Adds text nodes, never markup, because names come from files.
  made.append(...children);
  return made;
}

/// `options` are [value, text]; `change` gets the value.
export function choice(label, id, options, value, change) {
  const select = element("select", {id, onchange: (event) => change(event.target.value)},
      ...options.map(([key, text]) => element("option", {value: key, selected: key === value}, text)));
  return element("label", {class: "control", "for": id}, `${label} `, select);
}

/// Shows `live` on the screen. The static parts of the section remain for print only.
export function replaceStatic(id, ...live) {
  const section = document.getElementById(id);
  if (!section) return;
  for (const child of [...section.children])
    if (!child.matches("h2,.lead,.numbers")) child.classList.add("on-paper");
  section.querySelector(".lead").after(element("div", {class: "live"}, ...live));
}
