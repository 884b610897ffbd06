#include "workloads/engine/step_facts.hpp"

#include "ert/base/text.hpp"
#include "workloads/model/work.hpp"

namespace roof::engine {

Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks)
{
    Work work;
    work.flops = model::work_of(graph, batch, precision).step() * ranks;
    Flops saved{};
    for (const TimedPart& part : parts) {
        work.compulsory += part.work.compulsory;
        work.no_reuse += part.work.no_reuse;
        if (part.work.executed.value > 0) saved += part.work.flops - part.work.executed;
    }
    if (saved != Flops{}) work.executed = work.flops - saved;
    return work;
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
