#include "workloads/onednn/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/work.hpp"

#include <cmath>
#include <utility>

namespace roof::onednn {
namespace {

constexpr unsigned data_seed = 1;

/// A guess costs ln(classes); initial weights that are off by orders of magnitude cost several times as much.
constexpr double sane_first_loss = 4;

data::Share share_of(const Settings& settings)
{
    if (settings.ranks == nullptr) return {};
    return {.rank = settings.ranks->rank, .ranks = settings.ranks->size};
}

Work step_work(const model::Graph& graph, const Settings& settings, const std::vector<Part>& parts)
{
    Work work;
    work.flops = model::work_of(graph, settings.batch, settings.precision).step() * share_of(settings).ranks;
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
      source_(data::open_source(data, settings.batch, graph.layer(0).output, classes_, workers, data_seed,
                                share_of(settings))),
      work_(step_work(graph, settings, parts()))
{
}

void Step::train_with(const parallel::World& world, const ExchangeOptions& options, std::unique_ptr<Pinned> pinned)
{
    pinned_ = std::move(pinned);
    ranks_.emplace(network_, world, options);
}

std::vector<Part> Step::parts() const
{
    std::vector<Part> all = network_.parts();
    for (Part& part : all) part.work = part.work * ranks();
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
    std::vector<std::string> words;
    if (!counts.empty()) words.push_back("convolution passes: " + join(counts, ", "));
    if (ranks_) words.push_back(ranks_->describe());
    return join(words, "; ");
}

std::vector<std::string> Step::remarks() const
{
    constexpr std::size_t most_named = 5;
    std::vector<std::string> all;
    if (ranks_ && ranks_->crowded())
        all.emplace_back("more ranks than processors: they take turns, and this time is not one of ranks side by side");
    std::vector<std::string> broken = source_.facts().skipped;
    if (broken.empty()) return all;
    const std::string remark = std::to_string(broken.size()) + " broken image file(s) skipped: ";
    if (broken.size() > most_named) {
        broken.resize(most_named);
        broken.emplace_back("…");
    }
    all.push_back(remark + join(broken, ", "));
    return all;
}

}  // namespace roof::onednn
