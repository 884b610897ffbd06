// Foreign text in every field and every sink: no control character, no invalid UTF-8, no formula.
#include "ert/base/checksum.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using tests::Workbench;

namespace {

const std::string hostile =
    "=1+\x1b[2J\xC2\x9B"
    "31m\x07\xFF<b>&\"'";

/// The file with `text` in place of every cell, or value of YAML, that is `word`.
void spoil(const std::filesystem::path& file, const std::string& word, const std::string& text)
{
    std::string content = read_file(file);
    for (std::size_t at = 0; (at = content.find(word, at)) != std::string::npos; at += text.size())
        content.replace(at, word.size(), text);
    write_file(file, content);
}

void check_clean(const std::string& shown, const std::string& sink)
{
    INFO(sink);
    CHECK(printable_lines(shown) == shown);
}

}  // namespace

TEST_CASE("no sink shows foreign text raw")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "7,8", "--out", run}).status == 0);
    std::string in_csv;
    for (const char letter : hostile) in_csv += letter == '"' ? "\"\"" : std::string(1, letter);
    spoil(run + "/measurements.csv", "one file was broken; two were slow", "\"" + in_csv + "\"");
    spoil(run + "/measurements.csv", "\"A made-up rate, for tests.\"", "\"" + in_csv + "\"");
    spoil(run + "/layers.csv", "fake:gemm", "\"" + in_csv + "\"");
    spoil(run + "/layers.csv", "conv1", "\"" + in_csv + "\"");
    spoil(run + "/machine.yaml", "Fake CPU", "\"=1+\\e[2J\\x9b31m\\a<b>&'\"");
    REQUIRE(bench.roof({"check", run, "--accept-edited"}).status == 0);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"report", run, "--data", bench.path("data"), "--out",
                                                bench.path("page.html"), "--pictures", bench.path("pictures")},
                                               {"trace", run, "--out", bench.path("trace.json")},
                                               {"whatif", run, "--set", "batch=16"},
                                               {"whatif", run, "--set", "batch=16", "--json"},
                                               {"compare", run, run},
                                               {"check", run}}) {
        const tests::Said said = bench.roof(words);
        INFO(said.err);
        CHECK(said.status == 0);
        check_clean(said.out, words[0] + " to standard output");
        check_clean(said.err, words[0] + " to standard error");
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bench.folder.path())) {
        if (!entry.is_regular_file() || entry.path().string().starts_with(run)) continue;
        const std::string text = read_file(entry.path());
        if (entry.path().extension() == ".png") continue;
        check_clean(text, entry.path().filename().string());
        const bool is_markup = entry.path().extension() == ".html" || entry.path().extension() == ".svg";
        CHECK((!is_markup || text.find("<b>") == std::string::npos));
        if (entry.path().extension() == ".csv") {
            CHECK(text.find("\n=") == std::string::npos);
            CHECK(text.find(",=") == std::string::npos);
            CHECK(text.find("\"=") == std::string::npos);
        }
    }
}
