#include "ert/method/plan/plan.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

const char* written_plan = R"(name: test
description: a plan for tests
measure: {warmup: 2, min_samples: 3, max_samples: 12, interval: 0.02, budget_seconds: 6}
run:
  - bench: train
    model: [tinynet, widenet]
    batch: [4, 8]
  - bench: flops
    measure: {min_samples: 7}
    precision: fp32
    threads: 1
)";

std::string message_of(const std::string& text)
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    try {
        expand(parse_plan(text, "p.yaml"), registry);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a plan expands to every combination, the last axis fastest, with defaults for missing axes")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const std::vector<Item> items = expand(parse_plan(written_plan, "p.yaml"), registry);
    REQUIRE(items.size() == 6);
    REQUIRE(items[0].id() ==
            "train cpu model=tinynet batch=4 precision=fp32 data=synthetic parameters=random lr=0.01 threads=2");
    REQUIRE(items[1].point.text("batch") == "8");
    REQUIRE(items[2].point.text("model") == "widenet");
    REQUIRE(items[4].id() == "flops cpu operation=fma isa=scalar precision=fp32 threads=1");
}

TEST_CASE("an entry's measure overrides the plan's, key by key")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const std::vector<Item> items = expand(parse_plan(written_plan, "p.yaml"), registry);
    REQUIRE(items[0].stopping.min_samples == 3);
    REQUIRE(items[0].stopping.warmup == 2);
    REQUIRE(items[0].stopping.budget.value == 6);
    REQUIRE(items[4].stopping.min_samples == 7);
    REQUIRE(items[4].stopping.warmup == 2);
}

TEST_CASE("settings replace an axis in every entry, and --only keeps the matching items")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Plan plan = parse_plan(written_plan, "p.yaml");
    REQUIRE(expand(plan, registry, {{"batch", {"16"}}}).size() == 4);
    REQUIRE(expand(plan, registry, {}, "widenet*batch=8").size() == 1);
    REQUIRE_THROWS_AS(expand(plan, registry, {}, "nothing"), InputError);
    REQUIRE_THROWS_WITH(expand(plan, registry, {{"bach", {"16"}}}), Catch::Contains("did you mean 'batch'?"));
    REQUIRE_THROWS_WITH(expand(plan, registry, {{"batch", {"0"}}}),
                        Catch::Contains("--set") && Catch::Contains("from 1 to 65536"));
}

TEST_CASE("a point that occurs twice is measured once")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    REQUIRE(expand(parse_plan("run:\n  - {bench: train, batch: [4, 4]}\n  - {bench: train, batch: 4}\n", "p"), registry)
                .size() == 1);
}

TEST_CASE("the message for a mistake has file, line, key and the legal values")
{
    struct Row {
        std::string text;
        std::vector<std::string> says;
    };
    const std::vector<Row> rows{
        {"run:\n  - bench: train\n    bach: 4\n", {"p.yaml:3", "bach", "did you mean 'batch'?"}},
        {"run:\n  - bench: trian\n", {"p.yaml:2", "trian", "train"}},
        {"run:\n  - bench: train\n    model: resnet\n", {"p.yaml:3", "model", "tinynet, widenet"}},
        {"run:\n  - bench: train\n    batch: 0\n", {"p.yaml:3", "batch", "'0'", "from 1 to 65536"}},
        {"run:\n  - bench: train\n    batch: -4\n", {"'-4'"}},
        {"run:\n  - bench: train\n    batch: 1000000000\n", {"'1000000000'", "65536"}},
        {"run:\n  - bench: train\n    batch: four\n", {"'four'", "whole numbers"}},
        {"run:\n  - bench: train\n    batch: 01\n", {"'01'", "whole numbers"}},
        {"run:\n  - bench: train\n    batch: {a: 1}\n", {"p.yaml:3", "batch"}},
        {"run:\n  - bench: train\n    device: tpu\n", {"device", "tpu", "gpu:0"}},
        {"runs: []\n", {"p.yaml:1", "runs", "did you mean 'run'?"}},
        {"name: x\n", {"p.yaml", "run"}},
        {"run: []\n", {"p.yaml:1", "run"}},
        {"run:\n  - batch: 4\n", {"p.yaml:2", "bench"}},
        {"run:\n  - benhc: train\n    batch: 4\n",
         {"p.yaml:2: unknown key of an entry 'benhc'; did you mean 'bench'?"}},
        {"measure: {min_samples: many}\nrun:\n  - bench: train\n", {"p.yaml:1", "min_samples", "'many'"}},
        {"measure: {min_samples: 9, max_samples: 3}\nrun:\n  - bench: train\n",
         {"p.yaml:1", "max_samples (3)", "min_samples (9)"}},
        {"measure: {min_sample: 9}\nrun:\n  - bench: train\n",
         {"p.yaml:1", "min_sample", "did you mean 'min_samples'?"}},
        {"run: [\n", {"p.yaml:"}},
        {"- a\n", {"p.yaml", "map"}},
        {"", {"p.yaml", "map"}},
    };
    for (const Row& row : rows) {
        const std::string message = message_of(row.text);
        CAPTURE(row.text, message);
        for (const std::string& words : row.says) REQUIRE_THAT(message, Catch::Contains(words));
    }
}

TEST_CASE("a plan for a missing device gives the same rows, with the reason")
{
    const ManualClock time;
    BenchRegistry registry = fake_registry(time);
    registry.add(AbsentPart{"gpu", "nvcc was not found when this was built", "install the CUDA toolkit"});
    const std::vector<Item> items =
        expand(parse_plan("run:\n  - {bench: train, device: 'gpu:0', model: tinynet, batch: [4, 8]}\n", "p"), registry);
    REQUIRE(items.size() == 2);
    REQUIRE(items[0].bench == nullptr);
    REQUIRE_THAT(items[0].missing, Catch::Contains("nvcc was not found"));
    REQUIRE(items[1].id() == "train gpu:0 model=tinynet batch=8");
}

TEST_CASE("a bench of a part that cannot be opened is missing with the reason of that part alone")
{
    const ManualClock time;
    BenchRegistry registry = fake_registry(time);
    registry.add(AbsentPart{"cudnn", "libcudnn.so.9 was not found", "", "convolution train"});
    registry.add(AbsentPart{"cupti", "CUPTI was not found", "", "recorded"});
    const Plan plan = parse_plan("run:\n  - {bench: train, device: 'gpu:0', model: tinynet, batch: 4}\n", "p");
    REQUIRE_THAT(expand(plan, registry)[0].missing,
                 Catch::EndsWith("on a gpu; part cudnn is absent: libcudnn.so.9 was not found"));
}

TEST_CASE("a missing file is an input error")
{
    REQUIRE_THROWS_AS(load_plan("/nowhere/plan.yaml"), InputError);
    REQUIRE_THROWS_AS(load_plan("/"), InputError);
}

TEST_CASE("a plan with too many items or rounds is refused before they are made")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    std::string values = "1";
    for (int i = 2; i <= 1000; ++i) values += "," + std::to_string(i);
    const auto expanded = [&](const std::string& plan) { return expand(parse_plan(plan, "p.yaml"), registry); };
    const std::string wide = "run:\n  - {bench: train, batch: [" + values + "], lr: [" + values + "]}\n";
    CHECK_THROWS_WITH(expanded(wide),
                      Catch::Contains("p.yaml:2: the plan has 1000000 items") && Catch::Contains("at most 100000"));
    CHECK_THROWS_WITH(expanded("rounds: 2000000000\nrun:\n  - {bench: flops}\n"), Catch::Contains("p.yaml:1: rounds"));
    CHECK_THROWS_WITH(expanded("rounds: 100000\nrun:\n  - {bench: flops}\n"),
                      Catch::Contains("100000 rounds included"));
    CHECK_THROWS_WITH(expanded("run:\n  - {bench: train, batch: 08}\n"), Catch::Contains("'08'"));
}

TEST_CASE("a map is a value of an axis that takes one: its text on one line, whatever its style")
{
    const std::string plan =
        "run:\n  - bench: train\n    batch: 4\n    model:\n      - tinynet\n      - name: made\n"
        "        layers:\n          - relu\n          - {linear: {features: 10}}\n";
    const Plan parsed = parse_plan(plan, "p.yaml");
    CHECK(parsed.entries.at(0).axes.at("model") ==
          std::vector<std::string>{"tinynet", "{name: made, layers: [relu, {linear: {features: 10}}]}"});
    const Axis takes{.name = "model", .meaning = {}, .defaults = {}, .allowed = {"a"}, .takes_map = true};
    CHECK_NOTHROW(checked_value(takes, "{name: made}", "p.yaml:1"));
    CHECK_THAT(message_of(plan), Catch::Contains("unknown model '{name: made"));
    CHECK_THAT(message_of("run:\n  - bench: {name: train}\n"), Catch::Contains("one value is expected here"));
}

TEST_CASE("the name of a file is a value of an axis that takes files of its ending")
{
    const Axis takes{
        .name = "model", .meaning = {}, .defaults = {}, .allowed = {"a"}, .file_endings = {".onnx", ".json"}};
    for (const char* file : {"some/config.json", "net.onnx", "a"})
        CHECK_NOTHROW(checked_value(takes, file, "p.yaml:1"));
    CHECK_THROWS_AS(checked_value(takes, "net.yaml", "p.yaml:1"), InputError);
}
