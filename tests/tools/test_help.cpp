// The help is complete: every command has a page with all its options.
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/commands/commands.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

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
    CHECK(bench.roof({"run", "--help"}).out == short_help("run", {}));
    CHECK(bench.roof({"run", "tinynet", "-h"}).out == short_help("run", {}));
    CHECK(bench.roof({"run", "--help"}).status == 0);
    CHECK(bench.roof({"help"}).out == overview());
    CHECK(bench.roof({}).out == overview(false));
    CHECK(bench.roof({"--help"}).out == overview(false));
}

TEST_CASE("the help of each command by --help is one screen: its forms, ten options and three examples at most")
{
    constexpr std::size_t columns = 80, rows = 25;
    for (const Command& command : commands) {
        const std::string text =
            short_help(command.name, {.live = true, .columns = columns, .width = columns, .plain = true});
        INFO(text);
        const std::vector<std::string> lines = split(text, '\n');
        CHECK(lines.size() <= rows);
        CHECK_THAT(lines.front(), Catch::StartsWith("    roof " + std::string(command.name)));
        for (const std::string& line : lines)  // examples stay whole
            CHECK((line.starts_with("    roof ") || analysis::display_columns(line) <= columns));
        CHECK(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("    --"); }) <= 10);
        const std::string page = help_of(command.name);
        const std::string first = "\n" + split(page.substr(page.find("## Examples\n\n") + 13), '\n')[0] + "\n";
        CHECK_THAT(text, Catch::Contains(first) && Catch::Contains("`roof help " + std::string(command.name) + "`"));
    }
    CHECK(split(overview(false), '\n').size() <= 40);
}

TEST_CASE("words of other programs are understood for a precision and a device")
{
    OptionParser parser("any");
    const std::string& precision = parser.value("--precision");
    const std::string& device = parser.value("--device");
    const std::string& name = parser.value("--name");
    parser.parse({"--precision", "float32,bfloat16,double,tf32", "--device", "cuda:1,cuda", "--name", "half"});
    CHECK(precision == "fp32,bf16,fp64,tf32");
    CHECK(device == "gpu:1,gpu:0");
    CHECK(name == "half");
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
