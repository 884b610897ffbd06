#include "workloads/onednn/step.hpp"

#include "ert/method/bench/row_words.hpp"
#include "workloads/kernels/isa/isa.hpp"

#include <thread>

namespace roof::onednn {
namespace {

Settings with_images(Settings settings, const std::string& data, const model::Graph& graph)
{
    settings.images = data::bytes_of_source(data, settings.batch, data::Form::of(graph), settings.share());
    return settings;
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers,
           const parallel::Place& place)
    : engine::Step(graph, settings),
      threads_(settings.ranks == nullptr ? PinnedThreads(settings.threads) : PinnedThreads(place, settings.threads)),
      network_(graph, with_images(settings, data, graph)),
      source_(threads_.starting_free_threads([&] {
          return data::open_source(data, settings.batch, data::Form::of(graph), workers, engine::data_seed,
                                   settings.share());
      }))
{
}

void Step::join(const parallel::Options& options)
{
    parallel::require_same(*world()->communicator, network_.exchanged_layouts(), parallel::differ_in_layout);
    exchange_.emplace(world()->communicator, parallel::pack(network_.gradient_sizes(), options.bucket_bytes),
                      options.mode, clock_);
    network_.place_gradients([this](std::size_t parameter) { return exchange_->gradient(parameter); });
}

double Step::train(Trace& trace)
{
    if (exchange_) exchange_->begin(network_.trained_bytes());
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });
    const double loss = network_.forward(batch.images, batch.labels, trace);
    if (!settings().trains) return loss;
    if (!exchange_) {
        network_.backward(trace);
        network_.update(trace);
        return loss;
    }
    network_.backward(trace, [this](std::size_t parameter) { exchange_->ready(parameter); });
    trace.communicated(exchange_->finish());
    if (exchange_->updates())
        network_.update(trace);
    else
        network_.leave_update_to_another();
    return loss;
}

void Step::differentiate(Phase last, Trace& trace)
{
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });
    network_.forward(batch.images, batch.labels, trace);
    if (last == Phase::backward) network_.backward(trace);
}

std::string Step::checksums()
{
    exchange_->begin(network_.trained_bytes());
    return network_.checksums();
}

std::string Step::how() const
{
    const bool is_widened = settings().precision == Precision::bf16 && kernels::widest_isa() < kernels::Isa::avx512;
    return (exchange_ ? world()->describe(exchange_->packing().buckets.size()) : threads_.describe()) +
           (is_widened ? "; bf16 widened to fp32" : "");
}

std::string Step::taking_turns() const
{
    const bool are_many = world()->place.ranks_here > static_cast<int>(std::thread::hardware_concurrency());
    return are_many ? "more ranks than processors: " + std::string(ranks_take_turns) : "";
}

std::unique_ptr<engine::Step> make_step(const engine::StepRequest& request)
{
    return std::make_unique<Step>(request.graph, request.settings, request.point.text("data"), request.workers,
                                  request.world == nullptr ? parallel::Place{} : request.world->place);
}

}  // namespace roof::onednn
