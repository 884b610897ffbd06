#include "workloads/engine/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/estimate.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/measurement.hpp"
#include "workloads/engine/program.hpp"
#include "workloads/model/work.hpp"

#include <algorithm>
#include <cmath>

namespace roof::engine {

void Step::train_with(const parallel::World& world, const parallel::Options& options)
{
    world_ = world;
    join(options);
}

Work Step::work() const
{
    return step_work(graph_, settings_.batch, settings_.precision, parts(), settings_.share().ranks, settings_.trains);
}

std::vector<TimedPart> Step::parts() const
{
    std::vector<TimedPart> all = own_parts();
    for (TimedPart& part : all) part.work = part.work * settings_.share().ranks;
    return all;
}

void Step::launch(Trace& trace)
{
    try {
        if (world_) world_->tell(parallel::CommandKind::launch, trace.recording());
        last_loss_ = train(trace);
        if (world_) last_loss_ = mean_loss(trace);
    } catch (const std::exception& error) {
        if (world_) {
            world_->communicator->fail(error.what());
            abandon();
        }
        throw;
    }
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);
}

double Step::mean_loss(const Trace& trace)
{
    const auto ranks = static_cast<std::size_t>(world_->communicator->size);
    std::vector<double> numbers(1 + ranks);
    numbers[0] = last_loss_;
    numbers[1 + static_cast<std::size_t>(world_->communicator->rank)] = trace.sample().clock.value;
    world_->communicator->sum(numbers);
    clocks_.emplace_back(numbers.begin() + 1, numbers.end());
    return numbers[0] / static_cast<double>(ranks);
}

bool Step::launch_to(Phase last, Trace& trace)
{
    if (!world_) differentiate(last, trace);
    return !world_;
}

void Step::check()
{
    check_losses(settings_.parameters, graph_.classes(), first_loss_, last_loss_);
    if (world_) world_->compare_parameters([this] { return checksums(); });
}

std::string Step::variant() const
{
    std::vector<std::string> counts;
    for (const auto& [algorithm, passes] : algorithms()) counts.push_back(std::to_string(passes) + " " + algorithm);
    return (counts.empty() ? "" : "convolution passes: " + roof::join(counts, ", ") + "; ") + how();
}

std::vector<std::string> Step::remarks() const
{
    std::vector<std::string> all = remarks_on(facts());
    const auto add = [&all](const std::vector<std::string>& some) { all.insert(all.end(), some.begin(), some.end()); };
    if (settings_.choices) add(settings_.choices->remarks());
    if (world_) {
        add(remarks_on_clocks(clocks_));
        add(world_->remarks(taking_turns()));
    }
    add(world_ ? world_->remarks_of_ranks(roof::join(device_remarks(), "; ")) : device_remarks());
    add(own_remarks());
    return all;
}

Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks, bool trains)
{
    TimedPart all{};
    for (const TimedPart& part : parts) add_work(all, part.work);
    const Flops saved = all.work.flops - all.work.executed;
    const model::StepWork work = model::work_of(graph, batch, precision);
    all.work.flops = (trains ? work.step() : work.forward) * ranks;
    all.work.executed = saved == Flops{} ? Flops{} : all.work.flops - saved;
    all.work.refetched.clear();  // of parts alone
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

void require_labels(const int* labels, std::size_t count, int classes)
{
    for (std::size_t n = 0; n < count; ++n) {
        if (labels[n] >= 0 && labels[n] < classes) continue;
        throw Error("image " + std::to_string(n) + " has label " + std::to_string(labels[n]) + "; the network has " +
                    std::to_string(classes) + " classes");
    }
}

std::vector<std::string> remarks_on_clocks(const std::vector<std::vector<double>>& launches)
{
    constexpr double apart = 1.02;
    if (launches.empty()) return {};
    std::vector<double> medians;
    for (std::size_t rank = 0; rank < launches.front().size(); ++rank) {
        std::vector<double> clocks;
        for (const std::vector<double>& launch : launches)
            if (launch[rank] > 0) clocks.push_back(launch[rank]);
        if (clocks.empty()) return {};
        medians.push_back(spread_of(clocks).median);
    }
    const auto [least, most] = std::ranges::minmax_element(medians);
    const auto said = [&](auto one) {
        return "rank " + std::to_string(one - medians.begin()) + " at " + format_si(*one, "Hz");
    };
    if (*most <= apart * *least)
        return {"the clocks of all ranks were from " + format_si(*least, "Hz") + " to " + format_si(*most, "Hz")};
    return {std::string(ranks_differ_in_clock) + ", " + said(least) + " and " + said(most) +
            ": what the faster wait for the slower counts as exposed communication"};
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
