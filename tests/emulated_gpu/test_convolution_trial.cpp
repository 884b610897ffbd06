// The trial of a convolution that a library computes with what is before and behind it: right results agree with those of
// the bare pass between our kernels, wrong ones do not. Loops take the place of the library.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/library/convolution_trial.hpp"
#include "workloads/cudnn/library/convolutions.hpp"

using namespace roof;
using namespace roof::cudnn;

namespace {

ConvolutionPass between_norms(Precision precision, Pass pass = Pass::forward)
{
    ConvolutionPass shape{
        {.batch = 2, .source = {8, 6, 6}, .result = {16, 6, 6}, .window = {.size = 3, .stride = 1, .padding = 1}},
        pass,
        precision};
    shape.prologue = true;
    shape.statistics = pass == Pass::forward;
    return shape;
}

/// A trial, and the loops that run its operations.
struct Tried {
    explicit Tried(const ConvolutionPass& shape)
        : loops(stream, {.batch = shape.batch, .precision = shape.precision}, "emulated"), trial(shape, stream)
    {
    }

    bool agrees(const Convolve& whole) const
    {
        const bool agree = trial.agrees(loops.bound(whole, trial.memory()), loops.bound(trial.alone(), trial.memory()));
        CHECK(emulated::fault_of_pending_work().empty());
        return agree;
    }

    gpu::Stream stream;
    Convolutions loops;
    ConvolutionTrial trial;
};

}  // namespace

TEST_CASE("a convolution with scaled source and sums agrees with its parts in every precision and both passes")
{
    for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
        for (const Pass pass : {Pass::forward, Pass::backward_weights}) {
            INFO(traits(precision).name << " " << name(pass));
            const Tried tried(between_norms(precision, pass));
            CHECK(tried.agrees(tried.trial.whole()));
        }
    }
    ConvolutionPass shape = bare(between_norms(Precision::bf16));
    shape.bias = shape.relu = true;
    const Tried tried(shape);
    CHECK(tried.agrees(tried.trial.whole()));
}

TEST_CASE("one operation gains where it takes less time than a convolution and the kernels around it")
{
    const Tried tried(between_norms(Precision::bf16));
    const auto alone = tried.loops.bound(tried.trial.alone(), tried.trial.memory());
    CHECK(tried.trial.gains(alone, alone));  // both without what is around it
    const gpu::Buffer<std::byte> large(std::size_t{8} << 20, "an array to fill");
    const auto more = [&] {
        alone();
        cudaMemsetAsync(large.data(), 0, large.bytes(), tried.stream.get());
    };
    CHECK_FALSE(tried.trial.gains(more, alone));
    CHECK_FALSE(tried.trial.gains([] { throw Error("no such engine"); }, alone));
}

TEST_CASE("a convolution that scales wrongly, or sums something else, does not agree")
{
    const Tried tried(between_norms(Precision::bf16));
    Convolve wrong = tried.trial.whole();
    std::swap(wrong.scale, wrong.shift);
    CHECK_FALSE(tried.agrees(wrong));
    wrong = tried.trial.whole();
    std::swap(wrong.sum, wrong.squares);
    CHECK_FALSE(tried.agrees(wrong));
    wrong = tried.trial.whole();
    wrong.scale = wrong.shift = {};
    wrong.shape.prologue = false;
    CHECK_FALSE(tried.agrees(wrong));
}
