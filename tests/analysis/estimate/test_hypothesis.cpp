// Hypotheses: parsing, comparison, answers, and the available facts.
#include "analysis/estimate/hypothesis.hpp"

#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

/// Returns 2 for `two()`, 9 to 11 for `about_ten()`, a word for `red()`, and an unknown fact for `nothing()`.
Fact made_up(const Call& call)
{
    if (call.function == "two") return Fact::number(2, "2 m");
    if (call.function == "about_ten") return Fact::between(10, 9, 11, "10 m [9, 11]");
    if (call.function == "red") return Fact::of_word("red", "red (seen)");
    if (call.function == "nothing") return Fact::none("nobody looked");
    if (call.function == "echo") return Fact::of_word(call.arguments.at(0) + call.options.at("with"), "echo");
    throw InputError("unknown function");
}

Answer answer_to(const std::string& hypothesis)
{
    return answer(hypothesis, made_up).answer;
}

Target gpu()
{
    MachineSheet sheet{.name = "gpu", .title = "A made GPU", .kind = "gpu"};
    sheet.peaks = {{Precision::fp32, FlopRate{10e12}}};
    sheet.levels = {{"DRAM", ByteRate{1e12}, Bytes{16e9}}};
    return target_of(sheet);
}

}  // namespace

TEST_CASE("words are compared for equality, numbers by size")
{
    CHECK(answer_to("red() == red") == Answer::holds);
    CHECK(answer_to("red() != red") == Answer::fails);
    CHECK(answer_to("red() == blue") == Answer::fails);
    CHECK(answer_to("two() > 1.5") == Answer::holds);
    CHECK(answer_to("two() < 1.5") == Answer::fails);
    CHECK(answer_to("two() >= 2") == Answer::holds);
    CHECK(answer_to("two() > 2") == Answer::fails);
    CHECK(answer_to("two() ~ 2.1") == Answer::holds);
    CHECK(answer_to("two() ~ 2.5") == Answer::fails);
    CHECK(answer_to("about_ten()/two() * 3 > 12") == Answer::holds);
}

TEST_CASE("a comparison of overlapping intervals is undecided")
{
    CHECK(answer_to("about_ten() > 8") == Answer::holds);
    CHECK(answer_to("about_ten() > 10") == Answer::undecided);
    CHECK(answer_to("about_ten() > 12") == Answer::fails);
    CHECK(answer_to("about_ten() / two() < 5.6") == Answer::holds);
    CHECK(answer_to("about_ten() / two() < 5.4") == Answer::undecided);
    CHECK(answer_to("100 / about_ten() > 11.2") == Answer::fails);
}

TEST_CASE("an answer has both sides, or stays undecided with a reason")
{
    CHECK(answer("about_ten() / two() > 1", made_up).numbers == "10 m [9, 11] / 2 m = 5.00 > 1.00");
    CHECK(answer("red() == blue", made_up).numbers == "red (seen) == blue");
    const Answered unknown = answer("nothing() / two() > 1", made_up);
    CHECK(unknown.answer == Answer::undecided);
    CHECK(unknown.numbers == "nobody looked");
    const std::vector<Answered> both = answer_all(std::vector<std::string>{"two() > 1", "nothing() > 1"}, made_up);
    CHECK(to_text(both) ==
          "holds      two() > 1\n           2 m > 1.00\nundecided  nothing() > 1\n           nobody looked\n");
}

TEST_CASE("a call has arguments and named options")
{
    CHECK(answer_to("echo(vgg16_bn, with=quickstart-images) == vgg16_bnquickstart-images") == Answer::holds);
    CHECK(answer_to("  echo( here:gpu:0 ,with = 1e3 )==here:gpu:01e3") == Answer::holds);
}

TEST_CASE("a syntax error names its place and what was expected")
{
    CHECK_THROWS_WITH(answer_to("two()"),
                      Contains("'two()'") && Contains("== != < <= > >= ~") && Contains("character 6"));
    CHECK_THROWS_WITH(answer_to("two( > 1"), Contains("argument") && Contains("character 6"));
    CHECK_THROWS_WITH(answer_to("two() > "), Contains("a number, a word or a call"));
    CHECK_THROWS_WITH(answer_to("two() > 1 2"), Contains("nothing more") && Contains("character 11"));
    CHECK_THROWS_WITH(answer_to("two() == red"), Contains("a word is compared with a number"));
    CHECK_THROWS_WITH(answer_to("red() < blue"), Contains("with == and !="));
    CHECK_THROWS_WITH(answer_to("two() == 2"), Contains("< <= > >= and ~"));
    CHECK_THROWS_WITH(answer_to("red() / 2 > 1"), Contains("numbers on both sides"));
}

TEST_CASE("facts of estimates: bound, intensity, times and fits")
{
    const std::vector<Target> targets{gpu()};
    const Knowledge knowledge = knowledge_of({.targets = targets, .rows = {}, .usual = {}});
    const auto holds = [&](const std::string& hypothesis) {
        INFO(hypothesis);
        CHECK(answer(hypothesis, knowledge).answer == Answer::holds);
    };
    holds("bound(alexnet, gpu, batch=1) == memory");
    holds("bound(alexnet, gpu, batch=512) == compute");
    holds("ridge(resnet18, gpu) ~ 10");
    holds("peak(resnet18, gpu) ~ 10e12");
    holds("intensity(resnet18, gpu, batch=10) > ridge(resnet18, gpu)");
    holds("time(resnet50, gpu, batch=10) / time(resnet18, gpu, batch=10) > 2");
    holds("images_per_second(resnet18, gpu, batch=64) > images_per_second(resnet50, gpu, batch=64)");
    holds("epoch(resnet18, gpu, batch=10, images=100) / time(resnet18, gpu, batch=10) ~ 10");
    holds("fits(vgg16, gpu, batch=256, phase=forward) == no");
    holds("largest_batch(vgg16, gpu) > 64");
    holds("memory(vgg16, gpu, batch=2) > memory(vgg16, gpu)");
    holds("flops(resnet18, phase=forward) ~ 3628146688");
    holds("parameters(alexnet) ~ 61100840");
}

TEST_CASE("an unknown machine or a missing precision leaves a hypothesis undecided")
{
    const std::vector<Target> targets{gpu()};
    const Knowledge knowledge = knowledge_of({.targets = targets, .rows = {}, .usual = {}});
    CHECK_THAT(answer("bound(resnet18, abacus) == memory", knowledge).numbers, Contains("abacus"));
    const Answered answered = answer("bound(resnet18, gpu, precision=bf16) == memory", knowledge);
    CHECK(answered.answer == Answer::undecided);
    CHECK_THAT(answered.numbers, Contains("bf16"));
    CHECK_THROWS_WITH(answer("bounds(resnet18, gpu) == memory", knowledge), Contains("did you mean 'bound'"));
    CHECK_THROWS_WITH(answer("bound(resnet18) == memory", knowledge), Contains("a model and a machine"));
    CHECK_THROWS_WITH(answer("bound(resnet18, gpu, bach=1) == memory", knowledge), Contains("did you mean 'batch'"));
    CHECK_THROWS_WITH(answer("bound(resnet18, gpu, batch=0) == memory", knowledge), Contains("batch='0'"));
}

TEST_CASE("facts of measured rows have intervals")
{
    const std::vector<Measurement> rows{made::row("net", 8), made::failed("net", "no room")};
    const Knowledge knowledge = knowledge_of({.targets = {}, .rows = rows, .usual = {}});
    const auto answer_of = [&](const std::string& hypothesis) { return answer(hypothesis, knowledge).answer; };
    CHECK(answer_of("measured_time(net, batch=8) < 0.05") == Answer::holds);
    CHECK(answer_of("measured_time(net, batch=8) < 0.04") == Answer::undecided);
    CHECK(answer_of("measured_time(net, batch=9) < 0.04") == Answer::undecided);
    CHECK(answer_of("measured_status(net, batch=64) == out_of_memory") == Answer::holds);
    CHECK(answer_of("measured_rate(net, device=cpu) > 30e9") == Answer::holds);
    CHECK(answer_of("measured_memory(net, batch=8) ~ 1e9") == Answer::holds);
    CHECK(answer_of("measured_wait(net, batch=8) < 0.1") == Answer::holds);
}
