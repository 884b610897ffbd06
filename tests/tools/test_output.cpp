// Results go to standard output and progress to standard error, each in the requested form.
#include "ert/method/plan/plan.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/session/session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace roof;
using tests::Said;
using tests::Workbench;

namespace {

std::string small_plan(const Workbench& bench)
{
    std::ofstream(bench.folder / "plan.yaml")
        << "run:\n  - bench: train\n    model: tinynet\n    batch: [4, 13]\n  - bench: flops\n    isa: scalar\n";
    return bench.path("plan.yaml");
}

std::ptrdiff_t lines(const std::string& text)
{
    return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("with --json a command prints exactly one document on standard output")
{
    auto words = GENERATE(values<std::vector<std::string>>({
        {"doctor"},
        {"list"},
        {"list", "benches"},
        {"list", "counters"},
        {"estimate", "alexnet", "--batch", "2"},
        {"run", "tinynet", "--batch", "4,8"},
        {"sweep", "PLAN"},
        {"sweep", "PLAN", "--dry-run"},
        {"compare", "RUN", "RUN"},
        {"report", "RUN"},
        {"check", "RUN"},
        {"whatif", "RUN", "--set", "batch=8"},
    }));
    const Workbench bench;
    std::ranges::replace(words, "PLAN", small_plan(bench));
    std::ranges::replace(words, "RUN", bench.path("run"));
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", bench.path("run")}).status == 0);
    words.push_back("--json");
    const Said said = bench.roof(words);
    INFO(said.err);
    CHECK(nlohmann::json::accept(said.out));
}

TEST_CASE("the counters of a chip are listed by compute capability, as Nsight Compute takes them")
{
    const auto list = nlohmann::json::parse(Workbench{}.roof({"list", "counters", "--json"}).out).at("counters");
    const auto hopper = std::ranges::find(list, "hopper", [](const auto& family) { return family.at("name"); });
    REQUIRE(hopper != list.end());
    CHECK(hopper->at("compute_capabilities") == nlohmann::json({"9.0"}));
    const std::string metrics = hopper->at("description");
    CHECK_THAT(metrics, Catch::Contains("gpu__time_duration.sum,") && Catch::Contains("src_fp16.sum,") &&
                            !Catch::Contains("src_fp16_dst_fp32.sum") && Catch::Contains("src_fp64.sum"));
    const nlohmann::json& time = hopper->at("metrics").at(0);
    CHECK(time.at("metric") == "gpu__time_duration.sum");
    CHECK(time.at("quantity") == "time");
    CHECK(time.at("factor") == 1.0);
    CHECK_THAT(Workbench{}.roof({"list", "counters"}).out, Catch::Contains("hopper 9.0: " + metrics + '\n'));
    CHECK_THAT(Workbench{}.roof({"list"}).out, !Catch::Contains("hopper"));
}

TEST_CASE("the JSON of a run has every row with its losses in SI units")
{
    const Said said = Workbench{}.roof({"run", "tinynet", "--batch", "4", "--steps", "3", "--json"});
    const auto row = nlohmann::json::parse(said.out).at("rows").at(0);
    CHECK(row.at("losses") == nlohmann::json({7.0, 6.0, 5.0}));
    CHECK(row.at("time_median_s").get<double>() == Approx(0.04));
    CHECK(row.at("samples") == 2);
}

TEST_CASE("a run prints its steps to standard error like PyTorch's example, and names each number")
{
    const Workbench bench;
    std::filesystem::create_directories(bench.folder / "results");  // else the first run says where they are
    const Said said = bench.roof({"run", "tinynet", "--batch", "4", "--steps", "10"});
    CHECK_THAT(said.err, Catch::Contains("Epoch: [0][ 3/10]  Time 0.040 ( 0.040)  Data 0.000 ( 0.000)  "
                                         "Loss 5.0000e+00 (6.0000e+00)\n"));
    CHECK(lines(said.err) == 11);
    CHECK_THAT(said.out, Catch::Contains("tinynet, batch 4, fp32 on cpu, 2 threads"));
    CHECK_THAT(said.out, Catch::Contains("images/s") && Catch::Contains("900 GFLOP/s"));
    CHECK_THAT(said.out, Catch::Contains("forward 24.0 ms, backward 12.0 ms, update 4.00 ms"));
    CHECK_THAT(said.out, Catch::Contains("losses 7 6 5 4 3 2 1 0 -1 -2\n"));
    CHECK_THAT(said.out, Catch::StartsWith("No ceilings"));
}

TEST_CASE("a run finds the calibration of its machine and shows its share of the roof")
{
    const Workbench bench;
    std::ofstream(bench.folder / "roofs.yaml") << "run:\n  - bench: flops\n  - bench: bandwidth\n";
    REQUIRE(bench.roof({"sweep", bench.path("roofs.yaml")}).status == 0);
    const std::vector<std::string> words{"run", "tinynet", "--batch", "4"};
    const std::vector<std::string> elsewhere{"run", "tinynet", "--batch", "4", "--out", bench.path("elsewhere/run")};
    // 9 GFLOP per image at 10 ms per image, with two threads of 50 GFLOP/s: the fake step is faster than its roof.
    const std::string share = "<=900%";
    CHECK_THAT(bench.roof(words).out, Catch::Contains(share));
    CHECK_THAT(bench.roof(elsewhere).out, Catch::Contains(share));
}

TEST_CASE("a logged step's time includes its wait for data")
{
    std::ostringstream err;
    const Listener log = training_log(err, 2);
    Sample sample;
    sample.seconds = Seconds{0.1};
    sample.data = Seconds{0.05};
    sample.loss = 6.5;
    log.sample(sample, 1);
    CHECK(err.str() == "Epoch: [0][1/2]  Time 0.150 ( 0.150)  Data 0.050 ( 0.050)  Loss 6.5000e+00 (6.5000e+00)\n");
}

TEST_CASE("without a terminal, progress is one plain line per finished row")
{
    const Workbench bench;
    std::filesystem::create_directories(bench.folder / "results");  // else the first run says where they are
    const Said said = bench.roof({"sweep", small_plan(bench)});
    CHECK(lines(said.err) == 4);
    CHECK(said.err.find('\r') == std::string::npos);
    CHECK(said.err.find('\033') == std::string::npos);
    CHECK_THAT(said.err, Catch::StartsWith("[1/4] ok train cpu model=tinynet batch=4"));
    CHECK_THAT(said.err, Catch::Contains("[2/4] failed train cpu") && Catch::Contains("the loss is not finite"));
}

TEST_CASE("for a long list, progress prints a line per tenth, each failure, and sums of unsupported rows")
{
    const fakes::ManualClock time;
    const BenchRegistry registry = fakes::fake_registry(time);
    std::ostringstream out;
    std::ostringstream err;
    const Context context{{.out = out, .err = err, .assemble = {}, .clock = time.clock(), .terminal = {}}, registry};
    const Listener listener = progress(context);
    const Item item = expand(parse_plan("run:\n  - {bench: train, batch: 4}\n", "p"), registry).front();
    for (std::size_t i = 0; i < 400; ++i) {
        listener.begins(item, i, 400);
        Measurement row;
        row.status = i == 201 ? Status::failed : i % 4 == 0 ? Status::unsupported : Status::ok;
        row.reason = i % 8 == 0 ? "no tiles here" : i % 40 == 4 ? "one node" : "no dot here";
        listener.row(row);
    }
    listener.ends();
    CHECK(lines(err.str()) >= 13);  // nine or ten of progress, one of a failed row, four of sums
    CHECK(lines(err.str()) <= 15);
    CHECK_THAT(err.str(), Catch::Contains("failed train"));
    CHECK_THAT(err.str(), Catch::EndsWith("unsupported: 100 of 400 rows\n    50  no tiles here\n    40  no dot here\n"
                                          "    10  one node\n"));
}

TEST_CASE("on a terminal, progress is one line that fits, is redrawn, and is erased at the end")
{
    Workbench bench;
    std::filesystem::create_directories(bench.folder / "results");  // else the first run says where they are
    bench.terminal = {.live = true, .columns = 60, .plain = true};
    const std::string erase = "\r\033[K";
    const Said said = bench.roof({"sweep", small_plan(bench)});
    CHECK_THAT(said.err, Catch::StartsWith(erase + "[1/4] 0 samples") && Catch::EndsWith(erase));
    CHECK_THAT(said.err, Catch::Contains("ETA"));
    CHECK(lines(said.err) == 1);
    for (std::size_t at = 0; (at = said.err.find(erase, at)) != std::string::npos;) {
        at += erase.size();
        const std::size_t end = std::min(said.err.find(erase, at), said.err.size());
        if (said.err.substr(at, end - at).find('\n') == std::string::npos) CHECK(end - at < 60);
    }
    bench.terminal.columns = 100;  // a word says of which axis it is, so the threads are seen
    CHECK_THAT(bench.roof({"sweep", small_plan(bench), "--set", "threads=1"}).err,
               Catch::Contains("train cpu tinynet batch=4 fp32 synthetic random lr=0.01 threads=1"));
}

TEST_CASE("a dry run measures nothing and names the command of every item")
{
    const Workbench bench;
    const std::string plan = small_plan(bench);
    const Said said = bench.roof({"sweep", plan, "--dry-run", "--set", "threads=1"});
    CHECK(said.status == 0);
    CHECK(said.err.empty());
    CHECK(lines(said.out) == 4);
    CHECK_THAT(said.out, Catch::Contains("roof sweep " + plan +
                                         " --set threads=1 --only 'train cpu model=tinynet batch=13 precision=fp32 "
                                         "data=synthetic parameters=random lr=0.01 threads=1'\n"));
    CHECK_THAT(said.out, Catch::Contains("3 items, about"));
    CHECK_FALSE(std::filesystem::exists(bench.folder / "results"));
}

TEST_CASE("what cannot be measured is said once for all items of a dry run and of a sweep")
{
    const Workbench bench;
    std::ofstream(bench.folder / "plan.yaml")
        << "run:\n  - {bench: flops, device: 'gpu:0', operation: [fma, add, mul]}\n"
           "  - {bench: train, model: tinynet, batch: 4}\n";
    const auto count = [](const std::string& text, const std::string& part) {
        int found = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
        return found;
    };
    const std::string reason = "part gpu is absent: this build has no GPU part";
    const Said dry = bench.roof({"sweep", bench.path("plan.yaml"), "--dry-run"});
    CHECK(count(dry.out, "   # unsupported\n") == 3);
    CHECK(count(dry.out, reason) == 1);
    CHECK_THAT(dry.out, Catch::Contains("# 3 unsupported: "));
    const Said said = bench.roof({"sweep", bench.path("plan.yaml"), "--out", bench.path("run")});
    CHECK(said.status == 0);
    CHECK(count(said.err, reason) == 1);
    CHECK_THAT(said.err, Catch::Contains("unsupported: 3 of 4 rows"));
}

TEST_CASE("the list of everything has no axes and a list that is asked for has them")
{
    const std::string all = Workbench{}.roof({"list"}).out;
    CHECK_THAT(all, Catch::Contains("models:\n  tinynet") && !Catch::Contains("usually"));
    CHECK_THAT(all, Catch::Contains("\n  train "));
    CHECK_THAT(Workbench{}.roof({"list", "benches"}).out, Catch::Contains("batch") && Catch::Contains("usually"));
}

TEST_CASE("the command of an item measures only that item, even if its name is a prefix of another's")
{
    const Workbench bench;
    std::ofstream(bench.folder / "plan.yaml") << "run:\n  - bench: bandwidth\n    working_set: [8192, 81920]\n";
    const std::string id = "bandwidth cpu operation=load isa=avx2 threads=2 working_set=8192";
    const Said said = bench.roof({"sweep", bench.path("plan.yaml"), "--only", id, "--dry-run", "--json"});
    const auto items = nlohmann::json::parse(said.out).at("items");
    REQUIRE(items.size() == 1);
    CHECK(items.at(0).at("id") == id);
    CHECK_THAT(items.at(0).at("command").get<std::string>(), Catch::EndsWith(" --only '" + id + "'"));
}

TEST_CASE("doctor shows what can be measured, what cannot, and the remedy")
{
    const Workbench bench;
    std::ostringstream out;
    std::ostringstream err;
    const auto registry = [&] {
        BenchRegistry made = fakes::fake_registry(bench.clock);
        made.add(AbsentPart{"gpu", "no nvcc was found", "install CUDA"});
        made.machine().capabilities = {{"fma", true, "", ""}, {"hardware counters", false, "no PMU", "ask the host"}};
        made.machine().inconsistencies = {"cache sizes may be the host's"};
        return made;
    };
    run_command_line({"doctor"},
                     {out, err, registry, bench.clock.clock(), Terminal{}, [] { return false; }, "results"});
    CHECK_THAT(out.str(), Catch::Contains("+ fma"));
    CHECK_THAT(out.str(), Catch::Contains("- part gpu: no nvcc was found\n      remedy: install CUDA"));
    CHECK_THAT(out.str(), Catch::Contains("- hardware counters: no PMU\n      remedy: ask the host"));
    CHECK_THAT(out.str(), Catch::Contains("! cache sizes may be the host's"));
    CHECK_THAT(out.str(), Catch::Contains("2 x 32 KiB"));
}
