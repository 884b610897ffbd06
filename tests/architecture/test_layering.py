"""Checks the includes of the tree, and that a planted violation of each kind is found."""

import unittest

import layering
import tree

TABLE = layering.read_table(
    """
## Who may include whom
| folder | may include | libraries |
|---|---|---|
| `base` | | `csv.h` |
| `cpu` | `base` | `omp.h` `xbyak/` `system` |
| `cpu/deep` | `cpu` | |

## Another heading
| `gpu` | `cpu` | |
"""
)


def found(path, source):
    return list(layering.violations(path, source, TABLE))


class Tree(unittest.TestCase):
    def test_keeps_to_the_table(self):
        self.assertEqual([], list(layering.violations_of_tree()))

    def test_has_a_row_for_every_folder_with_includes(self):
        table = layering.read_table(tree.text("docs/architecture.md"))
        folders = {str(path.parent) for path in tree.files(tree.SOURCES)
                   if path.parts[0] != "tests" and layering.INCLUDE.search(tree.text(path))}
        self.assertEqual({"ert/base"}, set(table["ert/method/bench"].folders))
        self.assertEqual([], sorted(folder for folder in folders if layering.folder_of(folder + "/", table) is None))
        self.assertEqual([], sorted(row for row in table if not any((folder + "/").startswith(row + "/") for folder in folders)))

    def test_has_no_arrow_that_points_up(self):
        table = layering.read_table(tree.text("docs/architecture.md"))
        self.assertEqual([], list(layering.arrows_up(table)))


class Planted(unittest.TestCase):
    def test_what_the_table_allows_passes(self):
        source = '#include <vector>\n#include <omp.h>\n#include <xbyak/xbyak.h>\n#include "base/units.hpp"\n'
        self.assertEqual([], found("cpu/isa.cpp", source + "#include <sys/mman.h>\n"))

    def test_an_arrow_that_points_up_is_found(self):
        self.assertEqual(["base/a.cpp: base may not include cpu (cpu/isa.hpp)"], found("base/a.cpp", '#include "cpu/isa.hpp"'))

    def test_a_foreign_library_is_found(self):
        self.assertEqual(["base/a.cpp: base may not use <omp.h>"], found("base/a.cpp", "  # include <omp.h>\n"))

    def test_a_system_header_is_found_where_the_table_has_no_system(self):
        self.assertEqual(1, len(found("base/a.cpp", "#include <unistd.h>\n")))

    def test_a_path_that_does_not_start_at_the_root_is_found(self):
        self.assertEqual(1, len(found("cpu/a.cpp", '#include "isa.hpp"')))

    def test_a_folder_inside_a_folder_has_its_own_row(self):
        self.assertEqual([], found("cpu/deep/a.cpp", '#include "cpu/isa.hpp"'))
        self.assertEqual(1, len(found("cpu/deep/a.cpp", '#include "base/units.hpp"')))

    def test_a_row_that_names_one_below_it_is_found(self):
        table = layering.read_table("## Who may include whom\n| `a` | `b` | |\n| `b` | | |\n| `c` | `a` | |\n")
        self.assertEqual(["a may include b, whose row is below"], list(layering.arrows_up(table)))

    def test_tables_under_other_headings_are_not_read(self):
        self.assertNotIn("gpu", TABLE)


if __name__ == "__main__":
    unittest.main()
