// The largest batch that fits, by planning: cheap, since a plan needs no device.
#include "workloads/cudnn/largest_batch.hpp"

#include "workloads/cudnn/written.hpp"

namespace roof::cudnn {
namespace {

std::size_t planned_bytes(const model::Graph& graph, Settings settings, int batch)
{
    settings.batch = batch;
    const Choosers nobody{[](const ConvolutionShape&) { return Choice{}; }, [](const Product&) { return Choice{}; }};
    return Written(graph, settings, nobody).bytes();
}

}  // namespace

int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes)
{
    constexpr int most = 65536;
    if (planned_bytes(graph, settings, 1) > bytes) return 0;
    int fits = 1;
    int fails = most + 1;
    while (fails - fits > 1) {
        const int middle = fits * 2 < fails ? fits * 2 : fits + (fails - fits) / 2;
        (planned_bytes(graph, settings, middle) <= bytes ? fits : fails) = middle;
    }
    return fits;
}

}  // namespace roof::cudnn
