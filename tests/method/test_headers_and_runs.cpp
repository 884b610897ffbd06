// A changed header, and lines and files of another run, are named; format 2 is read.
#include "ert/base/checksum.hpp"
#include "tests/method/damaged_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::tests;

TEST_CASE("two names exchanged in the header are found in every row, and none of them is read under a wrong name")
{
    const Damaged folder;
    folder.change("measurements.csv", [](std::string& text) {
        const std::size_t flops = text.find(",flops,");
        const std::size_t memory = text.find(",memory_bytes,");
        text.replace(memory, 14, ",flops,");
        text.replace(flops, 7, ",memory_bytes,");
    });
    const Results back = read_results(folder.run);
    for (const Measurement& row : back.rows) CHECK(row.status == Status::damaged);
    CHECK_THAT(back.damage.at(1),
               Catch::Contains("measurements.csv:3:") && Catch::Contains("header of the file was changed"));
}

TEST_CASE("a file, a line or a machine of another run of the same plan is named")
{
    const Damaged folder, other;
    const auto of_other = [&](const std::string& file) { return read_file(other.run / file); };
    const auto all_are_damaged = [&] {
        const Results back = read_results(folder.run);
        return std::ranges::all_of(back.rows, [](const Measurement& row) { return row.status == Status::damaged; });
    };
    std::filesystem::remove(folder.run / "checksums.csv");  // as after a kill
    SECTION("all rows with their samples and layers")
    {
        for (const std::string file : {"measurements.csv", "samples.csv", "layers.csv"})
            write_file(folder.run / file, of_other(file));
        CHECK_THAT(read_results(folder.run).damage.at(0),
                   Catch::Contains("measurements.csv:1: it is of the run " + run_of(other.run)));
        CHECK(all_are_damaged());
    }
    SECTION("the machine")
    {
        write_file(folder.run / "machine.yaml", of_other("machine.yaml"));
        CHECK(all_are_damaged());
        CHECK_THROWS_WITH(RunDirectory(folder.run, read_file(folder.run / "plan.yaml"), read_machine_of(folder.run)),
                          Catch::Contains("the folder is damaged, so nothing is appended") &&
                              Catch::Contains("it is of the run ") &&
                              Catch::Contains("machine.yaml of the run " + run_of(other.run)));
    }
    SECTION("a line")
    {
        folder.change("measurements.csv", [&](std::string& text) {
            const std::string line = line_of(text, 2);
            text.replace(text.find(line), line.size(), line_of(of_other("measurements.csv"), 2));
        });
        const Results back = read_results(folder.run);
        CHECK(statuses(back).front() == Status::damaged);
    }
    SECTION("a file beside the rows")
    {
        append_block(other.run / "notes.csv", "id,note", "a,b\n");
        write_file(folder.run / "notes.csv", of_other("notes.csv"));
        CHECK_THAT(check_results(folder.run).damage.at(0), Catch::Contains("notes.csv:1: it is of the run"));
    }
}

TEST_CASE("a folder of format 2 is read, and its edits are accepted in that format")
{
    const Damaged folder;
    std::filesystem::remove(folder.run / "checksums.csv");
    folder.change("machine.yaml", [](std::string& text) { text = "format: 2\n" + text.substr(text.find("name:")); });
    folder.replace("measurements.csv", "row_checksum:", "row_checksum");
    folder.change("measurements.csv", [](std::string& text) {
        const std::size_t name = text.find("row_checksum");
        text.erase(name + 12, text.find('\n') - name - 12);
    });
    CHECK_FALSE(read_results(folder.run).damage.empty());  // its checksums cover a header with a run
    accept_edits(folder.run);
    const Results back = read_results(folder.run);
    CHECK(back.damage.empty());
    CHECK(statuses(back) == std::vector{Status::ok, Status::ok, Status::failed});
    CHECK(line_of(read_file(folder.run / "checksums.csv"), 1) == "file,bytes,end,edited,block_checksum\n");
}

TEST_CASE("a column says that times are emulated; in older files the first word of the description does")
{
    const fakes::TemporaryFolder folder;
    auto rows = measured();
    rows[0].time_known = Known::emulated;
    rows[1].description = "Emulated, not a measurement";
    {
        RunDirectory run(folder / "run", plan_text, fakes::fake_machine());
        for (const Measurement& row : rows) run.append(row);
    }
    const auto known = [&] {
        std::vector<Known> all;
        for (const Measurement& row : read_rows(folder / "run")) all.push_back(row.time_known);
        return all;
    };
    CHECK(known() == std::vector{Known::emulated, Known::measured, Known::measured});
    write_file(folder / "run" / "measurements.csv",
               "id,bench,role,device,status,description\n"
               "a gpu:0,a,step,gpu:0,ok,\"Emulated, not a measurement. A step\"\n"
               "a cpu,a,step,cpu,ok,A step beside Emulated ones\n");
    CHECK(known() == std::vector{Known::emulated, Known::measured});
}
