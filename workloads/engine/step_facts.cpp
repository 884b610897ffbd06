#include "workloads/engine/step_facts.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "workloads/engine/program.hpp"
#include "workloads/model/work.hpp"

#include <cmath>

namespace roof::engine {

Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks)
{
    TimedPart all{};
    for (const TimedPart& part : parts) add_work(all, part.work);
    const Flops saved = all.work.flops - all.work.executed;
    all.work.flops = model::work_of(graph, batch, precision).step() * ranks;
    all.work.executed = saved == Flops{} ? Flops{} : all.work.flops - saved;
    return all.work;
}

void check_losses(Parameters parameters, int classes, std::optional<double> first, double last)
{
    constexpr double sane = 4;  // initial weights that are off by orders of magnitude cost several times as much
    if (!std::isfinite(last)) throw Error("the loss is not finite: training diverged at this learning rate");
    const double guessing = std::log(classes);
    if (parameters == Parameters::random && first && *first > sane * guessing) {
        throw Error("the first loss is " + std::to_string(*first) + ", far above that of guessing, " +
                    std::to_string(guessing));
    }
}

std::string describe_passes(const std::map<std::string, int, std::less<>>& algorithms)
{
    std::vector<std::string> counts;
    for (const auto& [algorithm, passes] : algorithms) counts.push_back(std::to_string(passes) + " " + algorithm);
    return counts.empty() ? "" : "convolution passes: " + join(counts, ", ");
}

void require_labels(const int* labels, std::size_t count, int classes)
{
    for (std::size_t n = 0; n < count; ++n) {
        if (labels[n] >= 0 && labels[n] < classes) continue;
        throw Error("image " + std::to_string(n) + " has label " + std::to_string(labels[n]) + "; the network has " +
                    std::to_string(classes) + " classes");
    }
}

std::vector<std::string> remarks_on(const data::SourceFacts& facts)
{
    constexpr std::size_t most_named = 5;
    std::vector<std::string> broken = facts.skipped;
    if (broken.empty()) return {};
    const std::string remark = std::to_string(broken.size()) + " broken image file(s) skipped: ";
    if (broken.size() > most_named) {
        broken.resize(most_named);
        broken.emplace_back("…");
    }
    return {remark + join(broken, ", ")};
}

}  // namespace roof::engine
