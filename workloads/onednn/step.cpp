#include "workloads/onednn/step.hpp"

#include "workloads/engine/step_facts.hpp"

#include <algorithm>
#include <iterator>

namespace roof::onednn {
namespace {

data::Share share_of(const Settings& settings)
{
    if (settings.ranks == nullptr) return {};
    return {.rank = settings.ranks->rank, .ranks = settings.ranks->size};
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers)
    : settings_(settings),
      classes_(graph.classes()),
      threads_(settings.ranks == nullptr ? settings.threads : 0),
      network_(graph, settings),
      source_(threads_.starting_free_threads([&] {
          return data::open_source(data, settings.batch, graph.layer(0).output, classes_, workers, engine::data_seed,
                                   share_of(settings));
      })),
      work_(engine::step_work(graph, settings.batch, settings.precision, parts(), share_of(settings).ranks))
{
}

void Step::train_with(const parallel::World& world, const parallel::Options& options, std::unique_ptr<Pinned> pinned)
{
    pinned_ = std::move(pinned);
    ranks_.emplace(network_, world, options);
}

std::vector<TimedPart> Step::parts() const
{
    std::vector<TimedPart> all = network_.parts();
    for (TimedPart& part : all) part.work = part.work * ranks();
    return all;
}

void Step::launch(Trace& trace)
{
    if (!ranks_) return train(trace);
    try {
        train(trace);
    } catch (const std::exception& error) {
        ranks_->fail(error.what());
        throw;
    }
}

void Step::train(Trace& trace)
{
    if (ranks_) ranks_->begin();
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });

    last_loss_ = network_.forward(batch.images, batch.labels, trace);
    if (ranks_) {
        ranks_->backward(trace);
        last_loss_ = ranks_->update(last_loss_, trace);
    } else {
        network_.backward(trace);
        network_.update(trace);
    }
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);
}

void Step::check()
{
    engine::check_losses(settings_.parameters, classes_, first_loss_, last_loss_);
}

std::string Step::variant() const
{
    const std::string passes = engine::describe_passes(network_.algorithms());
    return passes + (passes.empty() ? "" : "; ") + (ranks_ ? ranks_->describe() : threads_.describe());
}

std::vector<std::string> Step::remarks() const
{
    std::vector<std::string> all = engine::remarks_on(source_.facts());
    if (ranks_) std::ranges::move(ranks_->remarks(), std::back_inserter(all));
    return all;
}

}  // namespace roof::onednn
