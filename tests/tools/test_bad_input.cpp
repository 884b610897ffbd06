// Invalid input gives status 2, no standard output, and one line with the error and the legal values.
#include "ert/method/results/results.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace roof;
using tests::Said;
using tests::Workbench;

namespace {

void require_one_clear_line(const Said& said, const std::vector<std::string>& pieces)
{
    INFO(said.err);
    CHECK(said.status == 2);
    CHECK(said.out.empty());
    CHECK(said.err.starts_with("roof: "));
    CHECK(std::count(said.err.begin(), said.err.end(), '\n') == 1);
    for (const std::string& piece : pieces) CHECK_THAT(said.err, Catch::Contains(piece));
}

struct Mistake {
    std::vector<std::string> words;
    std::vector<std::string> pieces;
};

}  // namespace

TEST_CASE("wrong input gives one clear line with the key and the legal values, and status 2")
{
    const auto mistake = GENERATE(values<Mistake>({
        {{"doctr"}, {"'doctr'", "did you mean 'doctor'"}},
        {{"help", "swep"}, {"did you mean 'sweep'"}},
        {{"halp"}, {"did you mean 'help'"}},
        {{"sweep", "quikstart"}, {"did you mean 'run/quickstart'"}},
        {{"run", "tinynet", "--batch", "4", "--device", "gpu0"}, {"did you mean 'gpu:0'"}},
        {{"estimate", "alexnet", "--batch", "1", "--on", "hre"}, {"did you mean 'here'"}},
        {{"fleet", "rettest", "x"}, {"did you mean 'retest'"}},
        {{"doctor", "--jsn"}, {"doctor: ", "did you mean '--json'"}},
        {{"doctor", "now"}, {"unexpected argument 'now'"}},
        {{"run"}, {"MODEL"}},
        {{"run", "tinynet"}, {"--batch", "roof help run"}},
        {{"run", "tinynet", "--batch"}, {"--batch"}},
        {{"run", "tinynet", "--bacth", "4"}, {"did you mean '--batch'"}},
        {{"run", "tinynet", "--bacth=4"}, {"'--bacth'", "did you mean '--batch'"}},
        {{"run", "tinynit", "--batch", "4"}, {"model", "did you mean 'tinynet'", "widenet"}},
        {{"run", "tinynet", "--batch", "0"}, {"batch", "'0'", "1 to 65536"}},
        {{"run", "tinynet", "--batch", "-1"}, {"batch", "'-1'", "1 to 65536"}},
        {{"run", "tinynet", "--batch", "1000000000"}, {"batch", "1 to 65536"}},
        {{"run", "tinynet", "--batch", "four"}, {"batch", "'four'", "1 to 65536"}},
        {{"run", "tinynet", "--batch", "4,,8"}, {"--batch", "'4,,8'"}},
        {{"run", "tinynet", "--batch", "4", "--steps", "0"}, {"--steps", "from 1 to"}},
        {{"run", "tinynet", "--batch", "4", "--steps", "3.5"}, {"--steps", "'3.5'"}},
        {{"run", "tinynet", "--batch", "4", "--precision", "fp31"}, {"precision", "fp32"}},
        {{"run", "tinynet", "--batch", "4", "--parameters", "rand"}, {"parameters", "random, hashed"}},
        {{"run", "tinynet", "--batch", "4", "--threads", "3"}, {"threads", "1 to 2"}},
        {{"run", "tinynet", "--batch", "4", "--device", "tpu"}, {"device", "'tpu'", "cpu"}},
        {{"run", "tinynet", "--batch", "4", "--out", "/proc/nowhere/run"}, {"/proc/nowhere"}},
        {{"sweep"}, {"PLAN"}},
        {{"sweep", "missing.yaml"}, {"missing.yaml", "built-in"}},
        {{"calibrate", "--device", "tpu"}, {"tpu", "cpu"}},
        {{"calibrate", "--threads", "0"}, {"threads", "'0'"}},
        {{"estimate", "alexnet", "--batch", "none"}, {"--batch", "from 1 to"}},
        {{"estimate", "alexnte", "--batch", "1"}, {"did you mean 'alexnet'"}},
        {{"estimate", "alexnet", "--batch", "1", "--precision", "fp31"}, {"did you mean 'fp32'"}},
        {{"report", "/nowhere/run"}, {"/nowhere/run"}},
        {{"compare", "/nowhere/a", "/nowhere/b"}, {"/nowhere/a"}},
        {{"compare", "one"}, {"B"}},
        {{"list", "model"}, {"did you mean 'models'", "benches"}},
    }));
    require_one_clear_line(Workbench{}.roof(mistake.words), mistake.pieces);
}

TEST_CASE("an invalid plan is refused with its file and line before anything is measured")
{
    const Workbench bench;
    std::ofstream(bench.folder / "plan.yaml") << "run:\n  - bench: train\n    model: tinynet\n    batch: [4, 0]\n";
    require_one_clear_line(bench.roof({"sweep", bench.path("plan.yaml")}), {"plan.yaml:4", "batch", "1 to 65536"});
    require_one_clear_line(bench.roof({"sweep", bench.path("plan.yaml"), "--set", "batch"}), {"--set", "axis=value"});
    require_one_clear_line(bench.roof({"sweep", bench.path("plan.yaml"), "--set", "batch=4", "--only", "none"}),
                           {"--only", "'none'", "legal values: train"});
    require_one_clear_line(bench.roof({"sweep", bench.path("plan.yaml"), "--set", "batch=4", "--only", "trian cpu"}),
                           {"--only", "did you mean 'train'"});
    CHECK_FALSE(std::filesystem::exists(bench.folder / "results"));
}

TEST_CASE("a folder that another run is writing to, or that holds another plan, is refused")
{
    const Workbench bench;
    const std::vector<std::string> words{"run", "tinynet", "--batch", "4", "--out", bench.path("run")};
    REQUIRE(bench.roof(words).status == 0);
    {
        const Results results = read_results(bench.folder / "run");
        const RunDirectory busy(bench.folder / "run", results.plan, results.machine);
        require_one_clear_line(bench.roof(words), {bench.path("run")});
    }
    require_one_clear_line(bench.roof({"run", "tinynet", "--batch", "8", "--out", bench.path("run")}),
                           {bench.path("run"), "another plan"});
}

TEST_CASE("a message cannot contain terminal control sequences")
{
    const Said said = Workbench{}.roof({"run", "tiny\033[2Jnet", "--batch", "4"});
    CHECK(said.status == 2);
    CHECK(said.err.find('\033') == std::string::npos);
}

TEST_CASE("a message has at most 2000 bytes, whatever it quotes")
{
    const Said said = Workbench{}.roof({"run", std::string(100'000, 'x'), "--batch", "4"});
    CHECK(said.status == 2);
    CHECK(said.err.size() <= std::string_view("roof: \n").size() + 2000);
}

TEST_CASE("results that cannot be written are an error")
{
    std::ostream nowhere(nullptr);
    std::ostringstream err;
    const fakes::ManualClock clock;
    const auto registry = [&] { return fakes::fake_registry(clock); };
    const int status = run_command_line(
        {"doctor"}, {nowhere, err, registry, clock.clock(), Terminal{}, [] { return false; }, "results"});
    CHECK(status == 2);
    CHECK_THAT(err.str(), Catch::Contains("standard output"));
}
