#include "workloads/onednn/step.hpp"

#include "workloads/engine/step_facts.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

namespace roof::onednn {
namespace {

data::Share share_of(const Settings& settings)
{
    if (settings.ranks == nullptr) return {};
    return {.rank = settings.ranks->rank, .ranks = settings.ranks->size};
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers,
           const parallel::Place& place)
    : settings_(settings),
      classes_(graph.classes()),
      threads_(settings.ranks == nullptr ? PinnedThreads(settings.threads) : PinnedThreads(place, settings.threads)),
      network_(graph, settings),
      source_(threads_.starting_free_threads([&] {
          return data::open_source(data, settings.batch, graph.layer(0).output, classes_, workers, engine::data_seed,
                                   share_of(settings));
      })),
      work_(engine::step_work(graph, settings.batch, settings.precision, parts(), share_of(settings).ranks))
{
}

void Step::train_with(const parallel::World& world, const parallel::Options& options)
{
    world_ = world;
    parallel::require_same(*world.communicator, network_.exchanged_layouts(), parallel::differ_in_layout);
    exchange_.emplace(world.communicator, parallel::pack(network_.gradient_sizes(), options.bucket_bytes), options.mode,
                      clock_);
    network_.place_gradients([this](std::size_t parameter) { return exchange_->gradient(parameter); });
}

std::vector<TimedPart> Step::parts() const
{
    std::vector<TimedPart> all = network_.parts();
    for (TimedPart& part : all) part.work = part.work * ranks();
    return all;
}

void Step::launch(Trace& trace)
{
    if (!exchange_) return train(trace);
    try {
        train(trace);
    } catch (const std::exception& error) {
        world_.communicator->fail(error.what());
        throw;
    }
}

void Step::train(Trace& trace)
{
    if (exchange_) {
        world_.tell(parallel::CommandKind::launch);
        exchange_->begin(network_.trained_bytes());
    }
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });

    last_loss_ = network_.forward(batch.images, batch.labels, trace);
    if (exchange_) {
        network_.backward(trace, [this](std::size_t parameter) { exchange_->ready(parameter); });
        trace.communicated(exchange_->finish());
        if (exchange_->updates())
            network_.update(trace);
        else
            network_.leave_update_to_another();
        last_loss_ = world_.mean(last_loss_);
    } else {
        network_.backward(trace);
        network_.update(trace);
    }
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);
}

bool Step::launch_to(Phase last, Trace& trace)
{
    if (exchange_) return false;
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });
    network_.forward(batch.images, batch.labels, trace);
    if (last == Phase::backward) network_.backward(trace);
    return true;
}

void Step::check()
{
    engine::check_losses(settings_.parameters, classes_, first_loss_, last_loss_);
    if (!exchange_) return;
    world_.compare_parameters([this] {
        exchange_->begin(network_.trained_bytes());
        return network_.checksums();
    });
}

std::string Step::variant() const
{
    const std::string passes = engine::describe_passes(network_.algorithms());
    return passes + (passes.empty() ? "" : "; ") +
           (exchange_ ? world_.describe(exchange_->packing().buckets.size()) : threads_.describe());
}

std::vector<std::string> Step::remarks() const
{
    std::vector<std::string> all = engine::remarks_on(source_.facts());
    if (settings_.choices) std::ranges::copy(settings_.choices->remarks(), std::back_inserter(all));
    if (!exchange_) return all;
    const bool takes_turns = world_.place.ranks_here > static_cast<int>(std::thread::hardware_concurrency());
    std::ranges::move(
        world_.remarks(
            takes_turns ? "more ranks than processors: they take turns, and this time is not one of ranks side by side"
                        : ""),
        std::back_inserter(all));
    return all;
}

}  // namespace roof::onednn
