#include "workloads/engine/layers/layers.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::ir {
namespace {

/// What saves maps: the library's convolutions take over what they may of batch norms, or moments serve wherever they
/// can.
enum class Saving { none, fused, moments };

std::size_t planned_bytes(const model::Graph& graph, Settings settings, int batch, Saving saving)
{
    settings.batch = batch;
    const auto choose = [saving](const ConvolutionPass&) {
        Choice choice;
        choice.fused = saving == Saving::fused;
        return choice;
    };
    Choosers nobody{choose, [](const Product&) { return Choice{}; }};
    nobody.moments = [saving](const ConvolutionPass&) { return saving == Saving::moments; };
    return write_step(graph, settings, nobody).bytes;
}

}  // namespace

int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes)
{
    constexpr int most = 65536;
    if (planned_bytes(graph, settings, 1, Saving::none) > bytes) return 0;
    int fits = 1;
    int fails = most + 1;
    while (fails - fits > 1) {
        const int middle = fits * 2 < fails ? fits * 2 : fits + (fails - fits) / 2;
        (planned_bytes(graph, settings, middle, Saving::none) <= bytes ? fits : fails) = middle;
    }
    return fits;
}

void require_room(const model::Graph& graph, const Settings& settings, std::size_t available)
{
    const std::size_t wanted = std::min(planned_bytes(graph, settings, settings.batch, Saving::fused),
                                        planned_bytes(graph, settings, settings.batch, Saving::moments));
    if (wanted <= available) return;
    throw OutOfMemory(Bytes{static_cast<double>(wanted)}, Bytes{static_cast<double>(available)},
                      "training " + graph.name() + " at batch " + std::to_string(settings.batch) +
                          " (by the plan of memory, the largest batch that fits is " +
                          std::to_string(largest_batch(graph, settings, available)) + ")");
}

}  // namespace roof::ir
