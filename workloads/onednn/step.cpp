#include "workloads/onednn/step.hpp"

#include "ert/base/text.hpp"
#include "workloads/engine/step_facts.hpp"

namespace roof::onednn {
Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers)
    : settings_(settings),
      classes_(graph.classes()),
      network_(graph, settings),
      source_(data::open_source(data, settings.batch, graph.layer(0).output, classes_, workers, engine::data_seed)),
      work_(engine::step_work(graph, settings.batch, settings.precision, network_.parts()))
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
    engine::check_losses(settings_.parameters, classes_, first_loss_, last_loss_);
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
    return engine::remarks_on(source_.facts());
}

}  // namespace roof::onednn
