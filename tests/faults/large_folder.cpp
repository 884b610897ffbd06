// large_folder rows|steps COUNT FOLDER: writes a results folder of this size, for test_size.py. `rows`: rounds of a
// calibration of a CPU, with all checksums and without samples. `steps`: training steps of the fake registry, of two
// networks under a calibration beside the folder.
#include "ert/base/checksum.hpp"
#include "ert/base/fields.hpp"
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"
#include "tests/tools/workbench.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <iostream>

namespace roof::faults {
namespace {

namespace fs = std::filesystem;

void write_rows(std::size_t count, const fs::path& folder)
{
    const Results one = read_results(fs::path(ROOF_TESTS) /
                                     "../results/examples/amd-epyc-family26-2cpu/2026-11-22T063430Z-e998eee9d186");
    const std::string run = "abcdefghij";
    make_folder(folder);
    write_file(folder / "plan.yaml", one.plan);
    write_file(folder / "machine.yaml", "format: 3\nrun: " + run + "\n" + YAML::Dump(to_yaml(one.machine)) + "\n");
    std::string text = header_of(measurement_fields()) + "\n";
    for (std::size_t i = 0; i < count; ++i) {
        Measurement row = one.rows[i % one.rows.size()];
        row.samples.clear();
        row.parts.clear();
        const long long round = row.point.has("round") ? row.point.integer("round") : 1;
        row.point.set("round", std::to_string(round + 100 * static_cast<long long>(i / one.rows.size())));
        append_row(text, row.id(), row, measurement_fields());
    }
    write_file(folder / "measurements.csv", with_checksums(text, run, [](std::string_view, BlockSum&) {}));
    seal(folder);
}

void write_steps(std::size_t count, const fs::path& folder)
{
    const tests::Workbench bench;
    std::string batches;
    for (std::size_t i = 0; i < (count + 1) / 2; ++i) batches += fmt::format("{}{}", i == 0 ? "" : ", ", 5000 + i);
    write_file(bench.path("steps.yaml"),
               "name: steps\nrun:\n  - {bench: train, model: [tinynet, widenet], batch: [" + batches + "]}\n");
    write_file(bench.path("roofs.yaml"), "name: roofs\nrun:\n  - {bench: bandwidth}\n  - {bench: flops}\n");
    for (const auto& [plan, out] :
         {std::pair{"roofs.yaml", folder.string() + "-roofs"}, {"steps.yaml", folder.string()}})
        if (const tests::Said said = bench.roof({"sweep", bench.path(plan), "--out", out}); said.status != 0)
            throw std::runtime_error(said.err);
}

}  // namespace
}  // namespace roof::faults

int main(int count, char** words)
{
    if (count != 4) {
        std::cerr << "usage: large_folder rows|steps COUNT FOLDER\n";
        return 2;
    }
    const auto size = std::strtoull(words[2], nullptr, 10);
    if (words[1] == std::string("rows"))
        roof::faults::write_rows(size, words[3]);
    else
        roof::faults::write_steps(size, words[3]);
    return 0;
}
