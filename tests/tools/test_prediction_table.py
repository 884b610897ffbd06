"""tools/prediction_table: the page says what the record in results/examples holds."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Page(unittest.TestCase):
    def test_says_what_follows_from_the_record(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tools" / "prediction_table", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
