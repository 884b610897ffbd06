// The completion scripts contain what the parsers declare.
#include "tests/tools/workbench.hpp"
#include "tools/roof/commands/commands.hpp"

#include "ert/base/files.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace roof;
using tests::Workbench;

namespace {

/// What may stand at the end of this command line.
std::string words_after(const Workbench& bench, const std::vector<std::string>& line)
{
    std::vector<std::string> words{"completion", "words", "--"};
    words.insert(words.end(), line.begin(), line.end());
    const auto said = bench.roof(words);
    CHECK(said.status == 0);
    CHECK(said.err.empty());
    return said.out;
}

/// The words that bash proposes, each on a line; `roof` is a program that prints `answer`.
std::string in_bash(const Workbench& bench, const std::string& answer)
{
    std::ofstream(bench.folder / "answer") << answer;
    std::ofstream(bench.folder / "roof.bash") << bench.roof({"completion", "bash"}).out;
    const std::string line =
        "cd '" + bench.path("") +
        "' && bash -c 'roof() { cat answer; }; . ./roof.bash; COMP_WORDS=(roof report \"\"); COMP_CWORD=2; "
        "_roof; printf \"%s\\n\" \"${COMPREPLY[@]}\" > said'";
    REQUIRE(std::system(line.c_str()) == 0);
    return read_file(bench.folder / "said");
}

}  // namespace

TEST_CASE("the completion has every command and every option of it, and the values of options")
{
    const Workbench bench;
    const std::string names = words_after(bench, {""});
    for (const Command& command : commands) {
        const std::string name(command.name);
        CHECK_THAT(names, Catch::Contains(name + "\t" + std::string(command.summary) + "\n"));
        CHECK_THAT(words_after(bench, {"help", ""}), Catch::Contains(name));
        OptionParser parser(name);
        const Action declared = command.declare(parser);
        for (const std::string& option : parser.options()) {
            INFO(name << " " << option);
            CHECK_THAT("\n" + words_after(bench, {name, "-"}), Catch::Contains("\n" + option + "\n"));
            CHECK_THAT(words_after(bench, {name, option}), Catch::Contains(option + "\n"));
        }
    }
    CHECK(words_after(bench, {"ca"}) == "calibrate\tmeasure this machine's ceilings\n");
    CHECK_THAT(words_after(bench, {"run", ""}), Catch::StartsWith("tinynet\n"));
    CHECK(words_after(bench, {"run", "tinynet", "--precision", "fp3"}) == "fp32\n");
    CHECK(words_after(bench, {"run", "tinynet", "--device", ""}) == "cpu\n");
    CHECK(words_after(bench, {"run", "tinynet", "--out", ""}).empty());
    CHECK(words_after(bench, {"estimate", "alexnet", "--on", "a100"}) ==
          "a100-pcie-40gb\na100-pcie-80gb\na100-sxm4-40gb\na100\na100-sxm4-80gb\n");
    CHECK(words_after(bench, {"estimate", "alexnet", "--phase", "de"}) == "decode\n");
    CHECK(words_after(bench, {"export", "run", "--format", "t"}) == "tracelens\n");
    CHECK(words_after(bench, {"fleet", "h"}) == "history\n");
    CHECK(words_after(bench, {"fleet", "script", "s"}) == "script\nslurm\n");
    CHECK(words_after(bench, {"list", "c"}) == "counters\n");
    CHECK_THAT(words_after(bench, {"calibrate", "--plan", "cal"}), Catch::Contains("calibrate/cpu\n"));
    CHECK(words_after(bench, {"health", "--prolog", ""}) == "slurm\n");
    CHECK(words_after(bench, {"unknown", ""}).empty());
}

TEST_CASE("the completion proposes the runs among the results, and no name that a shell would read otherwise")
{
    const Workbench bench;
    for (const char* name : {"2026-01-02", "$(touch harm)", "`touch harm`", "a b", "a;b", "line\nend"})
        std::filesystem::create_directories(bench.folder / "results/machine" / name);
    const std::string run = bench.path("results/machine/2026-01-02") + "\n";
    CHECK(words_after(bench, {"report", ""}) == run);
    CHECK(in_bash(bench, run + "$(touch harm)\tx\n") == run + "$(touch harm)\n");
    CHECK_FALSE(std::filesystem::exists(bench.folder / "harm"));
}

TEST_CASE("the completion of an unknown shell is refused with the known ones")
{
    const auto said = Workbench{}.roof({"completion", "fisch"});
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Catch::Contains("unknown shell 'fisch'; did you mean 'fish'?"));
}

TEST_CASE("a parser declares its options and arguments with their kind")
{
    OptionParser parser("any");
    parser.required("MODEL");
    parser.value("--out");
    parser.flag("--json");
    const std::vector<DeclaredWord> words = parser.declared();
    REQUIRE(words.size() == 3);
    CHECK((words[0].name == "MODEL" && words[0].is_argument));
    CHECK((words[1].name == "--out" && words[1].takes_value && !words[1].is_argument));
    CHECK((words[2].name == "--json" && !words[2].takes_value));
}
