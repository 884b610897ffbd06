// Bundles the page's script into one file: node bundle.mjs OUT_DIRECTORY. Writes page.js and page.sha256, the hash
// of the only script that the page's content security policy allows.
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const out = process.argv[2];
// The packages lie beside the output, not beside this file: the sources stay clean.
const {build} = createRequire(join(out, "package.json"))("esbuild");
const here = dirname(fileURLToPath(import.meta.url));
const script = join(out, "page.js");

await build({
  entryPoints: [join(here, "main.js")],
  outfile: script,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "eof",
  loader: {".css": "text"},
  nodePaths: [join(out, "node_modules")],
  logLevel: "warning",
});

const text = readFileSync(script, "utf8");
if (/<\/script|<!--/i.test(text)) throw new Error("the bundle holds a text that ends a script element");
writeFileSync(join(out, "page.sha256"), createHash("sha256").update(text).digest("base64"));
