// All that is read from a small folder written by hand, and from the same one with a change: sentences and rows.
#include "ert/base/error.hpp"
#include "tests/method/damaged_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::tests;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fakes::TemporaryFolder root;
    fs::path place = root / "run";
    std::map<std::string, std::string> files{
        {"measurements.csv",
         "id,bench,role,device,batch,status,launch_median_s,launch_low_s,launch_high_s,samples\n"
         "a cpu batch=4,a,step,cpu,4,ok,2,1,3,2\na cpu batch=8,a,step,cpu,8,ok,2,1,3,1\n"},
        {"samples.csv",
         "id,launch_s,used\na cpu batch=4,1,1\na cpu batch=4,3,1\na cpu batch=4,9,0\na cpu batch=8,2,1\n"},
        {"layers.csv",
         "id,layer,kind,phase,time_median_s,time_low_s,time_high_s\na cpu batch=4,c,conv,forward,2,1,3\n"
         "a cpu batch=4,c,conv,backward,2,1,3\n"}};

    Folder()
    {
        RunDirectory(place, "a plan\n", fakes::fake_machine()).close();
        fs::remove(place / "checksums.csv");
        for (const auto& [name, text] : files) write_file(place / name, text);
    }
    /// Sentences with `{}` in place of the folder, and of each row its id, status, and numbers of samples and parts.
    std::string read() const
    {
        const Results results = read_results(place);
        std::string all;
        for (const std::string& one : results.damage) all += "damage: " + one + "\n";
        for (const std::string& one : results.remarks)
            if (!one.ends_with("a changed figure is not noticed")) all += "remark: " + one + "\n";
        for (const std::string& one : results.odd) all += "odd: " + one + "\n";
        for (const Measurement& row : results.rows) {
            all += fmt::format("{} {} {} {}\n", row.id(), name(row.status), row.samples.size(), row.parts.size());
            if (row.status == Status::damaged)
                CHECK(std::ranges::find(results.damage, row.reason) != results.damage.end());
        }
        if (const std::size_t at = all.find("; legal values"); at != std::string::npos)
            all.erase(at, all.find('\n', at) - at);
        for (std::size_t at; (at = all.find(place.string())) != std::string::npos;)
            all.replace(at, place.string().size(), "{}");
        return all;
    }
};

const std::string first = "a cpu batch=4 ok 3 2\n", second = "a cpu batch=8 ok 1 0\n", whole = first + second;

}  // namespace

TEST_CASE("one change of a small folder is told by one sentence, and damages its row alone")
{
    const std::string m = "measurements.csv", s = "samples.csv", l = "layers.csv";
    const std::string in_rows = "damage: {}/measurements.csv:", in_samples = "damage: {}/samples.csv:";
    const std::string in_layers = "damage: {}/layers.csv:", outside = "a median lies outside its interval\n";
    const std::string no_first = "a cpu batch=4 damaged 0 0\n" + second;
    const std::string no_second = first + "a cpu batch=8 damaged 0 0\n";
    const std::string no_row = "its row is not in measurements.csv\n", not_number = "'x' is not a number\n";
    const std::string killed =
        " at its end, of a row that is not in measurements.csv: its run was killed or still writes it\n";
    const std::string no_rows = in_samples + "2: " + no_row + in_layers + "2: " + no_row;
    const std::string not_ended =
        "remark: the run has not ended: it was killed or still measures\n"
        "odd: {}: the run has not ended: it was killed or still measures\n";
    const std::string row = "a cpu batch=8,a,step,cpu,8,ok,2,1,3,1\n";
    struct Case {
        std::string file, from, to, read;  ///< without `from`: at the end
    };
    const std::vector<Case> cases{
        {m, "", "", whole},
        {m, "8,ok,2", "8,ok,0.5", in_rows + "3: " + outside + no_second},
        {m, "8,ok,2", "8,ok,4", in_rows + "3: " + outside + no_second},
        {m, "8,ok,2", "8,ok,-2", in_rows + "3: column launch_median_s: '-2' is less than 0\n" + no_second},
        {m, "8,ok,2", "8,ok,1", whole},
        {m, "8,ok,2", "8,ok,3", whole},
        {m, "8,ok,2", "8,failed,4", first + "a cpu batch=8 failed 1 0\n"},
        {m, "3,1\n", "3,2\n", "damage: samples.csv: 1 used samples, the row has 2\n" + no_second},
        {m, "8,ok,2,1,3,1", "8,failed,2,1,3,2", first + "a cpu batch=8 failed 1 0\n"},
        {m, "low_s", "median_s", in_rows + "1: the column 'launch_median_s' appears twice\n" + no_rows + not_ended},
        {m, "id,", "ip,", in_rows + "1: the first column is not 'id'\n" + no_rows + not_ended},
        {m, "", row, in_rows + "4: the row appears twice\n" + whole + "a cpu batch=8 damaged 0 0\n"},
        {m, "", "a cpu batch=8,a,step,cpu,8,ok,x,1,3,1\n",
         in_rows + "4: column launch_median_s: " + not_number + whole + "a cpu batch=8 damaged 0 0\n"},
        {m, "2,1,3,1\n", "4,1,3,1\n" + row, in_rows + "3: " + outside + no_second + second},
        {m, "ok,2,1,3,1\n", "skipped,,,,\n" + row, whole},
        {m, "ok,2,1,3,1\n", "skipped,,,,\na cpu batch=8,a,step,cpu,8,skipped,,,,\n",
         first + "a cpu batch=8 skipped 1 0\n"},
        {m, "2,1,3,1\n", "x,1,3\n", in_rows + "3: 9 cells, its header has 10\n" + no_second},
        {m, "cpu,8", "cpu,9", in_rows + "3: its id is not that of its cells\n" + first + "a cpu batch=9 damaged 0 0\n"},
        {m, "cpu,8", "cpu,-8", in_rows + "3: its id is not that of its cells\n" + first + "a cpu  damaged 0 0\n"},
        {m, "=8,a,step,cpu,8", "=-8,a,step,cpu,-8",
         in_rows + "3: batch '-8' is no whole number up to 1000000000\nremark: samples.csv: 1 line" + killed + first +
             "a cpu  damaged 0 0\n"},
        {m, row, "", "remark: samples.csv: 1 line" + killed + first},
        {s, "", "a cpu batch=9,1,1\na cpu batch=9,1,1\n", "remark: samples.csv: 2 lines" + killed + whole},
        {s, "", "a cpu batch=9,1,1\na cpu batch=10,1,1\n", in_samples + "6: " + no_row + whole},
        {s, "a cpu batch=4,9", "a cpu batch=9,1,1\na cpu batch=4,9", in_samples + "4: " + no_row + whole},
        {s, "", "a cpu batch=9,1\n", in_samples + "6: 2 cells, its header has 3\n" + whole},
        {s, "", "a cpu batch=8,x,1\na cpu batch=8,x,1\n", in_samples + "6: column launch_s: " + not_number + no_second},
        {s, "launch_s", "launch",
         in_samples +
             "1: unknown column 'launch'; did you mean 'launch_s'?\na cpu batch=4 ok 0 2\na cpu batch=8 ok 0 0\n"},
        {l, "backward", "forward", in_layers + "3: the layer and phase stand twice in their row\n" + no_first},
        {l, "backward,2", "backward,4", in_layers + "3: " + outside + no_first},
        {l, "backward,2,1,3", "backward,4,1,x", in_layers + "3: column time_high_s: " + not_number + no_first},
        {l, "", "a cpu batch=4,c,conv,backward,x,1,3\n",
         in_layers + "4: column time_median_s: " + not_number + no_first},
        {l, "", "a cpu batch=9,c,conv,backward,2,1,3\n", "remark: layers.csv: 1 line" + killed + whole}};
    const Folder folder;
    for (const Case& one : cases) {
        std::string text = folder.files.at(one.file);
        const std::size_t at = one.from.empty() ? text.size() : text.find(one.from);
        REQUIRE(at != std::string::npos);
        INFO(one.file << ": '" << one.to << "' for '" << one.from << "'");
        write_file(folder.place / one.file, text.replace(at, one.from.size(), one.to));
        CHECK(folder.read() == one.read);
        write_file(folder.place / one.file, folder.files.at(one.file));
    }
}

TEST_CASE("a folder that lacks files is read as far as it goes")
{
    const Folder folder;
    const auto read = [&] { return read_results(folder.place); };
    fs::remove(folder.place / "plan.yaml");
    CHECK(folder.read() == whole);
    CHECK(read().plan.empty());
    for (const char* const name : {"samples.csv", "layers.csv"}) fs::remove(folder.place / name);
    CHECK(folder.read() == "a cpu batch=4 ok 0 0\na cpu batch=8 ok 0 0\n");
    write_file(folder.place / "samples.csv", folder.files.at("samples.csv"));
    write_file(folder.place / "measurements.csv", "");
    CHECK(folder.read() == "damage: {}/samples.csv:2: its row is not in measurements.csv\n");
    fs::remove(folder.place / "measurements.csv");
    CHECK_THROWS_WITH(read(),
                      "cannot read " + (folder.place / "measurements.csv").string() + ": No such file or directory");
    fs::remove(folder.place / "machine.yaml");
    CHECK_THROWS_WITH(read(), folder.place.string() + " is no results folder: it has no machine.yaml");
    write_file(folder.place / "measurements.csv", folder.files.at("measurements.csv"));
    CHECK_THROWS_WITH(read(), Catch::EndsWith("machine.yaml: No such file or directory"));
    const fs::path file = folder.place / "measurements.csv";
    CHECK_THROWS_WITH(read_results(file), "there is no results folder " + file.string());
}

TEST_CASE("rows without samples and layers are proven by their own checksums, and a skipped one goes")
{
    const fakes::TemporaryFolder root;
    std::vector<Measurement> rows = measured();
    {
        RunDirectory run(root / "run", plan_text, fakes::fake_machine());
        for (Measurement& row : rows) {
            row.samples.clear();
            row.parts.clear();
            const Status status = std::exchange(row.status, Status::skipped);
            run.append(row);
            row.status = status;
            if (&row != &rows.back()) run.append(row);
        }
    }
    CHECK_FALSE((fs::exists(root / "run" / "samples.csv") || fs::exists(root / "run" / "layers.csv")));
    CHECK(statuses(read_results(root / "run")) == std::vector{Status::ok, Status::ok, Status::skipped});
    CHECK(read_rows(root / "run").size() == 3);
    std::string text = read_file(root / "run" / "measurements.csv");
    text[text.rfind("A made-up")] = 'O';
    write_file(root / "run" / "measurements.csv", text);
    const Results results = read_results(root / "run");
    CHECK(statuses(results) == std::vector{Status::ok, Status::ok, Status::damaged});
    CHECK(results.damage == std::vector{(root / "run" / "measurements.csv").string() +
                                        ":6: it does not match its checksum: it was changed"});
}
