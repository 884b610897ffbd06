#include "tests/zoo/model.hpp"

#include "cpu/kernels/forms.hpp"
#include "ert/base/precision.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <cmath>

namespace roof::zoo {
namespace {

/// Where in its octaves an edge has half of its lines beyond.
double middle_of(Edges form)
{
    const double cube_root = std::cbrt(0.5);
    if (form == Edges::tail) return 1 - cube_root;
    if (form == Edges::lead) return cube_root;
    return 0.5;
}

double bytes_of_registers(const std::string& isa)
{
    return isa == "avx512" ? 64 : isa == "avx2" ? 32 : isa == "sse" ? 16 : 0;
}

}  // namespace

Traffic traffic_of(const std::string& operation, bool allocates)
{
    const ArrayOperation stream = parse_array_operation(operation);
    Traffic traffic;
    traffic.counted = stream.moves();
    traffic.in = stream.loads();
    if (stream.nontemporal)
        traffic.bypass = stream.stores;
    else
        traffic.out = stream.stores;
    if (allocates && stream.stores > 0 && !stream.in_place && !stream.nontemporal) traffic.in += stream.stores;
    return traffic;
}

double Cache::first_bytes() const
{
    return bytes * std::exp2(-middle_of(form) * octaves);
}

double Cache::last_bytes() const
{
    return first_bytes() * std::exp2(octaves);
}

double Cache::beyond(double set, int instances, double luck) const
{
    const bool is_of_pages = form == Edges::pages;
    const double width = is_of_pages ? limits::sharp_octaves : octaves;
    const double middle =
        is_of_pages ? std::log2(bytes) + (luck - 0.5) * (octaves - limits::sharp_octaves) : std::log2(bytes);
    const double x = std::clamp((std::log2(set / instances) - middle) / width + middle_of(form), 0.0, 1.0);
    if (form == Edges::tail) return 1 - (1 - x) * (1 - x) * (1 - x);
    return form == Edges::lead ? x * x * x : x;
}

Parts& Parts::operator+=(const Parts& other)
{
    core += other.core;
    shared += other.shared;
    memory += other.memory;
    return *this;
}

std::string Model::level_name(std::size_t level) const
{
    return level < caches.size() ? cache_level(level + 1) : std::string(memory_level);
}

std::vector<double> Model::served(double set, int threads, double luck, double held) const
{
    std::vector<double> shares;
    double left = 1;
    for (std::size_t i = 0; i < caches.size(); ++i) {
        const double beyond =
            std::min(left, caches[i].beyond(i + 1 == caches.size() ? set / held : set, instances(i, threads), luck));
        shares.push_back(left - beyond);
        left = beyond;
    }
    shares.push_back(left);
    return shares;
}

Parts Model::byte_from(std::size_t level, const std::string& operation, int threads) const
{
    const Traffic traffic = traffic_of(operation, allocates_on_write);
    const int busy = std::min(threads, cores);  // threads of one core divide its rate
    const double of_core = static_cast<double>(threads) / busy;
    const bool is_alone = threads == 1;
    Parts parts;
    if (level == 0 && traffic.bypass == 0) {
        parts.core = of_core / first.find(operation)->second;
    } else if (level == 0) {
        parts.core = traffic.in / traffic.counted / first.find("load")->second * of_core;
    } else {
        const Supply& supply = is_alone ? alone[level - 1] : together[level - 1];
        const double sharers = is_alone ? 1 : threads;
        const double seconds = sharers * (traffic.in / supply.read + traffic.out / supply.write) / traffic.counted;
        (is_private(level) ? parts.core : level < caches.size() ? parts.shared : parts.memory) = seconds;
    }
    if (traffic.bypass > 0)
        parts.memory +=
            traffic.bypass / traffic.counted * (is_alone ? 1 / nontemporal : threads / nontemporal_together);
    return parts;
}

Parts Model::byte_of(double set, const std::string& operation, int threads, double luck, double held) const
{
    Parts parts;
    const std::vector<double> shares = served(set, threads, luck, held);
    for (std::size_t level = 0; level < shares.size(); ++level)
        if (shares[level] > 0) parts += byte_from(level, operation, threads) * shares[level];
    return parts;
}

Parts Model::chase_from(std::size_t level) const
{
    Parts parts;
    (is_private(level) ? parts.core : level < caches.size() ? parts.shared : parts.memory) = latency[level];
    return parts;
}

Parts Model::chase_of(double set, double luck, double held) const
{
    Parts parts;
    const std::vector<double> shares = served(set, 1, luck, held);
    for (std::size_t level = 0; level < shares.size(); ++level) parts += chase_from(level) * shares[level];
    return parts;
}

double Model::flops(const std::string& operation, const std::string& isa, const std::string& precision) const
{
    const auto size = static_cast<double>(traits(parse_precision(precision)).storage_bytes);
    const double registers = bytes_of_registers(isa);
    const double lanes = std::max(1.0, registers / size) * (isa == "avx512" ? widest_lanes : 1);
    const auto found = flops_per_lane.find(operation);
    return (found == flops_per_lane.end() ? 1 : found->second) * lanes * hertz * (isa == "avx512" ? wide_clock : 1);
}

double Model::bandwidth(std::size_t level, const std::string& operation, int threads) const
{
    const Parts byte = byte_from(level, operation, threads);
    if (byte.shared > 0 || byte.memory > 0) {
        double slowest = 0;  // all threads move the same number of bytes, and the last one ends the launch
        for (int thread = 0; thread < threads; ++thread)
            slowest = std::max(slowest, byte.core / core_rate(thread) + byte.shared + byte.memory);
        return threads / slowest;
    }
    double rate = 0;
    for (int thread = 0; thread < threads; ++thread) rate += core_rate(thread) / byte.core;
    return rate;
}

double Model::arithmetic(const std::string& operation, const std::string& isa, const std::string& precision,
                         int threads, bool packs_cores) const
{
    const double one = flops(operation, isa, precision);
    if (packs_cores) return one * ((threads + threads_of_core() - 1) / threads_of_core());
    double rate = 0;
    for (int core = 0; core < std::min(threads, cores); ++core) rate += one * core_rate(core);
    return rate;
}

bool Model::follows_clock(std::size_t level) const
{
    return level < caches.size() && (!caches[level].is_shared || shared_follows_clock);
}

}  // namespace roof::zoo
