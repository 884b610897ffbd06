// The trial of a batch norm, whose own kernels a library's plan has to beat: it runs on values that it wrote itself,
// whatever was in the memory before, and tells right results from wrong ones. Loops take the place of the library.
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_run.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/norm_trial.hpp"

#include <algorithm>
#include <cmath>

using namespace roof;
using namespace roof::cudnn;

namespace {

NormShape small_norm(bool backward, Precision precision)
{
    return {.backward = backward, .batch = 4, .map = {16, 12, 12}, .precision = precision, .relu = true};
}

Program::Stage plan_of(const NormTrial& trial, bool backward)
{
    Program::Stage stage;
    if (backward)
        stage.operations.emplace_back(trial.backward());
    else
        stage.operations.emplace_back(trial.forward());
    return stage;
}

}  // namespace

TEST_CASE("the trial of a batch norm writes its values and its counters before anything is timed on them")
{
    const gpu::Stream stream;
    for (const bool backward : {false, true}) {
        const NormTrial trial(small_norm(backward, Precision::fp32), 0, stream);
        const unsigned* const counters = trial.memory().counters();
        CHECK(std::all_of(counters, counters + Program::counters_there, [](unsigned each) { return each == 0; }));
        const Tensor& source = backward ? trial.backward().source : trial.forward().source;
        const Values values(trial.memory(), source);
        double sum = 0;
        for (std::size_t k = 0; k < source.elements(); ++k) {
            REQUIRE(std::abs(values[k]) < 2);
            sum += std::abs(values[k]);
        }
        CHECK(sum > 0.1 * static_cast<double>(source.elements()));
        trial.enqueue_own();
        CHECK(emulated::fault_of_pending_work().empty());
        CHECK(std::all_of(counters, counters + Program::counters_there, [](unsigned each) { return each == 0; }));
    }
}

TEST_CASE("a batch norm's own kernels agree with the loops, and with no plan that computes something else")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            INFO(traits(precision).name << (backward ? " backward" : " forward"));
            const NormTrial trial(small_norm(backward, precision), 0, stream);
            const auto run = [&] {
                stream.synchronize();
                run_on_host(plan_of(trial, backward), trial.memory());
            };
            CHECK(trial.agrees(run));
            CHECK_FALSE(trial.agrees([] {}));
            CHECK_FALSE(trial.agrees([&] {
                run();
                const Tensor& result = backward ? trial.backward().result : trial.forward().result;
                Values values(trial.memory(), result);
                for (std::size_t k = 0; k < result.elements(); ++k) values.put(k, values[k] + 0.5F);
            }));
            CHECK(emulated::fault_of_pending_work().empty());
        }
    }
}
