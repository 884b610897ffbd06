#include "tests/zoo/calibration.hpp"

#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "ert/method/results/results.hpp"
#include "tests/zoo/benches.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/session/plans.hpp"

#include <sstream>

namespace roof::zoo {

Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder)
{
    Calibration calibration;
    calibration.model = draw(kind, seed);
    std::filesystem::remove_all(folder);
    const std::filesystem::path run = folder / "run";
    std::ostringstream out;
    std::ostringstream err;
    {
        const auto world = std::make_shared<World>(calibration.model);
        calibration.world = world;
        calibration.status =
            run_command_line({"calibrate", "--out", run.string()}, {.out = out,
                                                                    .err = err,
                                                                    .assemble = [world] { return registry_of(world); },
                                                                    .clock = world->clock().clock(),
                                                                    .terminal = {},
                                                                    .interrupted = [] { return false; },
                                                                    .results = folder / "results"});
    }
    calibration.out = out.str();
    calibration.err = err.str();
    const Results results = read_results(run);
    calibration.rows = results.rows.size();
    calibration.ceilings = fit_ceilings(results.rows, results.machine);
    std::filesystem::remove_all(folder);
    return calibration;
}

Calibration calibrate_without_files(const Kind& kind, std::uint64_t seed, const std::string& plan)
{
    Calibration calibration;
    calibration.model = draw(kind, seed);
    calibration.world = std::make_shared<World>(calibration.model);
    const BenchRegistry registry = registry_of(calibration.world);
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
    calibration.rows = rows.size();
    calibration.ceilings = fit_ceilings(rows, registry.machine());
    return calibration;
}

}  // namespace roof::zoo
