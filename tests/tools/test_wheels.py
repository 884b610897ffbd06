"""tools/install_dependencies fetches the libraries of the CUDA that nvcc has: those of another build, and fail in the first training step."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUBS = {
    # What NVIDIA's compiler of that version prints.
    "nvcc": 'echo "nvcc: NVIDIA (R) Cuda compiler driver"; echo "Cuda compilation tools, release $RELEASE, V$RELEASE.85"',
    "python3": "exit 1",  # there is no cuDNN, and nothing is fetched
    "dpkg-query": "printf 'ii '",
    "apt-get": "exit 1",
}


def fetched(release):
    """The list that is fetched for nvcc of this release."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STUBS.items():
            stub = pathlib.Path(folder, name)
            stub.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            stub.chmod(0o755)
        done = subprocess.run([ROOT / "tools" / "install_dependencies"], capture_output=True, text=True, check=False,
                              env={"PATH": f"{folder}:{os.environ['PATH']}", "RELEASE": release, "XDG_CACHE_HOME": folder, "HOME": folder})
        return [word for word in done.stderr.split() if word.endswith(".txt")]


class Wheels(unittest.TestCase):
    @unittest.skipIf(pathlib.Path("/usr/include/cudnn_graph.h").exists() or pathlib.Path("/usr/local/cuda/include/cudnn_graph.h").exists(),
                     "this machine has cuDNN in the system's folders")
    def test_are_those_of_the_compilers_cuda(self):
        self.assertEqual(["tools/cmake/wheels_cu12.txt"], fetched("12.6"))
        self.assertEqual(["tools/cmake/wheels_cu12.txt"], fetched("12.9"))
        self.assertEqual(["tools/cmake/wheels.txt"], fetched("13.0"))


if __name__ == "__main__":
    unittest.main()
