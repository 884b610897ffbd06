// The help is complete: every command has a page with all its options.
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/commands/commands.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using tests::Workbench;

TEST_CASE("the help of every command mentions every option and has an example")
{
    for (const Command& command : commands) {
        OptionParser parser{std::string(command.name)};
        const Action declared = command.declare(parser);
        const std::string page(help_of(command.name));
        for (const std::string& option : parser.options()) {
            INFO(command.name << " " << option);
            CHECK_THAT(page, Catch::Contains("    " + option));
        }
        CHECK_THAT(page, Catch::StartsWith("# roof " + std::string(command.name) + "\n"));
        CHECK_THAT(page, Catch::Contains("## Examples\n\n    roof " + std::string(command.name)));
        CHECK_THAT(overview(), Catch::Contains(std::string(command.summary)));
    }
}

TEST_CASE("the option --out has the short form -o")
{
    for (const char* option : {"-o", "--out"}) {
        OptionParser parser("any");
        const std::string& out = parser.value("--out");
        parser.parse({option, "folder"});
        CHECK(out == "folder");
    }
}

TEST_CASE("help is printed by command and by option, even if other options are missing")
{
    const Workbench bench;
    const std::string page(help_of("run"));
    CHECK(bench.roof({"help", "run"}).out == page);
    CHECK(bench.roof({"run", "--help"}).out == page);
    CHECK(bench.roof({"run", "tinynet", "-h"}).out == page);
    CHECK(bench.roof({"run", "--help"}).status == 0);
    CHECK(bench.roof({}).out == overview());
    CHECK(bench.roof({"--help"}).out == overview());
}

TEST_CASE("the version names the revision")
{
    const auto said = Workbench{}.roof({"--version"});
    CHECK(said.status == 0);
    CHECK(said.out == "roof " + std::string(version()) + " (" + std::string(revision()) + ")\n");
}

TEST_CASE("help fits the window: paragraphs and descriptions are broken anew, examples stay whole")
{
    Workbench bench;
    for (const int columns : {60, 80, 120}) {
        bench.terminal = {.live = true, .columns = columns, .width = columns, .plain = true};
        for (const Command& command : commands) {
            bool is_example = false;
            for (const std::string& line : split(bench.roof({"help", std::string(command.name)}).out, '\n')) {
                if (line.starts_with('#')) is_example = line == "## Examples";
                INFO(line);
                CHECK((is_example || static_cast<int>(analysis::display_columns(line)) <= columns));
            }
        }
    }
    bench.terminal.width = 60;
    const std::string text = bench.roof({"help", "sweep"}).out;
    CHECK_THAT(text, Catch::Contains("    --only GLOB      only items"));
    CHECK_THAT(text, Catch::Contains("\n                     "));
}
