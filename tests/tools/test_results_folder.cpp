#include "tests/fakes/temporary_folder.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/console/output.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace roof;
using namespace roof::tests;

namespace {

std::string chosen(const std::map<std::string, std::string>& variables, const std::string& here)
{
    const auto value = [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    };
    return results_folder(value, here).string();
}

}  // namespace

TEST_CASE("results are kept where ROOF_RESULTS says, else in results here, else in the data folder")
{
    const fakes::TemporaryFolder with_results;
    std::filesystem::create_directories(with_results / "results");
    const fakes::TemporaryFolder without;
    const std::map<std::string, std::string> home{{"HOME", "/home/me"}};
    std::map<std::string, std::string> all = home;
    all["XDG_DATA_HOME"] = "/data";
    CHECK(chosen(home, without.path()) == "/home/me/.local/share/roof");
    CHECK(chosen(all, without.path()) == "/data/roof");
    CHECK(chosen(all, with_results.path()) == "results");
    all["ROOF_RESULTS"] = "/shared/results";
    CHECK(chosen(all, with_results.path()) == "/shared/results");
    CHECK(chosen({{"HOME", "/home/me"}, {"XDG_DATA_HOME", "data"}}, without.path()) == "/home/me/.local/share/roof");
    CHECK(chosen({}, without.path()) == "results");
}

TEST_CASE("where results are kept is said before the first of them, and not again")
{
    const Workbench bench;
    const std::vector<std::string> command{"run", "tinynet", "--batch", "4"};
    const std::string sentence = "results are kept in " + bench.path("results") + "; ";
    CHECK_THAT(bench.roof(command).err, Catch::Contains(sentence));
    CHECK_THAT(bench.roof(command).err, !Catch::Contains(sentence));
    const Workbench other;
    CHECK_THAT(other.roof({"run", "tinynet", "--batch", "4", "--out", other.path("own")}).err,
               !Catch::Contains("results are kept in"));
}

TEST_CASE("doctor shows where results are kept")
{
    const Workbench bench;
    CHECK_THAT(bench.roof({"doctor"}).out, Catch::Contains(bench.path("results")));
    CHECK_THAT(bench.roof({"doctor", "--json"}).out, Catch::Contains("\"results\": \"" + bench.path("results")));
}
