// The state of the page in the hash of its address, so that a link shows what its sender saw:
//   #?step=…&model=hierarchical&level=L2&hidden=DRAM&whatif=DRAM%3D2x&point=0:12&view=0,1,1e9,1e12

/// `fallback` has the initial values. A value that the page does not know is ignored by its control.
export function readState(hash, fallback) {
  const found = new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
  const text = (name) => found.get(name) ?? fallback[name];
  const view = (found.get("view") ?? "").split(",").map(Number);
  return {
    choices: {
      ...fallback,
      ...Object.fromEntries(["step", "precision", "model", "level", "find"].map((name) => [name, text(name)])),
      hidden: new Set(found.getAll("hidden"))
    },
    whatif: found.get("whatif") ?? "",
    point: found.get("point") ?? "",
    view: view.length === 4 && view.every((value) => value > 0) ? {x: view.slice(0, 2), y: view.slice(2)} : null,
  };
}

/// The hash; only what differs from `fallback`.
export function hashOf({choices, whatif, point, view}, fallback) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(choices))
    if (name !== "hidden" && value !== fallback[name]) kept.set(name, value);
  for (const name of choices.hidden) kept.append("hidden", name);
  if (whatif) kept.set("whatif", whatif);
  if (point) kept.set("point", point);
  if (view) kept.set("view", [...view.x, ...view.y].map((value) => value.toPrecision(4)).join(","));
  return `#?${kept}`;
}
