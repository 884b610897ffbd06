// Finds the largest batch that fits by planning memory, which is fast and needs no device.
#include "workloads/cudnn/program/largest_batch.hpp"

#include "ert/base/error.hpp"
#include "workloads/cudnn/program/written.hpp"

#include <string>

namespace roof::cudnn {
namespace {

/// `fused`: the library's convolutions take over what they may of batch norms, which saves maps.
std::size_t planned_bytes(const model::Graph& graph, Settings settings, int batch, bool fused)
{
    settings.batch = batch;
    const auto choose = [fused](const ConvolutionShape&) {
        Choice choice;
        choice.fused = fused;
        return choice;
    };
    const Choosers nobody{choose, [](const Product&) { return Choice{}; }};
    return Written(graph, settings, nobody).bytes();
}

}  // namespace

int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes)
{
    constexpr int most = 65536;
    if (planned_bytes(graph, settings, 1, false) > bytes) return 0;
    int fits = 1;
    int fails = most + 1;
    while (fails - fits > 1) {
        const int middle = fits * 2 < fails ? fits * 2 : fits + (fails - fits) / 2;
        (planned_bytes(graph, settings, middle, false) <= bytes ? fits : fails) = middle;
    }
    return fits;
}

void require_room(const model::Graph& graph, const Settings& settings, std::size_t available)
{
    const std::size_t wanted = planned_bytes(graph, settings, settings.batch, true);
    if (wanted <= available) return;
    throw OutOfMemory(Bytes{static_cast<double>(wanted)}, Bytes{static_cast<double>(available)},
                      "training " + graph.name() + " at batch " + std::to_string(settings.batch) +
                          " (by the plan of memory, the largest batch that fits is " +
                          std::to_string(largest_batch(graph, settings, available)) + ")");
}

}  // namespace roof::cudnn
