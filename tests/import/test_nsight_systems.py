"""Exports of Nsight Systems, made by SQL, against figures by hand."""

import sqlite3
import tempfile
import unittest
from contextlib import closing, nullcontext
from itertools import chain, product, repeat
from pathlib import Path
from unittest import mock

from roof.importing import Call, Copy, Kernel, Memory, Range, Wait, nsight_systems
from roof.importing.files import import_file
from roof.texts import InputError
from traces import DATA, of_sql

SQL = (DATA / "nsys.sql").read_text(encoding="utf-8")
#: The tables of an export of 2024, with the columns that are read.
TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaGraphLaunch_v10000'), (2, 'cudaLaunchKernel_v7000'), (3, 'sampler_kernel');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
"""
SECOND = 1_000_000_000


def insert(table, *rows):
    return f"INSERT INTO {table} VALUES " + ", ".join("(" + ", ".join("NULL" if one is None else repr(one) for one in row) + ")"
                                                      for row in rows) + ";"


def process(number, device=0, name="iteration {}", steps=4):
    """Steps of 9.9 ms, one each 10 ms, each with a kernel of 3.8 ms that begins 0.2 ms after the step."""
    thread = (number << 24) + 1
    begins = [SECOND + 10_000_000 * step for step in range(steps)]
    return "".join(insert("NVTX_EVENTS", (at, at + 9_900_000, 59, name.format(step), thread, None))
                   + insert("CUPTI_ACTIVITY_KIND_RUNTIME", (at + 110_000, at + 160_000, thread, step + 1, 2))
                   + insert("CUPTI_ACTIVITY_KIND_KERNEL", (at + 200_000, at + 4_000_000, device, 7, step + 1, number << 24, 3, 3)) for step,
                   at in enumerate(begins))


class Exports(unittest.TestCase):
    def test_kernels_calls_copies_waits_memory_and_ranges(self):
        found = of_sql(SQL)
        row, = found.rows
        self.assertEqual({"gpu:0": "NVIDIA A100-SXM4-40GB"}, found.models)
        first, second = row.of(Kernel)
        self.assertEqual(("ampere_sgemm_128x64_nn", 2000, 10000, "64x2x1", "128x1x1", 49152, "forward"),
                         (first.name, first.start, first.duration, first.grid, first.block, first.shared_bytes, first.phase))
        self.assertEqual(("update", 3), (second.phase, second.graph_node))
        self.assertEqual(["runtime", "driver", "runtime"], [one.domain for one in row.of(Call)])
        copy, fill = row.of(Copy)
        self.assertEqual(("H2D", "pinned", "device", 200000), (copy.kind, copy.source, copy.destination, copy.bytes))
        self.assertEqual(("memset", 4096), (fill.kind, fill.bytes))
        self.assertEqual(["stream"], [one.kind for one in row.of(Wait)])
        self.assertEqual([("allocate", "device", 500), ("free", "device", 29000)], [(one.action, one.memory, one.start) for one in row.of(Memory)])
        self.assertEqual({"forward": "phase", "optimizer step": "phase", "step 0": "step"}, {one.name: one.kind for one in row.of(Range)})
        self.assertEqual([30e-6], row.times)
        self.assertEqual(["FLOPs and bytes: this is a recording of times; Nsight Compute counts them"], found.missing)

    def test_kinds_of_memory_follow_the_exports_own_table_or_cupti(self):
        def copy(statements):
            return of_sql(SQL + statements).rows[0].of(Copy)[0]

        table = "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET "
        one = copy(f"{table} srcKind = 0, dstKind = 4;")
        self.assertEqual(("pageable", "managed"), (one.source, one.destination))
        kinds = (None, "pageable", "pinned", "device", "device", "managed", "device", "managed", None)
        for at, kind in enumerate(kinds):
            one = copy(f"DROP TABLE ENUM_CUDA_MEM_KIND; {table} srcKind = {at}, dstKind = 2;")
            self.assertEqual((kind, "pinned"), (one.source, one.destination))
        for change, kind in (("copyKind = 11", "H2D"), ("copyKind = 12", "D2H"), ("copyKind = 13", "D2D"), ("copyKind = 0", "H2D"),
                             ("copyKind = 0, srcKind = 2, dstKind = 1", "D2H"), ("copyKind = 10", "P2P")):
            self.assertEqual(kind, copy(f"{table} {change};").kind, change)
        waits = insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", *((10**18, 10**18, kind, 0, 7, 1) for kind in range(6)))
        row, = of_sql(SQL + waits + insert("CUDA_GPU_MEMORY_USAGE_EVENTS", (10**18, 0, 1, 1, 2, 2))).rows
        kinds = ["stream", None, "event", "stream wait", "stream", "context", None]
        self.assertEqual((kinds, 2), ([one.kind for one in row.of(Wait)], len(row.of(Memory))))

    def test_the_number_that_emit_nvtx_gives_each_call_is_no_part_of_a_name(self):
        base = 1700000000000001000
        row, = of_sql(SQL + insert("NVTX_EVENTS", (base, base + 1000, 59, "aten::mul, op_id = 314339", None, 5),
                                   (base, base + 1000, 59, "aten::add, seq = 7, sizes = [[2]]", None, 5))).rows
        self.assertLessEqual({"aten::mul", "aten::add"}, {one.name for one in row.of(Range)})

    def test_an_export_may_lack_processes_names_and_all_but_calls(self):
        thread = (9 << 24) + 1
        calls = insert("CUPTI_ACTIVITY_KIND_RUNTIME", (5, 9, thread, 1, 2), (0, 0, thread, 2, 2), (7, 7, None, 3, 2))
        row, = of_sql(TABLES + calls).rows
        self.assertEqual([(0, 4), (2, 0)], [(one.start, one.duration) for one in row.of(Call)])
        self.assertEqual(("gpu:0", [4e-9]), (row.device, row.times))
        kernels = insert("CUPTI_ACTIVITY_KIND_KERNEL", (9, 20, 0, 7, 1, None, None, None))
        row, = of_sql(TABLES + calls + kernels).rows
        self.assertEqual(("x", 2, [""]), (row.point["model"], len(row.of(Call)), [one.name for one in row.of(Kernel)]))
        kernels += insert("CUPTI_ACTIVITY_KIND_KERNEL", (9, 20, 0, 7, 1, 9 << 24, 3, None))
        rows = of_sql(TABLES + kernels).rows
        self.assertEqual([("x process 0", ""), ("x process 9", "sampler_kernel")],
                         [(row.point["model"], row.of(Kernel)[0].name) for row in rows])
        fill = "CUPTI_ACTIVITY_KIND_MEMSET"  # no table of texts
        row, = of_sql(f"CREATE TABLE {fill} (start, end);" + insert(fill, (5, 9))).rows
        self.assertEqual([("memset", None)], [(one.kind, one.bytes) for one in row.of(Copy)])

    def test_graphs_keep_the_device_busy(self):
        graphs = "".join(insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (at + 100_000, at + 9_100_000, 0, 7, 11 + step, 100 << 24, 1, 2))
                         + insert("CUPTI_ACTIVITY_KIND_KERNEL", (at + 9_200_000, at + 9_300_000, 0, 7, 21 + step, 100 << 24, 3, 3))
                         + insert("NVTX_EVENTS", (at, at + 9_900_000, 59, f"step {step}", (100 << 24) + 1, None)) for step,
                         at in enumerate(range(SECOND, SECOND + 50_000_000, 10_000_000)))
        found = of_sql(TABLES + graphs)
        row, = found.rows
        named = {name: sum(one.duration for one in row.of(Kernel) if one.name.startswith(name)) for name in ("CUDA graph", "sampler")}
        self.assertEqual({"CUDA graph": 45_000_000, "sampler": 500_000}, named)
        self.assertEqual(5, len(row.times))
        self.assertIn("--cuda-graph-trace=node", found.missing[1])

    def test_a_step_within_a_step_is_none_nor_what_only_sounds_like_one(self):
        inner = "".join(insert("NVTX_EVENTS", (at, at + 800_000, 59, name, (9 << 24) + 1, None))
                        for at in range(SECOND + 9_000_000, SECOND + 40_000_000, 10_000_000) for name in ("step optimizer", "step 7"))
        row, = of_sql(TABLES + process(9) + inner).rows
        self.assertEqual([0.0099] * 4, row.times)

    def test_two_processes_have_their_own_steps_and_calls(self):
        rows = of_sql(TABLES + process(5) + process(6, device=1)).rows
        self.assertEqual([("gpu:0", 4, 4, 4), ("gpu:1", 4, 4, 4)],
                         [(row.device, len(row.times), len(row.of(Call)), len(row.of(Kernel))) for row in rows])
        shared = of_sql(TABLES + process(5) + process(6, steps=3)).rows
        self.assertEqual([("x process 5", 4), ("x process 6", 3)], [(row.point["model"], len(row.times)) for row in shared])

    def test_records_without_times_and_those_that_end_before_they_begin_leave_the_rest(self):
        row, = of_sql(TABLES + process(5) + insert("CUPTI_ACTIVITY_KIND_KERNEL", (0, 0, 0, 7, 99, 5 << 24, 3, 3))).rows
        untimed = [one.duration for one in row.of(Kernel) if one.start is None]
        self.assertEqual(([0.0099] * 4, [0]), (row.times, untimed))
        kernels = [(start, end, 0, 7, 99, 5 << 24, 3, 3) for start, end in ((0, 5), (5, 0), (4, 7))]
        found = of_sql(TABLES + insert("CUPTI_ACTIVITY_KIND_KERNEL", *kernels)
                       + insert("NVTX_EVENTS", (0, 0, 59, "none", 5 << 24, None), (1, 3, 59, None, 5 << 24, None)))
        self.assertEqual([(0, 5), (4, 3)], [(one.start, one.duration) for one in found.rows[0].of(Kernel)])
        self.assertEqual([("", 1, 2)], [(one.name, one.start, one.duration) for one in found.rows[0].of(Range)])
        self.assertEqual(["left out: 1 record of CUPTI_ACTIVITY_KIND_KERNEL whose times are none"], found.remarks)
        last = nsight_systems.LATEST
        pairs = product((None, -1, 0, 1.0, 5, last, last + 1), repeat=2)
        self.assertEqual([(0, 0), (0, 5), (0, last), (5, 5), (5, last), (last, last)],
                         [pair for pair in pairs if nsight_systems.is_time(*pair)])


class Refused(unittest.TestCase):
    def refusal(self, statements):
        with self.assertRaises(InputError) as raised:
            of_sql(statements)
        return str(raised.exception)

    def test_what_is_wrong_in_a_table_is_named(self):
        for statements, part in ((SQL + "DELETE FROM StringIds WHERE id = 2;", "StringIds has no string 2"),
                                 *((f"{SQL} UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = {kind};",
                                    f"copyKind {kind} is unknown") for kind in (14, -1, 1.5)),
                                 (SQL + "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME COLUMN nameId TO x;", "has no column 'nameId'"),
                                 ("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);", "record with --trace=cuda,nvtx")):
            self.assertIn(part, self.refusal(statements))

    def test_databases_of_other_programs_are_named(self):
        for table, name in (("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "nvprof"), ("rocpd_kernel_dispatch_0a1b", "rocprofv3"),
                            ("rocpd_api", "rocprofv3")):
            self.assertIn(f"a database of {name}", self.refusal(f"CREATE TABLE {table} (start INT); CREATE TABLE StringTable (value TEXT);"))
        self.assertIn("no export of Nsight Systems", self.refusal("CREATE TABLE people (name TEXT);"))

    def test_what_sqlite_says_of_a_damaged_name_is_one_line(self):
        rename = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'String' || char(10) || 's' WHERE name = 'StringIds';"
        self.assertIn("damaged or cut off: malformed database schema (String?s)", self.refusal(SQL + rename))

    def test_a_view_in_place_of_a_table_is_refused(self):
        kernels = TABLES.partition("CREATE TABLE CUPTI")[0].replace("StringIds", "Others")
        endless = "CREATE VIEW StringIds AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 'a' AS value FROM n;"
        self.assertIn("'StringIds' is no table", self.refusal(kernels + endless))
        self.assertIn("is no table", self.refusal("CREATE TABLE StringIds (id INTEGER, value TEXT);CREATE VIEW cupti_activity_kind_RUNTIME AS "
                                                  "SELECT 1 AS start, 2 AS end;"))

    def test_an_index_and_what_a_program_computes_are_no_tables(self):
        self.assertIn("'NVTX_EVENTS' is no table", self.refusal("CREATE TABLE StringIds (id, value); "
                                                                "CREATE INDEX NVTX_EVENTS ON StringIds (value);"))
        made = "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('table', 'StringIds', 'StringIds', 0, " \
               "'CREATE VIRTUAL TABLE StringIds USING series');"
        self.assertIn("'StringIds' is no table", self.refusal("CREATE TABLE others (id INTEGER);" + made))

    def test_a_record_has_two_bytes_or_more_and_a_statement_600_seconds(self):
        with closing(sqlite3.connect(":memory:")) as base:
            base.executescript(TABLES)
            for size, strings in ((4, [1, 2, 3]), (3, None)):
                source = mock.Mock(**{"path.stat.return_value.st_size": size})
                with nullcontext() if strings else self.assertRaisesRegex(InputError, "more rows than the file can"):
                    self.assertEqual(strings, list(nsight_systems.Export(source, base).strings))
        many = SQL + "INSERT INTO StringIds WITH RECURSIVE n(x) AS (SELECT 9 UNION ALL SELECT x + 1 FROM n) " \
                     "SELECT x, '' FROM n LIMIT 50000;"
        for seconds, refused in ((600, False), (601, True)):
            with mock.patch.object(nsight_systems.time, "monotonic", side_effect=chain([0], repeat(seconds))), \
                 self.assertRaisesRegex(InputError, "interrupted") if refused else nullcontext():
                of_sql(many)

    def test_pages_that_are_used_again_and_again_give_no_more_rows_than_the_file_can_hold(self):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "made"
            base = sqlite3.connect(file)
            base.executescript("PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER, value TEXT);")
            base.executemany("INSERT INTO StringIds VALUES (?, 'x')", ((one,) for one in range(20_000)))
            base.commit()
            base.executescript(TABLES.replace("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);", ""))
            base.close()
            content = bytearray(file.read_bytes())
            interior = [at for at in range(512, len(content), 512) if content[at] == 5]
            leaf = next(at for at in range(512, len(content), 512) if content[at] == 13)
            self.assertGreater(len(interior), 8)
            # every pointer of an interior page goes to the next one
            for at, child in zip(interior, interior[1:] + [leaf]):
                number = (child // 512 + 1).to_bytes(4, "big")
                content[at + 8:at + 12] = number
                for cell in range(int.from_bytes(content[at + 3:at + 5], "big")):
                    to = at + int.from_bytes(content[at + 12 + 2 * cell:at + 14 + 2 * cell], "big")
                    content[to:to + 4] = number
            file.write_bytes(content)
            with self.assertRaises(InputError):
                import_file(file)


if __name__ == "__main__":
    unittest.main()
