// One operation of a training step on the emulated device, on tensors of any shape. Tests compute what they expect in
// double, from what the operation is defined as, and share no code with the kernels.
#pragma once

#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace roof::cudnn {

using emulated::Array;
using emulated::Dim;
using emulated::FewBlocks;

inline constexpr unsigned all_blocks = ~0U;
inline constexpr Precision precisions[]{Precision::fp32, Precision::bf16, Precision::fp16};
inline const std::vector<Dim> grids{{all_blocks, all_blocks, all_blocks}, {1, 1, 1}, {3, all_blocks, all_blocks}};

/// A multiple of 1/4 from -2 to 2. Every precision holds it, and sums of some thousands of products of two are exact in
/// fp32.
inline double quarters(std::size_t place, unsigned salt)
{
    auto bits = static_cast<std::uint32_t>(place) * 0x9E3779B1U + salt * 0x85EBCA77U;
    bits = (bits ^ bits >> 15) * 0xC2B2AE3DU;
    return (static_cast<double>((bits ^ bits >> 13) % 17) - 8) / 4;
}

class OneOperation {
  public:
    using Value = std::function<double(std::size_t)>;

    /// A tensor that holds value(k) at place k. Before run().
    Tensor filled(const Tensor& shape, const Value& value)
    {
        const Tensor tensor = program_.resident(shape);
        fills_.emplace_back(tensor, value);
        return tensor;
    }
    Tensor filled(const Tensor& shape, unsigned salt)
    {
        return filled(shape, [salt](std::size_t k) { return quarters(k, salt); });
    }
    /// A tensor that holds what is no number, until the operation writes it.
    Tensor empty(const Tensor& shape) { return program_.resident(shape); }
    StepState state{};  ///< before the operation; after run(), as the operation left it

    /// Runs it on the device. Throws where it fails there, or changes more than `results` and the state.
    template <class Kind>
    void run(const Kind& operation, const std::vector<Tensor>& results)
    {
        run(operation, results, [&](const Memory& memory) { enqueue(operation, memory, nullptr); });
    }
    /// Likewise, by a function that enqueues it.
    template <class Kind, class Enqueue>
    void run(const Kind& /*operation*/, const std::vector<Tensor>& results, const Enqueue& start)
    {
        before_.assign(program_.place(), std::byte{0xFF});
        const Memory host(program_, before_.data());
        std::memset(host.at(program_.counters()), 0, program_.counters().bytes());
        *host.state() = state;
        for (const auto& [tensor, value] : fills_)
            for (std::size_t k = 0; k < tensor.elements(); ++k) put(host, tensor, k, value(k));
        const Array<std::byte> device(before_);
        start(Memory(program_, device.data()));
        REQUIRE(emulated::fault_of_pending_work() == "");
        after_ = device.values();
        state = *Memory(program_, after_.data()).state();
        check_unchanged(results);
    }

    double before(const Tensor& tensor, std::size_t k) { return value(before_, tensor, k); }
    double after(const Tensor& tensor, std::size_t k) { return value(after_, tensor, k); }

    /// Every value of the tensor is the expected one, rounded to its precision, but for `tolerance`, absolute and
    /// relative.
    void check(const Tensor& tensor, const Value& expected, double tolerance = 1e-6)
    {
        const double unit = tensor.precision == Precision::bf16   ? 1.0 / 256
                            : tensor.precision == Precision::fp16 ? 1.0 / 2048
                                                                  : 0;
        for (std::size_t k = 0; k < tensor.elements(); ++k) {
            const double due = expected(k);
            const double found = after(tensor, k);
            if (found == due || (std::isnan(found) && std::isnan(due))) continue;
            if (!(std::abs(found - due) <= (unit + tolerance) * std::abs(due) + tolerance))
                FAIL("value " << k << " of " << tensor.elements() << ": " << found << ", not " << due);
        }
    }

  private:
    static void put(const Memory& memory, const Tensor& tensor, std::size_t k, double value)
    {
        if (tensor.precision == Precision::int8)
            memory.at<std::uint8_t>(tensor)[k] = static_cast<std::uint8_t>(value);
        else if (tensor.precision == Precision::int32)
            memory.at<std::int32_t>(tensor)[k] = static_cast<std::int32_t>(value);
        else
            Values(memory, tensor).put(k, static_cast<float>(value));
    }
    double value(std::vector<std::byte>& bytes, const Tensor& tensor, std::size_t k)
    {
        const Memory memory(program_, bytes.data());
        if (tensor.precision == Precision::int8) return memory.at<std::uint8_t>(tensor)[k];
        if (tensor.precision == Precision::int32) return memory.at<std::int32_t>(tensor)[k];
        return static_cast<double>(Values(memory, tensor)[k]);
    }
    void check_unchanged(const std::vector<Tensor>& results)
    {
        std::vector<std::byte> rest = after_;
        const auto forget = [&](const Tensor& tensor) {
            if (!tensor) return;
            const auto first = static_cast<std::ptrdiff_t>(program_.offset(tensor));
            std::copy_n(before_.begin() + first, tensor.bytes(), rest.begin() + first);
        };
        for (const Tensor& tensor : results) forget(tensor);
        forget(program_.state());
        const auto [changed, was] = std::mismatch(rest.begin(), rest.end(), before_.begin());
        INFO("byte " << changed - rest.begin() << " of " << rest.size());
        REQUIRE(changed == rest.end());
    }

    Program program_;
    std::vector<std::pair<Tensor, Value>> fills_;
    std::vector<std::byte> before_, after_;
};

}  // namespace roof::cudnn
