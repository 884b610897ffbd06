// Parsing of options: plans, settings, shell quoting, built-in plans.
#include "ert/base/error.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/session/plans.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("the options of a run become a plan that reads back as the same plan")
{
    OptionParser parser("run");
    const TrainOptions options{parser};
    options.model = "alexnet";
    options.batch = "8,16";
    *options.axes.at("data") = "my: \"photos\" # here";
    *options.axes.at("lr") = "0.1";
    options.steps = "10";
    const Plan plan = train_plan(options);
    const Plan again = parse_plan(plan.source, "plan.yaml");
    REQUIRE(plan.entries.size() == 1);
    REQUIRE(again.entries.size() == 1);
    const PlanEntry& entry = plan.entries.front();
    CHECK(entry.axes.at("batch") == std::vector<std::string>{"8", "16"});
    CHECK(entry.axes.at("lr") == std::vector<std::string>{"0.1"});
    CHECK(entry.axes.at("data") == std::vector<std::string>{"my: \"photos\" # here"});
    CHECK_FALSE(entry.axes.contains("threads"));
    CHECK(again.entries.front().axes == entry.axes);
    CHECK(again.entries.front().bench == "train");
    CHECK(again.entries.front().device == "cpu");
    const StoppingOptions& stopping = again.entries.front().stopping;
    CHECK(stopping.warmup == 1);
    CHECK(stopping.min_samples == 9);
    CHECK(stopping.max_samples == 9);
    CHECK(stopping.budget == entry.stopping.budget);
}

TEST_CASE("options of the stopping rule replace that of the plan, and are kept in its text")
{
    OptionParser parser("run");
    const TrainOptions options{parser};
    parser.parse({"alexnet", "--batch", "8", "--timeout", "30", "--warmup", "3", "--samples", "7", "--min-time", "2",
                  "--max-noise", "0.005"});
    for (const Plan& plan : {train_plan(options), parse_plan(train_plan(options).source, "plan.yaml")}) {
        const StoppingOptions& stopping = plan.entries.front().stopping;
        CHECK(stopping.warmup == 3);
        CHECK(stopping.min_samples == 7);
        CHECK(stopping.max_samples == 7);
        CHECK(stopping.min_time.value == 2);
        CHECK(stopping.budget.value == 30);
        CHECK(stopping.max_noise == 0.005);
    }
    Plan plan = parse_plan("run: [{bench: train}, {bench: flops}]", "plan.yaml");
    apply(options.stopping, plan);
    CHECK(plan.entries[1].stopping.min_samples == 7);
    CHECK_THAT(plan.source,
               Catch::EndsWith("\n# with --warmup 3 --samples 7 --min-time 2 --max-noise 0.005 --timeout 30\n"));
    options.steps = "5";
    CHECK_THROWS_WITH(train_plan(options), Catch::Contains("--steps N is a warm-up"));
    options.steps = "";
    for (const char* wrong : {"0", "-1", "1.1", "1%", "nan"}) {
        options.stopping.max_noise = wrong;
        CHECK_THROWS_AS(train_plan(options), InputError);
    }
}

TEST_CASE("a network in braces is one model, with the commas of its layers")
{
    OptionParser parser("run");
    const TrainOptions options{parser};
    options.model = "{name: small, image: [3, 8, 8], layers: [flatten, {linear: {features: 10}}]}";
    const Plan plan = train_plan(options);
    CHECK(plan.entries.front().axes.at("model") == std::vector{options.model});
    CHECK(parse_plan(plan.source, "plan.yaml").entries.front().axes == plan.entries.front().axes);
    options.model = "alexnet,resnet18";
    CHECK(train_plan(options).entries.front().axes.at("model").size() == 2);
}

TEST_CASE("a whole number is checked to its last character and against its limits")
{
    CHECK(whole_number("--steps", "12", 1, 12) == 12);
    for (const char* wrong : {"", "0", "13", "1.5", "12x", " 1", "99999999999999999999"}) {
        INFO(wrong);
        CHECK_THROWS_AS(whole_number("--steps", wrong, 1, 12), InputError);
    }
}

TEST_CASE("settings have an axis and its values, each axis once")
{
    const Settings settings = parse_settings({"batch=8,16", "data=a=b"});
    CHECK(settings.at("batch") == std::vector<std::string>{"8", "16"});
    CHECK(settings.at("data") == std::vector<std::string>{"a=b"});
    for (const char* wrong : {"batch", "=8", "batch=", "batch=8,"}) {
        INFO(wrong);
        CHECK_THROWS_AS(parse_settings({wrong}), InputError);
    }
    CHECK_THROWS_AS(parse_settings({"batch=8", "batch=16"}), InputError);
}

TEST_CASE("a printed command can be pasted into a shell")
{
    const std::vector<std::string> words{"roof", "run", "a b", "it's", "", "--set=x,1", "$HOME"};
    CHECK(shell_line(words) == R"(roof run 'a b' 'it'\''s' '' --set=x,1 '$HOME')");
}

TEST_CASE("every built-in plan can be parsed")
{
    const auto names = built_in_plans();
    CHECK(std::find(names.begin(), names.end(), "calibrate/cpu") != names.end());
    CHECK(std::find(names.begin(), names.end(), "calibrate/cpu-quick") != names.end());
    for (const std::string& name : names) {
        INFO(name);
        const Plan plan = find_plan(name);
        CHECK_FALSE(plan.entries.empty());
        CHECK_FALSE(plan.description.empty());
    }
}
