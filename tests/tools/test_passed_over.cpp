// What a command does with a newer calibration that is damaged: it takes an older one, and says so.
#include "ert/base/files.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <map>

using namespace roof;
using Catch::Contains;
using tests::Said;
using tests::Workbench;

namespace {

namespace fs = std::filesystem;

/// An older and a newer calibration with a run beside them.
struct Machines {
    Machines()
    {
        write_file(bench.path("roofs.yaml"), "run:\n  - bench: flops\n  - bench: bandwidth\n");
        write_file(bench.path("steps.yaml"), "run:\n  - {bench: train, model: tinynet, batch: [4, 8]}\n");
        for (const auto& [name, plan] : {std::pair{older, "roofs"}, {newer, "roofs"}, {run, "steps"}})
            REQUIRE(bench.roof({"sweep", bench.path(plan + std::string(".yaml")), "--out", place(name)}).status == 0);
    }
    std::string place(const std::string& name) const { return bench.path("results/fake-2cpu/" + name); }
    /// All commands that take a calibration.
    std::vector<std::vector<std::string>> commands() const
    {
        return {{"report", place(run), "--out", bench.path("page.html")},
                {"whatif", place(run), "--set", "fp32=2x"},
                {"export", place(run), "--format", "points"},
                {"compare", place(run), place(run)},
                {"place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4"},
                {"estimate", "alexnet", "--batch", "8", "--on", "here"}};
    }

    const Workbench bench;
    const std::string older = "2026-01-01-a", newer = "2026-01-02-a", run = "2026-01-03-a";
};

void change(const fs::path& file, const std::function<void(std::string&)>& edit)
{
    std::string text = read_file(file);
    edit(text);
    write_file(file, text);
}

}  // namespace

TEST_CASE("a newer calibration that is damaged is named by every command that takes an older one")
{
    const Machines machines;
    const fs::path newer = machines.place(machines.newer), run = machines.place(machines.run);
    for (const auto& words : machines.commands()) {
        const Said said = machines.bench.roof(words);
        INFO(words[0] << ": " << said.err);
        CHECK(said.status == 0);
        CHECK_THAT(said.err, !Contains("passed over"));
    }
    const std::map<std::string, std::function<void()>> accidents{
        {"the first letter of machine.yaml", [&] { change(newer / "machine.yaml", [](auto& t) { t[0] = 'X'; }); }},
        {"the format", [&] { change(newer / "machine.yaml", [](auto& t) { t[8] = '7'; }); }},
        {"the machine's name", [&] { change(newer / "machine.yaml", [](auto& t) { t[t.find("fake-2cpu")] = 'm'; }); }},
        {"the node's name", [&] { change(newer / "machine.yaml", [](auto& t) { t[t.find("fake-node")] = 'm'; }); }},
        {"no machine.yaml", [&] { fs::remove(newer / "machine.yaml"); }},
        {"an empty machine.yaml", [&] { write_file(newer / "machine.yaml", ""); }},
        {"cut rows", [&] { change(newer / "measurements.csv", [](auto& t) { t.resize(300); }); }},
        {"no rows", [&] { fs::remove(newer / "measurements.csv"); }},
        {"an unknown header", [&] { change(newer / "measurements.csv", [](auto& t) { t = "X" + t.substr(30); }); }},
        {"rows of a step",
         [&] {
             fs::copy_file(run / "measurements.csv", newer / "measurements.csv", fs::copy_options::overwrite_existing);
         }},
        {"a status", [&] {
             change(newer / "measurements.csv", [](auto& t) {
                 for (std::size_t at = 0; (at = t.find(",ok,", at)) != std::string::npos;) t.replace(at, 4, ",failed,");
             });
         }}};
    for (const auto& [name, accident] : accidents) {
        const fs::path kept = machines.bench.path("kept");
        fs::copy(newer, kept);
        accident();
        for (const auto& words : machines.commands()) {
            const Said said = machines.bench.roof(words);
            INFO(name << ", " << words[0] << ": " << said.err << said.out);
            CHECK(said.status == 1);
            CHECK_THAT(said.err, Contains("roof: damaged: ") && Contains("2026-01-02-a"));
        }
        INFO(name);
        const std::string page = read_file(machines.bench.path("page.html"));
        const std::size_t list = page.find("Damaged files");
        REQUIRE(list != std::string::npos);
        CHECK(page.find("2026-01-02-a", list) < page.find("</ul>", list));
        fs::remove_all(newer);
        fs::rename(kept, newer);
    }
}

TEST_CASE("damage in the calibration that is taken is told by every command, and on the page")
{
    const Machines machines;
    const fs::path newer = machines.place(machines.newer);
    change(newer / "samples.csv", [](auto& text) { text[text.find_last_of("0123456789")] ^= 1; });
    for (const auto& words : machines.commands()) {
        const Said said = machines.bench.roof(words);
        INFO(words[0] << ": " << said.err);
        CHECK(said.status == 1);
        CHECK_THAT(said.err, Contains("roof: damaged: ") && Contains("2026-01-02-a/samples.csv:"));
    }
    CHECK_THAT(read_file(machines.bench.path("page.html")), Contains("2026-01-02-a/samples.csv:"));
}

TEST_CASE("what is newer and whole, but no better, is no damage")
{
    const Machines machines;
    write_file(machines.bench.path("quick.yaml"), "quick: true\nrun:\n  - bench: flops\n  - bench: bandwidth\n");
    REQUIRE(machines.bench.roof({"sweep", machines.bench.path("quick.yaml"), "--out", machines.place("2026-01-04-a")})
                .status == 0);
    const Said said =
        machines.bench.roof({"report", machines.place(machines.run), "--out", machines.bench.path("page.html")});
    INFO(said.err);
    CHECK(said.status == 0);
    CHECK_THAT(read_file(machines.bench.path("page.html")),
               Contains("2026-01-04-a was passed over: it is a quick calibration"));
}

TEST_CASE("the newest run without its machine.yaml is named, and no other is taken for it")
{
    const Machines machines;
    fs::remove(fs::path(machines.place(machines.run)) / "machine.yaml");
    const Said said = machines.bench.roof({"report"});
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Contains("2026-01-03-a/machine.yaml"));
}
