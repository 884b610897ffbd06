// The runs of the page: one for each machine, device and thread count.
import {chartsOf, distinct} from "./choices.js";
import {threads} from "./format.js";

/// Names for runs: a GPU with its model, a CPU with its machine where there are several; and a short one for labels,
/// the device if that tells them apart.
function namesOf(runs, severalMachines) {
  const devices = distinct(runs.map(({roofs}) => roofs.device));
  const place = ({device, threads: count}) => (device.startsWith("gpu") ? device : `${device}, ${threads(count)}`);
  const name = ({study, roofs}) => {
    if (severalMachines) return `${study.name} on ${roofs.owner}: ${place(roofs)}`;
    return roofs.device.startsWith("gpu") ? `${roofs.device}, ${roofs.owner}` : place(roofs);
  };
  return runs.map((run, index) => ({
    ...run,
    name: name(run),
    short: devices.length === runs.length ? run.roofs.device :
                                            `${String.fromCharCode(65 + index % 26)} ${place(run.roofs)}`
  }));
}

/// { study, roofs, index, name, short, number }: `index` of the roofs in the study, `number` of the run on the page.
export const runsOf = (studies) =>
    namesOf(chartsOf(studies), studies.length > 1).map((run, index) => ({...run, number: index}));
