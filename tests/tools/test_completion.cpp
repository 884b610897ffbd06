// The completion scripts contain what the parsers declare.
#include "tests/tools/workbench.hpp"
#include "tools/roof/commands/commands.hpp"

#include "ert/base/files.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace roof;
using tests::Workbench;

TEST_CASE("the completion of each shell has every command and every option of it")
{
    const Workbench bench;
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const auto said = bench.roof({"completion", shell});
        REQUIRE(said.status == 0);
        for (const Command& command : commands) {
            OptionParser parser{std::string(command.name)};
            const Action declared = command.declare(parser);
            CHECK_THAT(said.out, Catch::Contains(std::string(command.name)));
            for (const std::string& option : parser.options()) {
                INFO(shell << " " << command.name << " " << option);
                CHECK_THAT(said.out, Catch::Contains(shell == std::string("fish") ? "-l " + option.substr(2) : option));
            }
        }
    }
}

TEST_CASE("the completion proposes the models that this registry can train")
{
    CHECK_THAT(Workbench{}.roof({"completion", "bash"}).out, Catch::Contains("values='tinynet"));
}

TEST_CASE("the completion proposes devices and, in bash, the runs among the results")
{
    const Workbench bench;
    for (const char* shell : {"bash", "zsh", "fish"})
        CHECK_THAT(bench.roof({"completion", shell}).out,
                   Catch::Contains(shell == std::string("zsh") ? ":(cpu)" : "'cpu'"));
    std::filesystem::create_directories(bench.folder / "results/machine/2026-01-02");
    std::ofstream(bench.folder / "roof.bash") << bench.roof({"completion", "bash"}).out;
    const std::string line = "cd '" + bench.path("") +
                             "' && bash -c '. ./roof.bash; COMP_WORDS=(roof report \"\"); COMP_CWORD=2; "
                             "_roof; echo ${COMPREPLY[*]} > said'";
    REQUIRE(std::system(line.c_str()) == 0);
    CHECK(read_file(bench.folder / "said") == "results/machine/2026-01-02\n");
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
