"""Scripts and lists of nodes; tests/tools/test_fleet_scripts.py runs the scripts.

The manifest is held to the published schemas of its objects: data/kubernetes_1.33.json has the definitions that Job, Namespace and ResourceQuota
refer to, from the OpenAPI specification of Kubernetes 1.33 (Apache License 2.0), without descriptions. As kubectl does with --validate=strict, they
allow no other properties."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from roof.texts import InputError

from roof.fleet.scripts import Script, fleet_script, node_list

try:
    import yaml
except ImportError:
    yaml = None

USUAL = dict(engine="slurm", plan="calibrate/cpu", nodes=["n1", "n2"], results="/shared/fleet")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def violation(schemas, schema, value, place):
    """The first violation, with its place, or "". The schemas use these keywords, and `format`, which is not checked."""
    if "$ref" in schema:
        return violation(schemas, schemas[schema["$ref"]], value, place)
    if "oneOf" in schema:
        fits = sum(not violation(schemas, one, value, place) for one in schema["oneOf"])
        return "" if fits == 1 else f"{place}: fits not one of its types"
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in types if kind in TYPES):
        return f"{place}: is no {types}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place}: is none of {schema['enum']}"
    if isinstance(value, list):
        return next(filter(None, (violation(schemas, schema["items"], one, place + "[]") for one in value)), "")
    if not isinstance(value, dict):
        return ""
    for name in schema.get("required", []):
        if name not in value:
            return f"{place}: lacks {name}"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, one in value.items():
        if name not in properties and others is False:
            return f"{place}: has no property {name}"
        of_one = properties.get(name, others)
        found = "" if isinstance(of_one, bool) else violation(schemas, of_one, one, f"{place}.{name}")
        if found:
            return found
    return ""


class Scripts(unittest.TestCase):
    def refused(self, words, **changes):
        with self.assertRaisesRegex(InputError, words):
            fleet_script(Script(**{**USUAL, **changes}))

    def test_nothing_that_a_shell_could_misread_gets_into_a_script(self):
        for engine in ("slurm", "pbs", "parallel"):
            text = fleet_script(Script(**{**USUAL, "engine": engine}))
            self.assertIn("n1 n2", text)
            self.assertIn("roof sweep calibrate/cpu --node ", text)
            self.assertNotRegex(text, "@[a-z_]+@")
            self.assertEqual("", subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False).stderr)
        for odd in ("x; rm -rf", "x\ny", "$(id)", "`id`", "-x", "a b", "", "x'y", 'x"y', "é"):
            for what in ("results", *(["plan"] if odd else [])):
                self.refused("is no word", **{what: odd})
            for what in ("image", "claim"):
                self.refused("is no word", engine="kubernetes", ** {"results": "/r", "image": "i", "claim": "c", what: odd})
        self.refused("unknown engine 'lsf'", engine="lsf")
        self.refused("--plan", plan="")
        self.refused("neither cpu nor gpu", devices=["gpu:0"])
        self.refused("--plan", devices=["cpu", "gpu"])
        self.refused("needs a list", engine="parallel", nodes=[])
        self.refused("where the volume", engine="kubernetes", results="here", image="i", claim="c")

    def test_a_digest_counts_with_its_last_line_alone_in_either_form(self):
        text = fleet_script(Script(**USUAL))
        line = next(line for line in text.splitlines() if line.startswith("  if zcat"))
        condition = line.split(" if ", 1)[1].split(" || ", 1)[0]
        import gzip

        whole = b"what,name\nfact,node,n1\nend,,1,,,,,,,,x\n"
        for content, is_whole in ((whole, True), (gzip.compress(whole), True), (whole[:20], False), (gzip.compress(whole)[:30], False), (b"", False)):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "n1").mkdir()
                Path(folder, "n1/digest.csv").write_bytes(content)
                done = subprocess.run(["bash", "-c", f"set -euo pipefail; if {condition}; then exit 0; fi; exit 3"], check=False,
                                      env={**os.environ, "node": "n1", "results": folder})
                self.assertEqual(0 if is_whole else 3, done.returncode, content)

    def test_a_list_of_nodes_has_ranges_as_slurm_writes_them(self):
        for text, nodes in (("n[08-10,12],login1", "n08 n09 n10 n12 login1"), ("r[1-2]n[01,03]-ib", "r1n01-ib r1n03-ib r2n01-ib r2n03-ib"),
                            ("a[1-2]b[3]c[5-6]", "a1b3c5 a1b3c6 a2b3c5 a2b3c6"), ("n1 n2\nn3", "n1 n2 n3"), ("", "")):
            self.assertEqual(nodes.split(), node_list(text))
        for text, odd in (("n[1-", "n[1-"), ("r[1-2]n[1-", "r1n[1-"), ("n[1-2]]", "n1]"), ("n[[1-2]]", "n[1]"),
                          ("[1-2]][", "1]["), ("n;rm", "n;rm"), ("$(id)", "$(id)"), ("a,-n1", "-n1")):
            self.refuses_nodes(text, f"'{odd}' is no node's name")
        for text, part in (("n[3-1]", "3-1"), ("n[1-x]", "1-x"), ("n[1,]", ""), ("n[0-999999999]", "0-999999999"),
                           ("n[0-100000]", "0-100000")):
            self.refuses_nodes(text, f"'{part}' in '{text}' is no range such as 01-32")
        self.refuses_nodes("n[1-400]m[1-400]", "more than 100,000 nodes")
        with mock.patch("roof.fleet.scripts.MOST_NODES", 6):
            for text in ("n[1-6]", "r[1-2]n[1-3]", "r[1-2],n[1-4]"):
                self.assertEqual(6, len(node_list(text)))
            for text in ("r[1-2],n[1-5]", "r[1-2]n[1-4]"):
                self.refuses_nodes(text, "more than 100,000 nodes")

    def refuses_nodes(self, text, sentence):
        with self.assertRaises(InputError) as raised:
            node_list(text)
        self.assertEqual(f"--nodes: {sentence}", str(raised.exception))

    @unittest.skipIf(yaml is None, "PyYAML is not installed")
    def test_every_object_of_the_manifest_follows_its_published_schema(self):
        schemas = json.loads(Path(__file__).with_name("data").joinpath("kubernetes_1.33.json").read_text(encoding="utf-8"))
        nodes = ["Node_1.site", "n2", "n" * 64]
        jobs = 0
        for devices in ([], ["cpu", "gpu"]):
            script = Script("kubernetes", "" if devices else "calibrate/cpu", devices, nodes, "/results", image="registry/roof:1", claim="shared",
                            gpus=4)
            for document in yaml.safe_load_all(fleet_script(script)):
                group = "batch" if document["kind"] == "Job" else "core"
                self.assertEqual("", violation(schemas, schemas[f"io.k8s.api.{group}.v1.{document['kind']}"], document, document["kind"]))
                self.assertRegex(document["metadata"]["name"], "^[a-z0-9-]{1,63}$")
                if document["kind"] == "Job":
                    jobs += 1
                    pod = document["spec"]["template"]["spec"]
                    container, = pod["containers"]
                    self.assertEqual(devices != [], "resources" in container)
                    self.assertEqual(("/results", "shared"),
                                     (container["volumeMounts"][0]["mountPath"], pod["volumes"][0]["persistentVolumeClaim"]["claimName"]))
                    self.assertIn(pod["nodeSelector"]["kubernetes.io/hostname"], nodes)
        self.assertEqual(6, jobs)
        job = {**document, "spec": {**document["spec"], "nothing": 1}}
        self.assertIn("has no property nothing", violation(schemas, schemas["io.k8s.api.batch.v1.Job"], job, "Job"))


if __name__ == "__main__":
    unittest.main()
