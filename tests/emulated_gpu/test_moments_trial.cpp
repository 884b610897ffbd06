// The trial of moments against passes, on values that it wrote itself: both ways agree, and a wrong result is seen. Loops take
// the place of cuDNN, and a stand-in that of cuBLASLt.
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/moments_trial.hpp"

using namespace roof;
using namespace roof::cudnn;

TEST_CASE("the trial of moments finds that both ways agree in each format, and each wrong result")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        INFO(traits(precision).name);
        const Settings settings{.batch = 4, .precision = precision};
        Convolutions convolutions(stream, settings, nullptr, "emulated");
        Products products(stream, true);
        const ConvolutionPass forward{{.batch = 4,
                                       .source = {16, 10, 10},
                                       .result = {64, 10, 10},
                                       .window = {.size = 1, .stride = 1, .padding = 0}},
                                      Pass::forward,
                                      precision};
        const MomentsTrial trial(forward, convolutions, products, stream);
        trial.run();
        CHECK(trial.agrees());
        CHECK(trial.by_passes().seconds() > 0);
        CHECK(trial.by_moments().seconds() > 0);
        CHECK(trial.agrees());  // both ran as often
        CHECK(emulated::fault_of_pending_work().empty());
        for (const auto& [by_passes, by_moments] : trial.results()) {
            Values values(trial.memory(), by_moments);
            std::vector<float> right;
            for (std::size_t k = 0; k < by_moments.elements(); ++k) right.push_back(values[k]);
            for (std::size_t k = 0; k < right.size(); ++k) values.put(k, 1.05F * right[k]);
            CHECK_FALSE(trial.agrees());
            for (std::size_t k = 0; k < right.size(); ++k) values.put(k, right[k]);
            CHECK(trial.agrees());
        }
    }
}
