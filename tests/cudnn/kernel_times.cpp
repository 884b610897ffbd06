#include "tests/cudnn/kernel_times.hpp"

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/event_timer.hpp"
#include "tests/cudnn/host_training.hpp"
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
    const Written written(graph, settings, loops());
    const gpu::Buffer<std::byte> arena(written.bytes(), "timing kernels");
    gpu::check(cudaMemset(arena.data(), 0, arena.bytes()));
    gpu::check(cudaDeviceSynchronize());
    const Memory memory(written.program(), arena.data());
    const gpu::Stream stream;
    std::vector<KernelTime> all;
    for (const Program::Stage& stage : written.program().stages()) {
        for (std::size_t i = 0; i < stage.operations.size(); ++i) {
            const roof::Operation& described = stage.part.operations[i];
            const auto same = std::ranges::find_if(all, [&](const KernelTime& one) {
                return one.operation == described.implementation && one.operands == described.operands;
            });
            if (same != all.end()) {
                ++same->launches;
                continue;
            }
            std::visit(
                [&](const auto& operation) {
                    if constexpr (requires { enqueue(operation, memory, stream.get()); })
                        all.push_back({described.implementation, described.operands, 1, described.bytes,
                                       least_time_of(stream, [&] { enqueue(operation, memory, stream.get()); })});
                },
                stage.operations[i]);
        }
    }
    return all;
}

}  // namespace roof::cudnn
