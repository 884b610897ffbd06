#include "tests/cudnn/kernel_times.hpp"

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/stream.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"

#include <algorithm>
#include <limits>

namespace roof::cudnn {
namespace {

/// Many launches between two events, because an event and the host's launch take some microseconds.
Seconds least_time_of(const gpu::Stream& stream, const std::function<void()>& enqueue)
{
    constexpr int runs = 5;
    constexpr int launches = 10;
    const gpu::EventTimer timer;
    const auto enqueue_all = [&] {
        for (int i = 0; i < launches; ++i) enqueue();
    };
    Seconds least{std::numeric_limits<double>::infinity()};
    for (int i = 0; i < runs; ++i) least = std::min(least, timer.time(stream, enqueue_all) / launches);
    return least;
}

}  // namespace

std::vector<KernelTime> time_kernels(const model::Graph& graph, const Settings& settings)
{
    constexpr bool fused = false;  // convolutions that sum and normalise would leave kernels out
    const StepProgram list = write_step(graph, settings, loops(fused));
    const gpu::Buffer<std::byte> arena(list.bytes, "timing kernels");
    gpu::check(cudaMemset(arena.data(), 0, arena.bytes()));
    gpu::check(cudaDeviceSynchronize());
    const Memory memory(list, arena.data());
    const gpu::Stream stream;
    std::vector<KernelTime> all;
    const auto time = [&](const KernelTime& described, const std::function<void()>& enqueue) {
        const auto same = std::ranges::find_if(all, [&](const KernelTime& one) {
            return one.operation == described.operation && one.operands == described.operands;
        });
        if (same != all.end()) {
            ++same->launches;
            return;
        }
        all.push_back(described);
        all.back().each = least_time_of(stream, enqueue);
    };
    for (const Program::Stage& stage : list.stages()) {
        KernelTime together{.launches = 1};
        std::vector<std::function<void()>> own;
        for (std::size_t i = 0; i < stage.operations.size(); ++i) {
            const auto enqueue_own = [&](const auto& operation) {
                if constexpr (requires { enqueue(operation, memory, stream.get()); })
                    own.emplace_back([&memory, &stream, one = &operation] { enqueue(*one, memory, stream.get()); });
            };
            const std::size_t before = own.size();
            std::visit(enqueue_own, stage.operations[i]);
            if (own.size() == before) continue;
            const roof::Operation& described = stage.part.operations[i];
            time({described.implementation, described.operands, 1, described.bytes, {}}, own.back());
            together.operation += (before > 0 ? ", then " : "") + described.implementation;
            together.operands = described.operands;
            together.bytes += described.bytes;
        }
        if (own.size() < 2) continue;
        time(together, [&] {
            for (const auto& one : own) one();
        });
    }
    return all;
}

}  // namespace roof::cudnn
