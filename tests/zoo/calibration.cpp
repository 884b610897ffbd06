#include "tests/zoo/calibration.hpp"

#include "ert/method/results/results.hpp"
#include "tests/zoo/benches.hpp"
#include "tools/roof/command_line.hpp"

#include <sstream>

namespace roof::zoo {

Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder)
{
    Calibration calibration{draw(kind, seed), {}, {}, 0, 0, {}, {}};
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

}  // namespace roof::zoo
