#include "tests/zoo/calibration.hpp"

#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "ert/method/results/look_file.hpp"
#include "ert/method/results/results.hpp"
#include "tests/zoo/benches.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/session/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace roof::zoo {
namespace {

/// The next world of the machine, after the last look.
const std::shared_ptr<World>& at_next_look(Calibration& calibration, int looks)
{
    calibration.world = std::make_shared<World>(calibration.model, calibration.world.get(), looks);
    return calibration.world;
}

void count(std::size_t rows, Calibration& calibration)
{
    calibration.rows += rows;
    calibration.seconds = std::max(calibration.seconds, static_cast<float>(calibration.world->seconds()));
}

/// The looks that the folder has, as if taken so long before. The commands take no simulated time between them.
void age_looks(const std::filesystem::path& run, const std::filesystem::path& folder, const Machine& machine,
               long long seconds)
{
    const std::filesystem::path home = folder / "results" / machine.name;
    std::map<long long, std::vector<Ceiling>> looks;
    for (const Look& one : looks_at(run, machine).seen) looks[one.time].push_back(one.ceiling);
    std::filesystem::remove(looks_file_of(home, machine));
    for (const auto& [time, ceilings] : looks) {
        const std::filesystem::path gone = folder / fmt::format("gone-{}", time - seconds);
        std::filesystem::create_directories(gone);
        std::filesystem::create_directories(home);
        add_look(gone, home, true, machine, ceilings, time - seconds);
    }
}

}  // namespace

Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder, int looks)
{
    Calibration calibration;
    calibration.model = draw(kind, seed);
    std::filesystem::remove_all(folder);
    for (int look = 0; look < looks; ++look) {
        const std::filesystem::path run = folder / fmt::format("run-{}", look);
        std::ostringstream out;
        std::ostringstream err;
        const auto world = at_next_look(calibration, looks);
        const int status =
            run_command_line({"calibrate", "--out", run.string()}, {.out = out,
                                                                    .err = err,
                                                                    .assemble = [world] { return registry_of(world); },
                                                                    .clock = world->clock().clock(),
                                                                    .terminal = {},
                                                                    .interrupted = [] { return false; },
                                                                    .results = folder / "results"});
        if (calibration.status.value_or(0) == 0) calibration.status = status;
        calibration.out = out.str();
        calibration.err = err.str();
        const Results results = read_results(run);
        count(results.rows.size(), calibration);
        calibration.ceilings = fit_ceilings(results.rows, results.machine, looks_at(run, results.machine).seen);
        if (look + 1 < looks)
            age_looks(run, folder, results.machine, static_cast<long long>(limits::between_looks_seconds));
    }
    std::filesystem::remove_all(folder);
    return calibration;
}

Calibration calibrate_without_command(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder,
                                      int looks, const std::string& plan)
{
    Calibration calibration;
    calibration.model = draw(kind, seed);
    const Machine& machine = calibration.model.machine;
    const std::filesystem::path home = folder / "home";
    for (int look = 0; look < std::max(1, looks); ++look) {
        const BenchRegistry registry = registry_of(at_next_look(calibration, looks));
        const Clock clock = calibration.world->clock().clock();
        const Scheduler scheduler(find_plan(plan), registry);
        std::vector<Measurement> rows;
        const Seconds begin = clock();
        const auto is_past = [&](Seconds time) { return time.value > 0 && clock() - begin > time; };
        const Seconds end = scheduler.end_after();
        for (auto items = scheduler.next(rows); !items.empty() && !is_past(end); items = scheduler.next(rows))
            for (const Item& item : items)
                rows.push_back(item.bench != nullptr && is_past(end) ? skipped(item, "the time of the run was over")
                                                                     : measure(item, registry, clock));
        while (!is_past(scheduler.extra_rounds_until()) && !is_past(end)) {
            const std::vector<Item> items = scheduler.extra_rounds(rows);
            if (items.empty()) break;
            for (const Item& item : items)
                if (!is_past(scheduler.extra_rounds_until())) rows.push_back(measure(item, registry, clock));
        }
        count(rows.size(), calibration);
        if (looks > 0) {
            const std::filesystem::path run = folder / fmt::format("run-{}", look);
            for (const auto& made : {run, home}) std::filesystem::create_directories(made);
            add_look(run, home, true, machine, fit_ceilings(rows, machine).all, static_cast<long long>(begin.value));
        }
        if (look + 1 >= looks)
            calibration.ceilings = fit_ceilings(rows, machine, looks_in({looks_file_of(home, machine)}, machine).seen);
    }
    if (looks > 0) std::filesystem::remove_all(folder);
    return calibration;
}

}  // namespace roof::zoo
