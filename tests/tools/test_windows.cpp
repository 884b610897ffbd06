// What commands print fits windows of 60, 80 and 120 columns.
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/console/terminal.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace roof;
using tests::Said;
using tests::Workbench;

TEST_CASE("no line of a command is wider than the window")
{
    auto words = GENERATE(values<std::vector<std::string>>({
        {"doctor"},
        {"list"},
        {"estimate", "alexnet", "--batch", "2"},
        {"estimate", "alexnet", "--batch", "2", "--on", "h100,v100"},
        {"run", "tinynet", "--batch", "4,8"},
        {"run", "tinynet", "--batch", "4", "--explain"},
        {"run", "tinynit", "--batch", "4"},
        {"compare", "RUN", "RUN"},
        {"report", "RUN"},
        {"check", "RUN"},
        {"whatif", "RUN", "--set", "fp32=2x"},
        {"place", "--flops", "1e9", "--bytes", "1e8", "--seconds", "0.1", "--on", "CEILINGS"},
        {"place", "--flops", "1e9", "--bytes", "1e8", "--seconds", "1e-9", "--on", "CEILINGS"},
        {"estimate", "--study", "a"},
    }));
    Workbench bench;
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4,8", "--out", bench.path("run")}).status == 0);
    std::ofstream(bench.folder / "ceilings.yaml") << "run:\n  - bench: flops\n  - bench: bandwidth\n";
    REQUIRE(bench.roof({"sweep", bench.path("ceilings.yaml"), "--out", bench.path("ceilings")}).status == 0);
    std::ranges::replace(words, "RUN", bench.path("run"));
    std::ranges::replace(words, "CEILINGS", bench.path("ceilings"));
    for (const int columns : {60, 80, 120}) {
        bench.terminal = {.live = true, .columns = columns, .width = columns, .plain = true};
        const Said said = bench.roof(words);
        for (const std::string& text : {said.out, said.err}) {
            for (const std::string& line : split(text, '\n')) {
                if (line.starts_with(bench.folder.path().string())) continue;  // a path stays whole
                const std::size_t drawn = line.rfind(erase_line);
                const std::string shown = drawn == std::string::npos ? line : line.substr(drawn + erase_line.size());
                INFO(columns << ": " << shown);
                CHECK(static_cast<int>(analysis::display_columns(shown)) <= columns);
            }
        }
    }
}

TEST_CASE("the window of messages does not cut what is written to standard output, and the other way round")
{
    Workbench bench;
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4,8", "--out", bench.path("run")}).status == 0);
    const std::vector<std::string> report{"report", bench.path("run"), "--out", bench.path("page.html")};
    const std::string in_a_pipe = bench.roof(report).out;
    bench.messages = Terminal{.live = true, .columns = 40, .width = 40, .plain = true};
    CHECK(bench.roof(report).out == in_a_pipe);
    const std::string wrong = "no-" + std::string(30, 'a') + " " + std::string(30, 'b');
    CHECK(bench.roof({"run", wrong}).err.find('\n') < 41);
    bench.terminal = *bench.messages;
    bench.messages = Terminal{};
    CHECK(bench.roof(report).out != in_a_pipe);
    CHECK(bench.roof({"run", wrong}).err.find('\n') > 41);
}
