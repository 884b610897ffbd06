#include "tools/roof/session/session.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace roof {
namespace {

struct DeviceLost {};

/// A row that cannot be written is told, so that its time is not lost.
void keep(RunDirectory& run, const Measurement& row, const Context& context)
{
    try {
        run.append(row);
    } catch (const Error&) {
        if (row.seconds.median.value > 0)
            context.err << in_window(
                fmt::format("not written: {}  {}\n", printable(row.id()), format_duration(row.seconds.median.value)),
                context.messages);
        throw;
    }
}

/// The row of an item that is not measured: `skipped`, or `unsupported` where it could not be.
Measurement left_out(const Item& item, const std::string& reason, const BenchRegistry& registry)
{
    Measurement row = skipped(item, reason);
    const Machine& machine = registry.machine();
    const std::optional<std::string> why =
        item.bench == nullptr ? std::optional(item.missing)
                              : item.bench->unsupported_reason(item.point, machine, device_for(machine, item.device));
    if (!why) return row;
    row.status = Status::unsupported;
    row.reason = *why;
    return row;
}

/// A step that others than this process can measure again within its budget is measured by so many processes; another
/// item by this one.
Measurement measured(Item item, const Context& context, const SampleObserver& observe, const RunDirectory& run,
                     bool* is_lost)
{
    StoppingOptions& stopping = item.stopping;
    const bool is_alone = item.bench != nullptr && item.bench->role() == Role::step &&
                          item.bench->time_known() == Known::measured && item.point.text_or("ranks", "1") == "1" &&
                          item.profile == Profiling::off && stopping.sustain.value == 0;
    if (!is_alone || !context.measured_anew || stopping.warmup == 0) stopping.processes = 1;
    stopping.processes = most_processes(stopping);
    const auto measured_again =
        stopping.processes > 1 ? context.measured_anew(item) : std::function<std::optional<Measurement>()>{};
    std::vector<Measurement> rows{measure(item, context.registry, context.clock, observe, run.folder(), is_lost)};
    const auto last_warmup = static_cast<std::size_t>(stopping.warmup - 1);
    if (stopping.processes == 1 || rows[0].status != Status::ok ||
        !has_several_processes(stopping, rows[0].samples.at(last_warmup).seconds))
        return rows[0];
    const bool is_looked_at = stopping.max_noise > 0;
    const Seconds most = is_looked_at ? stopping.budget : std::min(stopping.budget, Seconds{10});
    const Seconds begin = context.clock();
    for (Seconds last{}; !has_enough_processes(rows, stopping);) {
        const Seconds so_far = context.clock() - begin;
        if (so_far + last > most) break;
        const std::optional<Measurement> row = measured_again();
        if (!row || row->parts.size() != rows[0].parts.size()) break;
        rows.push_back(*row);
        last = context.clock() - begin - so_far;
    }
    return over_processes(rows, is_looked_at);
}

/// Measures all items of the scheduler, then extra rounds of unsteady rows until the plan's time is over. After its
/// end, items are skipped. Appends to `rows`, the rows of the folder. Throws Interrupted, and DeviceLost after a row
/// that lost its device.
void measure_into(RunDirectory& run, const Scheduler& scheduler, std::vector<Measurement>& rows, const Context& context,
                  const Listener& listener)
{
    const Seconds begin = context.clock();
    const Seconds limit = scheduler.extra_rounds_until();
    const Seconds end = scheduler.end_after();
    const auto is_past = [&](Seconds time) { return time.value > 0 && context.clock() - begin > time; };
    const std::string over = fmt::format("the time of the run, {}, was over", format_duration(end.value));
    const auto observe = [&](const Sample& sample, int launches) {
        if (listener.sample) listener.sample(sample, launches);
        return !context.interrupted();
    };
    const auto measure_batch = [&](const std::vector<Item>& items, bool is_extra) {
        const std::size_t total = rows.size() + std::max(items.size(), scheduler.left(rows).size());
        for (const Item& item : items) {
            if (context.interrupted()) throw Interrupted();
            if (is_extra && is_past(limit)) return;
            if (listener.begins) listener.begins(item, rows.size(), total);
            bool is_lost = false;
            run.check_lock();
            rows.push_back(is_past(end) ? left_out(item, over, context.registry)
                                        : measured(item, context, observe, run, &is_lost));
            keep(run, rows.back(), context);
            if (listener.row) listener.row(rows.back());
            if (is_lost && context.start_again) throw DeviceLost();
        }
    };
    for (auto items = scheduler.next(rows); !items.empty(); items = scheduler.next(rows)) {
        measure_batch(items, false);
        if (is_past(end)) return measure_batch(scheduler.left(rows), false);
    }
    while (!is_past(limit)) {
        const std::vector<Item> items = scheduler.extra_rounds(rows);
        if (items.empty()) return;
        measure_batch(items, true);
    }
}

/// The folder that was named, or the one to continue; else one to which no other process writes.
std::unique_ptr<RunDirectory> open_folder(const Job& job, const Machine& machine, const Context& context)
{
    if (!job.out.empty()) return std::make_unique<RunDirectory>(job.out, job.plan_text, machine);
    if (job.continues)
        return std::make_unique<RunDirectory>(folder_to_continue(context.results, machine, job.plan_text),
                                              job.plan_text, machine);
    for (std::set<std::filesystem::path> in_use;;) {
        const auto folder = choose_folder(context.results, machine, job.plan_text, job.scheduler, in_use);
        try {
            auto run = std::make_unique<RunDirectory>(folder, job.plan_text, machine);
            // Another process may have completed it since.
            if (run->rows().empty() || !job.scheduler.next(run->rows()).empty()) return run;
        } catch (const InUse&) {
        }
        in_use.insert(folder);
    }
}

}  // namespace

Machine machine_named(const std::string& node, const Context& context)
{
    Machine machine = context.registry.machine();
    if (node.empty()) return machine;
    std::vector<std::string> nodes = rank_nodes(machine);
    std::ranges::replace(nodes, std::string(machine.node), node_name(node));
    if (!nodes.empty()) set_rank_nodes(machine, nodes);
    machine.node = node_name(node);
    machine.host.clear();  // several of these names may be given on one host
    return machine;
}

int Session::status() const
{
    constexpr int interrupted_status = 130;
    if (interrupted) return interrupted_status;
    const auto left_out = [](const Measurement& row) {
        return row.status == Status::unsupported || row.status == Status::skipped;
    };
    const auto failed = [](const Measurement& row) {
        return row.status == Status::failed || row.status == Status::diverged;
    };
    constexpr int measured_nothing = 2;
    if (!rows.empty() && std::ranges::all_of(rows, left_out)) return measured_nothing;
    return std::ranges::any_of(rows, failed) ? 1 : 0;
}

Session measure_all(const Job& job, Context& context, const Listener& listener)
{
    const Machine machine = machine_named(job.node, context);
    check_items(job.scheduler.planned(), context.registry);
    Session session;
    std::vector<Measurement> rows;
    bool is_lost = false;
    if (job.out.empty()) say_where_results_are(context);
    {
        const std::unique_ptr<RunDirectory> opened = open_folder(job, machine, context);
        RunDirectory& run = *opened;
        session.folder = run.folder();
        say_lacks(run.folder(), context);
        rows = run.rows();
        if (job.opened) job.opened(session.folder, !rows.empty());
        if (job.continues) std::erase_if(rows, [](const Measurement& row) { return row.status == Status::skipped; });
        const std::size_t before = rows.size();
        const Seconds begin = context.clock();
        const InterruptGuard guard;
        try {
            if (job.elsewhere) {
                auto others = job.elsewhere(session.folder, rows);
                if (!others) throw Interrupted();
                for (Measurement& row : *others) {
                    run.append(row);
                    rows.push_back(std::move(row));
                }
            }
            measure_into(run, job.scheduler, rows, context, listener);
            const auto measured = std::count_if(rows.begin() + static_cast<std::ptrdiff_t>(before), rows.end(),
                                                [](const Measurement& row) { return row.status != Status::skipped; });
            if (measured > 0) session.seconds_per_row = (context.clock() - begin) / static_cast<double>(measured);
        } catch (const Interrupted&) {
            session.interrupted = true;
        } catch (const DeviceLost&) {
            is_lost = true;
        } catch (...) {
            if (listener.ends) listener.ends();
            throw;
        }
        if (listener.ends) listener.ends();
        run.close();
    }
    if (is_lost) {
        context.err << fmt::format("{} had a fault; a new process measures what is left\n", rows.back().device);
        context.start_again();
        throw Error("the new process could not be started; to continue: " + context.command_line);
    }
    if (session.interrupted) {
        const std::size_t left = std::max(job.scheduler.next(rows).size(), job.scheduler.left(rows).size());
        context.err << fmt::format("interrupted: {} of {} rows {} complete in {}\nto continue: {}\n", rows.size(),
                                   rows.size() + left, rows.size() == 1 ? "is" : "are", session.folder.string(),
                                   context.command_line);
        for (const Item& item : job.scheduler.left(rows))
            rows.push_back(left_out(item, "interrupted", context.registry));
    }
    session.rows = std::move(rows);
    return session;
}

}  // namespace roof
