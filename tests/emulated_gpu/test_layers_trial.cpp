// The trials that write layers around a batch norm in two ways: they run on values that they wrote themselves, whatever
// was in the memory before, and tell right results from wrong ones. Loops take the place of cuDNN, and a stand-in that
// of cuBLASLt.
#include "ert/base/error.hpp"
#include "tests/cudnn/moments_trial.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_run.hpp"
#include "tests/engine/layers/host_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace roof;
using namespace roof::cudnn;

namespace {

NormShape small_norm(bool backward, Precision precision)
{
    return {.backward = backward, .batch = 4, .map = {16, 12, 12}, .precision = precision, .relu = true};
}

/// Loops in the place of a library's batch norm. `wrong`: what they add to its result.
struct Loops {
    const gpu::Stream& stream;
    float wrong = 0;
    bool runs = true;
    mutable std::vector<Tensor> read{};  ///< by the batch norms that were bound

    template <class Norm>
    requires std::is_same_v<Norm, LibraryNorm> || std::is_same_v<Norm, LibraryNormGradient> std::function<void()> bound(
        const Norm& norm, const Memory& memory)
    const
    {
        read.insert(read.end(), {norm.source, norm.weight});
        return [this, norm, memory] {
            stream.synchronize();
            Program::Stage stage;
            if (runs) stage.operations.emplace_back(norm);
            run_on_host(stage, memory);
            Values values(memory, norm.result);
            for (std::size_t k = 0; wrong != 0 && k < norm.result.elements(); ++k) values.put(k, values[k] + wrong);
        };
    }
};

/// A trial of our kernels and the loops.
struct NormTrial : Trial {
    NormTrial(const NormShape& shape, const gpu::Stream& stream, const Loops& loops) : Trial(stream)
    {
        add_passes(*this, shape, {{.plan = 0}});
        place("trying a batch norm", [&](const ir::Operation& operation, const Memory& memory) {
            return bound(operation, memory, stream, loops);
        });
    }
};

/// Whether the trial tells each result of the second way from one that is larger, and leaves out what a step does for
/// many weights together.
void check_that_each_result_counts(const Trial& trial, float larger = 1.05F, float as_large = 1.004F)
{
    for (const Trial::Way& way : trial.ways())
        for (const ir::Operation& one : way.timed) CHECK_FALSE(std::holds_alternative<Widen>(one));
    CHECK(trial.agrees(1));
    for (const Tensor& result : trial.ways()[1].results) {
        Values values(trial.memory(), result);
        std::vector<float> right;
        for (std::size_t k = 0; k < result.elements(); ++k) right.push_back(values[k]);
        for (std::size_t k = 0; k < right.size(); ++k) values.put(k, larger * right[k]);
        CHECK_FALSE(trial.agrees(1));
        for (std::size_t k = 0; k < right.size(); ++k) values.put(k, as_large * right[k]);
        CHECK(trial.agrees(1));
    }
    CHECK(emulated::fault_of_pending_work().empty());
}

}  // namespace

TEST_CASE("a trial writes its values and its counters before anything is timed on them")
{
    const gpu::Stream stream;
    const Loops loops{stream};
    for (const bool backward : {false, true}) {
        NormTrial trial(small_norm(backward, Precision::fp32), stream, loops);
        const unsigned* const counters = trial.memory().counters();
        CHECK(std::all_of(counters, counters + Memory::counters_there, [](unsigned each) { return each == 0; }));
        CHECK(loops.read.size() == 2);
        for (const Tensor& filled : std::exchange(loops.read, {})) {
            const Values values(trial.memory(), filled);
            double sum = 0;
            for (std::size_t k = 0; k < filled.elements(); ++k) {
                REQUIRE(std::abs(values[k]) < 2.5);
                sum += std::abs(values[k]);
                if (filled.elements() == 16) REQUIRE(values[k] > 0);  // a weight of a channel
            }
            CHECK(sum > 0.1 * static_cast<double>(filled.elements()));
        }
        CHECK(trial.seconds(0) > 0);
        CHECK(emulated::fault_of_pending_work().empty());
        CHECK(std::all_of(counters, counters + Memory::counters_there, [](unsigned each) { return each == 0; }));
    }
}

TEST_CASE("a batch norm's own kernels agree with the loops, and with no plan that computes something else")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            INFO(traits(precision).name << (backward ? " backward" : " forward"));
            for (const Loops& loops : {Loops{stream}, Loops{stream, 0.5F}, Loops{stream, 0, false}}) {
                NormTrial trial(small_norm(backward, precision), stream, loops);
                CHECK(trial.ways()[1].results.size() == (backward ? 6 : 3));
                const bool is_right = loops.runs && loops.wrong == 0;
                CHECK(trial.is_right(1) == is_right);
                if (is_right && precision == Precision::fp32)
                    check_that_each_result_counts(trial, 1.001F, 1.00005F);
                else if (is_right)
                    check_that_each_result_counts(trial);
            }
        }
    }
}

TEST_CASE("the trial of moments finds that both ways agree in each format, and each wrong result")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        INFO(traits(precision).name);
        const Settings settings{.batch = 4, .precision = precision};
        Products products(stream, true);
        Plans plans(stream, settings, "emulated", products);
        MomentsTrial trial(stream, settings, {16, 10, 10}, plans, products);
        CHECK(trial.is_right(1));
        CHECK(trial.ways()[1].results.size() == 7);
        check_that_each_result_counts(trial);
        for (const std::size_t way : {0U, 1U}) CHECK(std::isfinite(trial.seconds(way)));
        CHECK(trial.is_right(1));  // what was timed left nothing behind
    }
}

TEST_CASE("a way runs once before it is captured, with what is shared in every other of its runs; a failure is final")
{
    const gpu::Stream stream;
    std::string letters;
    const auto operation = [](char letter) { return std::vector<ir::Operation>{Convolve{.plan = letter}}; };
    const Trial::Bind bind = [&](const ir::Operation& one, const Memory&) -> std::function<void()> {
        return [&letters, letter = static_cast<char>(std::get<Convolve>(one).plan)] {
            letters += letter;
            if (letter == 'x') throw Error("it fails");
        };
    };
    Trial in_graphs(stream), apart(stream);
    in_graphs.time_in_graphs(3);
    for (Trial* const trial : {&in_graphs, &apart}) {
        trial->add({.timed = operation('t'), .before = operation('b'), .shared = operation('s')});
        trial->add({.timed = operation('x')});
        trial->place("a trial", bind);
    }
    emulated::machine().graph_launch_seconds = 6;
    for (int turn = 0; turn < 2; ++turn) {
        CHECK(in_graphs.seconds(0) == Approx(2).epsilon(0.01));
        CHECK(letters == "bststtst");
    }
    emulated::machine().graph_launch_seconds = 0;
    for (const std::string due : {"t", "tt"}) {
        letters = due.substr(1);
        CHECK(std::isfinite(apart.seconds(0)));
        CHECK(letters == due);
    }
    letters.clear();
    for (int turn = 0; turn < 2; ++turn) {
        CHECK(std::isinf(in_graphs.seconds(1)));
        CHECK(letters == "x");
    }
}

TEST_CASE("values are repeated to the end of a tensor, in its format, and results that should be zeros are zeros")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        Trial trial(stream);
        const Tensor due = trial.value({.batch = 1, .channels = 8, .precision = precision}, {1, 2, 3});
        const Tensor zeros = trial.program().resident(due), found = trial.program().resident(due);
        trial.add({.results = {zeros}});
        trial.add({.results = {found}});
        trial.place("a trial", {});
        const Values values(trial.memory(), due);
        for (std::size_t i = 0; i < 8; ++i) CHECK(values[i] == static_cast<float>(i % 3 + 1));
        CHECK(trial.agrees(1));
        Values(trial.memory(), found).put(2, 1e-5F);
        CHECK_FALSE(trial.agrees(1));
        CHECK(trial.is_right(1));  // on fresh memory
    }
    CHECK(pattern(around_zero).front() == -1);  // a hash of 0 is 0
}
