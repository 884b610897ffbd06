#include "workloads/onednn/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/work.hpp"

#include <cmath>

namespace roof::onednn {
namespace {

constexpr unsigned data_seed = 1;

/// A guess costs ln(classes); initial weights that are off by orders of magnitude cost several times as much.
constexpr double sane_first_loss = 4;

Work step_work(const model::Graph& graph, const Settings& settings, const std::vector<Part>& parts)
{
    Work work;
    work.flops = model::work_of(graph, settings.batch, settings.precision).step();
    Flops saved{};
    for (const Part& part : parts) {
        work.compulsory += part.work.compulsory;
        work.no_reuse += part.work.no_reuse;
        if (part.work.executed.value > 0) saved += part.work.flops - part.work.executed;
    }
    if (saved != Flops{}) work.executed = work.flops - saved;
    return work;
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers)
    : settings_(settings),
      classes_(graph.classes()),
      network_(graph, settings),
      source_(data::open_source(data, settings.batch, graph.layer(0).output, classes_, workers, data_seed)),
      work_(step_work(graph, settings, network_.parts()))
{
}

void Step::launch(Trace& trace)
{
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });

    last_loss_ = network_.forward(batch.images, batch.labels, trace);
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);
    network_.backward(trace);
    network_.update(trace);
}

void Step::check()
{
    if (!std::isfinite(last_loss_)) throw Error("the loss is not finite: training diverged at this learning rate");
    const double guessing = std::log(classes_);
    const bool random = settings_.parameters == Parameters::random;
    if (random && first_loss_ && *first_loss_ > sane_first_loss * guessing) {
        throw Error("the first loss is " + std::to_string(*first_loss_) + ", far above that of guessing, " +
                    std::to_string(guessing));
    }
}

std::string Step::variant() const
{
    std::vector<std::string> counts;
    for (const auto& [algorithm, passes] : network_.algorithms())
        counts.push_back(std::to_string(passes) + " " + algorithm);
    return counts.empty() ? "" : "convolution passes: " + join(counts, ", ");
}

std::vector<std::string> Step::remarks() const
{
    constexpr std::size_t most_named = 5;
    std::vector<std::string> broken = source_.facts().skipped;
    if (broken.empty()) return {};
    const std::string remark = std::to_string(broken.size()) + " broken image file(s) skipped: ";
    if (broken.size() > most_named) {
        broken.resize(most_named);
        broken.emplace_back("…");
    }
    return {remark + join(broken, ", ")};
}

}  // namespace roof::onednn
