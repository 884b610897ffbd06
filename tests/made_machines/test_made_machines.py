"""On each made machine `roof` reports what the machine is, plans a calibration for it, and passes its tests of reading a machine."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import machines

ROOF = os.environ.get("ROOF_PROGRAM")
TEST_CPU = os.environ.get("ROOF_TEST_CPU")
PRELOAD = os.environ.get("ROOF_PRELOAD")

#: As cpu/system.hpp names hypervisors.
HYPERVISORS = {"KVMKVMKVM": "KVM", "Microsoft Hv": "Hyper-V", "VMwareVMware": "VMware", "XenVMMXenVMM": "Xen", "": None}


def isas(machine):
    """What the made and the real processor both have."""
    has = machines.flags_of(machine) & set(machines.real_flags())
    return ["scalar", "sse", *(["avx2"] if "avx2" in has else []), *(["avx512"] if "avx512f" in has else [])]


def caches(machine):
    """(name, bytes, instances, threads that share one) of the data caches."""
    found = []
    for level, kind, size, sharing in machine.caches:
        if kind == "Instruction":
            continue
        of_package = machine.cores // machine.sockets
        cores = min(sharing or of_package, of_package)
        found.append((f"L{level}", size * 1024, machine.cores // cores, cores * machine.smt))
    return found


@unittest.skipIf(machines.obstacle(PRELOAD), machines.obstacle(PRELOAD))
class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        for machine in machines.MACHINES:
            machines.write(machine, cls.folder / machine.name)

    def said_on(self, machine, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **machines.environment(self.folder / machine.name, PRELOAD)})
        self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)
        return done.stdout

    def test_doctor_reports_processor_topology_caches_and_system(self):
        for machine in machines.MACHINES:
            with self.subTest(machine.name):
                told = json.loads(self.said_on(machine, ROOF, "doctor", "--json"))["machine"]
                leaves = machines.leaves_of(machine)
                self.assertEqual(machines.signature(leaves), (told["family"], told["model"], told["stepping"]))
                self.assertEqual(machines.brand_of(leaves), told["cpu_model"])
                self.assertEqual((machine.sockets, machine.cores, machine.cores * machine.smt, machine.smt, machine.sockets),
                                 (told["sockets"], told["cores"], told["threads"], told["smt"], told["numa_nodes"]))
                self.assertEqual(isas(machine), told["isa"])
                self.assertLessEqual(set(told["features"]), machines.flags_of(machine))
                self.assertEqual(caches(machine), [(level["name"], level["capacity_bytes"], level["instances"], level["shared_by_threads"])
                                                   for level in told["devices"][0]["levels"][:-1]])
                self.assertEqual(HYPERVISORS[machine.hypervisor], told["hypervisor"])
                self.assertEqual(machine.governor or None, told["governor"])
                self.assertIn(f"[{told['huge_pages']}]", machine.huge_pages)
                self.assertEqual(machine.megahertz * 1e6, told["clock_reported_hz"])
                counters = next(c for c in told["capabilities"] if c["name"] == "hardware counters")
                self.assertEqual((False, bool(machine.hypervisor)), (counters["present"], "virtual machine" in counters["reason"]))

    def test_only_true_contradictions_are_called_so(self):
        for machine in machines.MACHINES:
            with self.subTest(machine.name):
                told = json.loads(self.said_on(machine, ROOF, "doctor", "--json"))["machine"]["inconsistencies"]
                due = ["running under"] * bool(machine.hypervisor)
                if machine.name == "one_core":  # its system lists no L3, and CPUID does
                    due.append("CPUID leaf 0x8000001d reports an L3 of 32 MiB")
                self.assertEqual(len(due), len(told), told)
                for sentence, begin in zip(told, due):
                    self.assertTrue(sentence.startswith(begin), sentence)

    def test_a_calibration_is_planned_for_its_threads_and_nodes(self):
        for machine in machines.MACHINES:
            with self.subTest(machine.name):
                plan = self.said_on(machine, ROOF, "sweep", "calibrate/cpu", "--dry-run")
                planned = {int(count) for count in re.findall(r"'bandwidth .* threads=(\d+) placement=cores", plan)}
                self.assertEqual({1, machine.cores // machine.sockets, machine.cores, machine.cores * machine.smt}, planned)
                nodes = {int(node) for node in re.findall(r"'numa .* cpu_node=(\d+)", plan)}
                self.assertEqual(set(range(machine.sockets)), nodes)

    def test_without_avx512_bf16_only_decodes(self):
        network = str(machines.HERE.parent / "engine" / "data" / "configs" / "config_llama.json")
        words = (ROOF, "run", network, "--batch", "1", "--tokens", "16", "--precision", "bf16", "--explain", "--phase")
        for machine in machines.MACHINES:
            has = set(isas(machine))
            with self.subTest(machine.name):
                self.assertEqual("avx2" not in has, "unsupported: bf16" in self.said_on(machine, *words, "decode"))
                self.assertEqual("avx512" not in has, "unsupported: bf16" in self.said_on(machine, *words, "prefill"))

    def test_every_bench_lists_its_axes(self):
        for machine in machines.MACHINES:
            with self.subTest(machine.name):
                benches = json.loads(self.said_on(machine, ROOF, "list", "benches", "--json"))["benches"]
                self.assertTrue(benches)
                for bench in benches:
                    for axis in bench["axes"]:
                        self.assertTrue(axis["name"], bench)

    def test_the_tests_of_reading_a_machine_pass(self):
        names = [line.strip() for file in ("topology", "isa", "layout", "reports", "steal_time", "affinity")
                 for line in (machines.HERE.parent / "cpu" / f"test_{file}.cpp").read_text().splitlines() if line.startswith("TEST_CASE(")]
        cases = ",".join(name.split('"')[1].replace(",", "\\,") for name in names)
        for machine in machines.MACHINES:
            with self.subTest(machine.name):
                self.assertIn("All tests passed", self.said_on(machine, TEST_CPU, cases))


if __name__ == "__main__":
    unittest.main()
