#include "tools/roof/programs/simulated_caches.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {

std::string SimulatedCache::option() const
{
    return fmt::format("{},{},{}", bytes, ways, line);
}

SimulatedCache simulated_cache(Bytes capacity)
{
    constexpr std::size_t least_ways = 8, most_ways = 64;
    const auto lines = std::max(static_cast<std::size_t>(capacity.value) / SimulatedCache::line, least_ways);
    std::size_t sets = 1;
    while (lines % (2 * sets) == 0 && lines / (2 * sets) >= least_ways) sets *= 2;
    while (lines / sets > most_ways) sets *= 2;
    const std::size_t ways = lines / sets;
    return {sets * ways * SimulatedCache::line, ways};
}

std::vector<std::string> SimulatedCaches::options() const
{
    return {"--cache-sim=yes", "--D1=" + first.option(), "--LL=" + last.option()};
}

std::string SimulatedCaches::text() const
{
    const auto one = [](const SimulatedCache& cache) {
        return fmt::format("{} with {} ways", format_capacity(static_cast<double>(cache.bytes)), cache.ways);
    };
    return one(first) + " and " + one(last);
}

SimulatedCaches simulated_caches(const Machine& machine)
{
    Bytes first{32768}, last{1048576};
    for (const MemoryLevel& level : machine.device("cpu").levels) {
        if (level.capacity.value <= 0 || level.name == "DRAM") continue;
        if (level.name == "L1") first = level.capacity;
        last = std::max(last, level.capacity);
    }
    return {simulated_cache(first), simulated_cache(last)};
}

}  // namespace roof
