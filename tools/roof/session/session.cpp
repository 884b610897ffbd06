#include "tools/roof/session/session.hpp"

#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

/// Where the rows of a run go, and who is told of them.
class Recorder {
  public:
    /// `rows`: those the folder holds already; grows.
    Recorder(RunDirectory& run, std::vector<Measurement>& rows, const Context& context, const Listener& listener)
        : run_(run), rows_(rows), context_(context), listener_(listener)
    {
    }

    /// Throws Interrupted. `is_late`: asked before each item, ends the batch.
    void measure_batch(const std::vector<Item>& items, const std::function<bool()>& is_late)
    {
        const std::size_t total = rows_.size() + items.size();
        for (const Item& item : items) {
            if (context_.interrupted()) throw Interrupted();
            if (is_late()) return;
            if (listener_.begins) listener_.begins(item, rows_.size(), total);
            rows_.push_back(measure(item, context_.registry, context_.clock, observer_, run_.folder()));
            run_.append(rows_.back());
            if (listener_.row) listener_.row(rows_.back());
        }
    }

  private:
    RunDirectory& run_;
    std::vector<Measurement>& rows_;
    const Context& context_;
    const Listener& listener_;
    SampleObserver observer_ = [this](const Sample& sample, int launches) {
        if (listener_.sample) listener_.sample(sample, launches);
        return !context_.interrupted();
    };
};

/// All there is to do; then, until the plan's time is over, extra rounds to what is not steady.
void measure_into(RunDirectory& run, const Scheduler& scheduler, std::vector<Measurement>& rows, const Context& context,
                  const Listener& listener)
{
    const Seconds begin = context.clock();
    const auto never = [] { return false; };
    const auto is_late = [&] {
        return scheduler.extra_rounds_until().value > 0 && context.clock() - begin > scheduler.extra_rounds_until();
    };
    Recorder recorder(run, rows, context, listener);
    for (auto items = scheduler.next(rows); !items.empty(); items = scheduler.next(rows))
        recorder.measure_batch(items, never);
    while (!is_late()) {
        const std::vector<Item> items = scheduler.further(rows);
        if (items.empty()) return;
        recorder.measure_batch(items, is_late);
    }
}

std::vector<Measurement> rows_in(const std::filesystem::path& folder)
{
    return std::filesystem::exists(folder / "measurements.csv") ? read_results(folder).rows
                                                                : std::vector<Measurement>{};
}

}  // namespace

int Session::status() const
{
    constexpr int interrupted_status = 130;
    if (interrupted) return interrupted_status;
    const auto failed = [](const Measurement& row) { return row.status == Status::failed; };
    return std::any_of(rows.begin(), rows.end(), failed) ? 1 : 0;
}

Session measure_all(const Job& job, Context& context, const Listener& listener)
{
    const Machine& machine = context.registry.machine();
    check_items(job.scheduler.written(), context.registry);
    Session session;
    std::vector<Measurement> rows;
    session.folder = job.out.empty() ? choose_folder(context.results, machine, job.plan_text, job.scheduler) : job.out;
    {
        RunDirectory run(session.folder, job.plan_text, machine);
        rows = rows_in(session.folder);
        if (job.opened) job.opened(session.folder, !rows.empty());
        try {
            measure_into(run, job.scheduler, rows, context, listener);
        } catch (const Interrupted&) {
            session.interrupted = true;
        } catch (...) {
            if (listener.ends) listener.ends();
            throw;
        }
    }
    if (listener.ends) listener.ends();
    if (session.interrupted) {
        const std::size_t left = job.scheduler.next(rows).size();
        context.err << fmt::format("interrupted: {} of {} rows are complete in {}\nto continue: {}\n", rows.size(),
                                   rows.size() + left, session.folder.string(), context.command_line);
    } else {
        session.rows = std::move(rows);
    }
    return session;
}

}  // namespace roof
