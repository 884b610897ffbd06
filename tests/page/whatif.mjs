// Compares the page's formula with `roof whatif` on the same results: node whatif.mjs PAGE.json ANSWERS.json SETTINGS
// Settings have the syntax of the command line: DRAM=1.5x,fp32=1TFLOP/s,batch=512. Both must agree to 1e-9.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

import {studiesOf} from "../../analysis/report/page/data.js";
import {numberIn} from "../../analysis/report/page/tables.js";
import {parseChange, unitsOf, whatIf} from "../../analysis/report/page/whatif.js";

const [page, answers, settings] = process.argv.slice(2);
const [study] = studiesOf(readFileSync(page, "utf8"));
const expected = JSON.parse(readFileSync(answers, "utf8")).rows;
const change = parseChange(settings, unitsOf([study]));
assert.equal(change.wrong, "", "the page does not read what the terminal reads");

const near = (a, b, what) =>
    assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${what}: ${a} in the page, ${b} in the terminal`);

let answered = 0;
for (const {row: id, predicted_s, least_s, reason} of expected) {
  const row = study.rows.find((candidate) => candidate.id === id);
  assert.ok(row, `the page has no row ${id}`);
  const answer = whatIf(study, row, change);
  assert.equal(answer.reason ?? null, reason, id);
  if (reason) continue;
  near(answer.seconds, predicted_s, `${id} predicted`);
  near(answer.least, least_s, `${id} least`);
  ++answered;
}
for (const wrong of ["DRAM", "DRAM=1.5", "DRAM=0x", "DRAM=-1x", "HBM=2x", "batch=1.5", "DRAM=5GFLOP/s", "DRAM=2kx"])
  assert.equal(parseChange(wrong, unitsOf([study])).wrong, wrong);
assert.equal(parseChange("DRAM=5 GB/s", unitsOf([study])).rates.DRAM, 5e9);
for (const [text, number] of [
         ["2.00 us", 2e-6], ["1.00 ms [0.9, 1.1]", 1e-3], ["2 min 05 s", 120], ["3.00 GB/s", 3e9], ["8 per rank", 8]])
  assert.equal(numberIn(text), number, text);  // by which tables are sorted
assert.ok(answered > 0, "no row was answered");
console.log(`${answered} rows agree`);
