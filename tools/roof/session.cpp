#include "tools/roof/session.hpp"

#include "ert/method/measure.hpp"
#include "ert/method/results.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

/// Measures batch after batch until the agenda has nothing left. `rows`: those the folder holds already; grows.
void measure_into(RunDirectory& run, const Agenda& agenda, std::vector<Measurement>& rows, const Context& context,
                  const Listener& listener)
{
    const SampleObserver observe = [&](const Sample& sample, int launches) {
        if (listener.sample) listener.sample(sample, launches);
        return !context.interrupted();
    };
    for (std::vector<Item> items = agenda.next(rows); !items.empty(); items = agenda.next(rows)) {
        const std::size_t before = rows.size();
        for (const Item& item : items) {
            if (context.interrupted()) throw Interrupted();
            if (listener.begins) listener.begins(item, rows.size(), before + items.size());
            rows.push_back(measure(item, context.lab, context.clock, observe));
            run.append(rows.back());
            if (listener.row) listener.row(rows.back());
        }
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
    const Machine& machine = context.lab.machine();
    check_items(job.agenda.written(), context.lab);
    Session session;
    std::vector<Measurement> rows;
    session.folder = job.out.empty() ? choose_folder(context.results, machine, job.plan_text, job.agenda) : job.out;
    {
        RunDirectory run(session.folder, job.plan_text, machine);
        rows = rows_in(session.folder);
        try {
            measure_into(run, job.agenda, rows, context, listener);
        } catch (const Interrupted&) {
            session.interrupted = true;
        } catch (...) {
            if (listener.ends) listener.ends();
            throw;
        }
    }
    if (listener.ends) listener.ends();
    if (session.interrupted) {
        const std::size_t left = job.agenda.next(rows).size();
        context.err << fmt::format("interrupted: {} of {} rows are complete in {}\nto continue: {}\n", rows.size(),
                                   rows.size() + left, session.folder.string(), context.command_line);
    } else {
        session.rows = std::move(rows);
    }
    return session;
}

}  // namespace roof
