"""tools/prediction_table and tools/layer_shares: the pages say what the records in results/examples hold."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Page(unittest.TestCase):
    def test_says_what_follows_from_the_record(self):
        for tool in ("prediction_table", "layer_shares"):
            with self.subTest(tool):
                done = subprocess.run([sys.executable, "-B", ROOT / "tools" / tool, "--check"], capture_output=True, text=True, check=False)
                self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
