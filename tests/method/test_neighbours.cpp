// What the head of a folder beside a run shows: whether it is one of results, when it began, and why it cannot be read.
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <map>

using namespace roof;
namespace fs = std::filesystem;

namespace {

/// All that is known of it, with `{}` in place of its path.
std::string described(const Neighbour& one)
{
    std::string text = one.unread + one.odd;
    if (const std::size_t at = text.find(one.place.string()); at != std::string::npos)
        text.replace(at, one.place.string().size(), "{}");
    return (one.is_results ? "results " : "") + std::string(one.has_rows ? "rows " : "") +
           (one.is_plan_whole ? "whole " : "") + one.plan + one.time + text;
}

void set_time(const fs::path& place, int minute)
{
    const auto time = std::chrono::sys_seconds{std::chrono::seconds{1'800'000'000 + 60 * minute}};
    fs::last_write_time(place, std::chrono::file_clock::from_sys(time));
}

}  // namespace

TEST_CASE("the head of each folder beside a run is read, and of files only those with the name of a run are named")
{
    using Files = std::vector<std::pair<std::string, std::string>>;
    const fakes::TemporaryFolder root;
    const std::string rows = "id,started_utc\nx,\nx\nx,2026-01-02T12:00:00Z\nx,2026-01-02T13:00:00Z\n";
    const std::string seal = "file,bytes,end,edited\nmachine.yaml,1,00000000,\nplan.yaml,7,f34785ef,\n";
    std::string later = "id,started_utc\n";
    for (int line = 2; line < 100; ++line) later += "x,\n";
    const std::string run = "2026-01-01T120000Z-n1-test", table = "kernels.csv", file = "measurements.csv";
    struct Case {
        std::string name;
        Files files;
        std::string described;
    };
    const std::vector<Case> folders{
        {"", {{file, rows}}, "results rows 2026-01-02T12:00:00Z"},
        {run, {{file, rows}}, "results rows 2026-01-02T12:00:00Z"},
        {"2026-01-01T115959Z-early",
         {{file, rows}},
         "results rows 2026-01-02T12:00:00Zthe name of '2026-01-01T115959Z-early' and its rows disagree: the first "
         "began at 2026-01-02T12:00:00Z"},
        {run + "1", {{file, "id,bench\nx,2026-01-02T12:00:00Z\n"}}, "results rows 2026-01-01T12:00:00Z"},
        {run + "2", {{file, ""}}, "results rows 2026-01-01T12:00:00Z"},
        {run + "3", {{"layers.csv", ""}}, "results 2026-01-01T12:00:00Z"},
        {run + "4", {{file, later + "x,2026-01-02T12:00:00Z\n"}}, "results rows 2026-01-02T12:00:00Z"},
        {run + "5", {{file, later + "x,\nx,2026-01-02T12:00:00Z\n"}}, "results rows 2026-01-01T12:00:00Z"},
        {run + "6", {{"plan.yaml", "run: p\n"}, {"checksums.csv", seal}}, "results whole run: p\n2026-01-01T12:00:00Z"},
        {run + "7", {{"plan.yaml", "run: q\n"}, {"checksums.csv", seal}}, "results run: q\n2026-01-01T12:00:00Z"},
        {run + "8", {{"plan.yaml", "run: p\n"}}, "results run: p\n2026-01-01T12:00:00Z"},
        {"rows", {{file, "id,bench\n"}}, "results rows 2027-01-15T08:01:00Z"},
        {"no rows", {{"samples.csv", ""}}, "results 2027-01-15T08:02:00Z"},
        {"table", {{table, "id,name,block_checksum:a\n"}}, "results 2027-01-15T08:02:00Z"},
        {"digest", {{"digest.csv", ""}}, "results 2027-01-15T08:02:00Z"},
        {"other table", {{table, "id,name\n"}}, ""},
        {"looks", {{table, "time_utc,name,block_checksum:a\n"}}, ""},
        {"empty table", {{table, ""}}, ""},
        {"empty", {}, ""},
        {"capitals", {{"PLAN.yaml", ""}}, "{}/PLAN.yaml: roof reads plan.yaml alone"},
        {"both", {{"PLAN.yaml", ""}, {"machine.yaml", ""}}, "results 2027-01-15T08:02:00Z"},
        {"a folder", {{"kernels.csv/a", ""}}, "cannot read {}/kernels.csv: it is no regular file"},
        {"folders", {{"kernels.csv/a", ""}, {"run/a", ""}}, ""}};
    std::map<std::string, std::string> expected;
    for (const Case& one : folders) {
        const fs::path place = root / (one.name.empty() ? "a run" : one.name);
        make_folder(place);
        for (const auto& [name, text] : one.files) {
            make_folder((place / name).parent_path());
            write_file(place / name, text);
        }
        if (fs::exists(place / file)) set_time(place / file, 1);
        set_time(place, 2);
        expected[place.filename()] = one.described;
    }
    for (const std::string& name : {run + ".tar.gz", run + ".n2-test", std::string("a file"), std::string(".hidden")})
        write_file(root / name, "");
    expected[run + ".n2-test"] = "cannot read {}: it is no folder";
    make_folder(root / ".a recording");
    for (const std::string& name : {run + "-gone", std::string("gone")}) fs::create_symlink("nothing", root / name);
    expected[run + "-gone"] = "cannot read {}: it is no folder";
    fs::create_symlink("a loop", root / "a loop");
    expected["a loop"] = "cannot read {}: Too many levels of symbolic links";
    make_folder(root / "a pipe");
    ::mkfifo((root / "a pipe" / "plan.yaml").c_str(), 0600);
    for (const char* const name : {"samples.csv", "layers.csv", "checksums.csv", "machine.yaml", "measurements.csv"})
        write_file(root / "a pipe" / name, "");
    make_folder(root / "other pipe");
    ::mkfifo((root / "other pipe" / "PLAN.yaml").c_str(), 0600);
    expected["other pipe"] = "{}/PLAN.yaml: roof reads plan.yaml alone";
    expected["a pipe"] = "cannot read {}/plan.yaml: it is a pipe, not a regular file";

    std::map<std::string, std::string> found;
    std::vector<std::pair<std::string, fs::path>> order;
    for (const Neighbour& one : neighbours_in(root.path())) {
        found[one.place.filename()] = described(one);
        order.emplace_back(one.time, one.place);
    }
    CHECK(found.size() == expected.size());
    for (const auto& [name, text] : expected) CHECK(name + ": " + found[name] == name + ": " + text);
    CHECK(std::ranges::is_sorted(order, std::greater{}));
    CHECK(neighbours_in(root / "nothing").empty());
}

TEST_CASE("a plan has steps alone if it is whole and each of its benches trains")
{
    for (const auto& [plan, has_steps] : {std::pair{"run:\n  - {bench: train, batch: 4}\n  - bench: train-x\n", true},
                                          {"run:\n  - {\"bench\": 'train'}\n", true},
                                          {"run:\n  - bench: train\n  - bench: flops\n", false},
                                          {"run:\n  - bench: flops\n  - bench: train\n", false},
                                          {"name: \"pytorch\"\nrun:\n  - bench: flops\n", true},
                                          {"run:\n  - bench: ", false},
                                          {"run: []\n", false}}) {
        INFO(plan);
        CHECK(Neighbour{.place = {}, .plan = plan, .is_plan_whole = true}.has_steps_alone() == has_steps);
        CHECK_FALSE(Neighbour{.place = {}, .plan = plan}.has_steps_alone());
    }
}
