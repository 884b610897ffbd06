// The trial of a convolution that a library computes with what is before and behind it: right results agree with those
// of the bare pass between our kernels, wrong ones do not. Loops take the place of the library.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/library/plans.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <cmath>

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

/// A trial of the bare pass by plan 0 and the whole shape by plan 1, which loops compute. Plan 2 takes longer, plan 3
/// fails.
struct Tried {
    explicit Tried(const ConvolutionPass& shape, std::size_t plans = 1)
        : products(stream, true),
          loops(stream, {.batch = shape.batch, .precision = shape.precision}, "emulated", products)
    {
        add_convolution(trial, convolution_in(trial, shape, 0), plans);
    }

    /// The operation by plan 1.
    Convolve whole() const { return std::get<Convolve>(trial.ways()[1].timed.front()); }
    /// Adds a way with this operation in its place.
    void add(const Convolve& operation)
    {
        Trial::Way way = trial.ways()[1];
        way.timed.front() = operation;
        trial.add(way);
    }
    void place()
    {
        trial.place("trying a convolution",
                    [this](const ir::Operation& operation, const Memory& memory) { return run_of(operation, memory); });
    }
    std::function<void()> run_of(const ir::Operation& operation, const Memory& memory)
    {
        const std::function<void()> run = bound(operation, memory, stream, loops.by_number());
        const auto* const pass = std::get_if<Convolve>(&operation);
        if (pass != nullptr && pass->plan == 3) return [] { throw Error("no such engine"); };
        if (pass == nullptr || pass->plan < 2) return run;
        return [this, run] {
            run();
            cudaMemsetAsync(large.data(), 0, large.bytes(), stream.get());
        };
    }
    bool agrees(std::size_t way) const
    {
        const bool is_right = trial.is_right(way);
        CHECK(emulated::fault_of_pending_work().empty());
        return is_right;
    }

    gpu::Stream stream;
    gpu::Buffer<std::byte> large{std::size_t{8} << 20, "an array to fill"};
    Products products;
    Plans loops;
    Trial trial{stream};
};

}  // namespace

TEST_CASE("a convolution with scaled source and sums agrees with its parts in every precision and both passes")
{
    for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
        for (const Pass pass : {Pass::forward, Pass::backward_weights}) {
            INFO(traits(precision).name << " " << name(pass));
            Tried tried(between_norms(precision, pass));
            tried.place();
            CHECK(tried.agrees(1));
        }
    }
    ConvolutionPass shape = bare(between_norms(Precision::bf16));
    shape.bias = shape.relu = true;
    Tried tried(shape);
    tried.place();
    CHECK(tried.agrees(1));
    CHECK(tried.trial.ways()[0].shared.empty());     // the source is read as it is
    CHECK(tried.trial.ways()[0].timed.size() == 2);  // with what adds the bias
}

TEST_CASE("one operation gains where it takes less time than a convolution and the kernels around it")
{
    Tried tried(between_norms(Precision::bf16), 3);
    tried.place();
    CHECK(tried.trial.seconds(1) < tried.trial.seconds(0));
    CHECK(tried.trial.seconds(2) > tried.trial.seconds(0));
    CHECK(std::isfinite(tried.trial.seconds(2)));
    CHECK(std::isinf(tried.trial.seconds(3)));
}

TEST_CASE("a convolution that scales wrongly, or sums something else, does not agree")
{
    Tried tried(between_norms(Precision::bf16));
    Convolve wrong = tried.whole();
    std::swap(wrong.scale, wrong.shift);
    tried.add(wrong);
    wrong = tried.whole();
    std::swap(wrong.sum, wrong.squares);
    tried.add(wrong);
    wrong = tried.whole();
    wrong.scale = wrong.shift = {};
    wrong.shape.prologue = false;
    tried.add(wrong);
    tried.place();
    CHECK(std::isfinite(tried.trial.seconds(1)));
    for (const std::size_t way : {2U, 3U, 4U}) {
        CHECK_FALSE(tried.agrees(way));
        CHECK(std::isinf(tried.trial.seconds(way)));
    }
}
