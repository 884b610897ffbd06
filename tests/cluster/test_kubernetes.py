"""The printed Kubernetes manifest against the published schemas of its objects, which the Python package kubernetes-validate has.

usage: test_kubernetes.py ROOF. Status 77, with the reason, without that package.
"""

import subprocess
import sys
import unittest

ROOF = None
VERSIONS = ["1.25", "1.30", "1.33"]


class Manifest(unittest.TestCase):
    def documents(self):
        done = subprocess.run([ROOF, "fleet", "script", "kubernetes", "--nodes", "Node_1.site,n[2-4]", "--image", "registry/roof:1", "--claim",
                               "shared", "--out", "/results"], capture_output=True, text=True, check=True)
        return list(yaml.safe_load_all(done.stdout))

    def test_every_object_follows_its_published_schema(self):
        documents = self.documents()
        self.assertEqual(["Namespace", "ResourceQuota"] + ["Job"] * 4, [document["kind"] for document in documents])
        for document in documents:
            for version in VERSIONS:
                kubernetes_validate.validate(document, version, strict=True)

    def test_the_schema_refuses_an_unknown_field(self):
        job = self.documents()[-1]
        job["spec"]["template"]["spec"]["restartsPolicy"] = "Never"
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(job, VERSIONS[-1], strict=True)


if __name__ == "__main__":
    ROOF = sys.argv.pop(1)
    try:
        import kubernetes_validate
        import yaml
    except ImportError as error:
        print(f"skipped: {error}: pip install kubernetes-validate")
        sys.exit(77)
    unittest.main()
