#include "tools/roof/session/session.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/looks.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/look_file.hpp"

#include <algorithm>
#include <ctime>

namespace roof {
namespace {

constexpr double most_seconds = 0.3;
constexpr double most_of_run = 0.01;
constexpr double making = 0.1;            ///< seconds of a round: to choose the loop and to launch it
constexpr double bytes_per_second = 1e9;  ///< of a set: to make it and to launch on it

void keep(const Session& session, bool is_home, const Machine& machine, const std::vector<Ceiling>& ceilings,
          long long time, Context& context)
try {
    add_look(session.folder, context.results / machine.name, is_home, machine, ceilings, time);
} catch (const Error& error) {
    context.err << "roof: the look at the ceilings is not kept: " << printable(error.what()) << '\n';
}

/// The roofs, first those that are not steady, of these and of the others those with the fewest looks.
std::vector<Ceiling> roofs_in_turn(const std::vector<Look>& seen, const Machine& machine)
{
    const Ceilings known = fit_ceilings({}, machine, seen);
    std::vector<Ceiling> open;
    for (const Ceiling& c : known.all) {
        const std::string& name = c.kind == Role::compute ? c.precision : c.level;
        if (c.device != "cpu" || c.kind == Role::latency) continue;
        if (const auto roof = known.roof(c.kind, c.device, name, c.threads); roof && is_same_ceiling(*roof, c))
            open.push_back(c);
    }
    std::ranges::stable_sort(open, {},
                             [](const Ceiling& c) { return std::pair(c.steadiness == Steadiness::steady, c.times); });
    return open;
}

/// The point of a ceiling, "bench device axis=value …", with the stopping rule of calibrations.
Item item_of(const Ceiling& ceiling, const BenchRegistry& registry)
{
    const std::vector<std::string> words = split(ceiling.point, ' ');
    Item item;
    item.bench_name = words.front();
    item.device = ceiling.device;
    item.bench = registry.find(item.bench_name, kind_of_device(item.device));
    item.role = ceiling.kind;
    for (const std::string& word : words)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            item.point.set(word.substr(0, equals), word.substr(equals + 1));
    item.stopping = {.warmup = 1, .min_samples = 5, .max_samples = 9, .interval = 0.004, .budget = {0.01}};
    return item;
}

}  // namespace

Ceilings ceilings_of_looks(const Session& session, const std::filesystem::path& out, const Machine& machine,
                           Context& context)
{
    const Ceilings alone = fit_ceilings(session.rows, machine);
    const auto start = session.rows.empty() ? std::nullopt : utc_seconds(session.rows.front().started);
    keep(session, out.empty(), machine, alone.all, start.value_or(std::time(nullptr)), context);
    return fit_ceilings(session.rows, machine, looks_at(session.folder, machine).seen);
}

void look_again(const Session& session, Seconds took, const Machine& machine, Context& context)
{
    const Looks looks = looks_in({looks_file_of(context.results / machine.name, machine)}, machine);
    std::vector<Ceiling> seen;
    const long long now = std::time(nullptr);
    const double budget = std::min(most_seconds, most_of_run * took.value);
    const bool is_of_cpu = std::ranges::all_of(
        session.rows, [](const Measurement& row) { return row.device == "cpu" && row.ranks() < 2; });
    if (is_of_cpu && static_cast<double>(now - looks.newest()) >= looks_apart.value) {
        const Seconds begin = context.clock();
        for (Ceiling& roof : roofs_in_turn(looks.seen, machine)) {
            const double expected = making + roof.working_set.value / bytes_per_second;
            const Item item = item_of(roof, context.registry);
            if ((context.clock() - begin).value + expected > budget || context.interrupted() || item.bench == nullptr)
                continue;
            const Measurement row = measure(item, context.registry, context.clock);
            roof.samples = summarize_points({&row, 1}).front().samples;
            roof.per_clock_compared = false;
            take_rate(sustained_rate(roof.samples, tolerance_of(roof.level)), roof);
            seen.push_back(std::move(roof));
        }
    }
    keep(session, false, machine, seen, now, context);
}

}  // namespace roof
