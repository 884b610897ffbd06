#include "tools/roof/session.hpp"

#include "ert/method/measure.hpp"
#include "ert/method/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace roof {
namespace {

std::vector<std::string> ids_of(const std::vector<Item>& items)
{
    std::vector<std::string> ids;
    for (const Item& item : items) ids.push_back(item.id());
    return ids;
}

void measure_into(RunDirectory& run, const Job& job, const Context& context, const Listener& listener)
{
    const SampleObserver observe = [&](const Sample& sample, int launches) {
        if (listener.sample) listener.sample(sample, launches);
        return !context.interrupted();
    };
    for (std::size_t i = 0; i < job.items.size(); ++i) {
        const Item& item = job.items[i];
        if (run.done().contains(item.id())) continue;
        if (context.interrupted()) throw Interrupted();
        if (listener.begins) listener.begins(item, i, job.items.size());
        const Measurement row = measure(item, context.lab, context.clock, observe);
        run.append(row);
        if (listener.row) listener.row(row);
    }
}

std::vector<Measurement> rows_of(const std::filesystem::path& folder, const std::vector<std::string>& ids)
{
    std::unordered_map<std::string, Measurement> by_id;
    for (Measurement& row : read_results(folder).rows) by_id.insert_or_assign(row.id(), std::move(row));
    std::vector<Measurement> rows;
    for (const std::string& id : ids) {
        if (const auto found = by_id.find(id); found != by_id.end()) rows.push_back(found->second);
    }
    return rows;
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
    check_items(job.items, context.lab);
    const std::vector<std::string> ids = ids_of(job.items);
    Session session;
    std::size_t complete = 0;
    session.folder = job.out.empty() ? choose_folder(context.results, machine, job.plan_text, ids) : job.out;
    {
        RunDirectory run(session.folder, job.plan_text, machine);
        try {
            measure_into(run, job, context, listener);
        } catch (const Interrupted&) {
            session.interrupted = true;
        } catch (...) {
            if (listener.ends) listener.ends();
            throw;
        }
        complete = static_cast<std::size_t>(
            std::count_if(ids.begin(), ids.end(), [&](const std::string& id) { return run.done().contains(id); }));
    }
    if (listener.ends) listener.ends();
    if (session.interrupted) {
        context.err << fmt::format("interrupted: {} of {} rows are complete in {}\nto continue: {}\n", complete,
                                   ids.size(), session.folder.string(), context.command_line);
    } else {
        session.rows = rows_of(session.folder, ids);
    }
    return session;
}

}  // namespace roof
