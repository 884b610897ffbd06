// Draws a machine of a kind by its seed, within the limits.
#include "cpu/kernels/forms.hpp"
#include "ert/method/bench/level.hpp"
#include "tests/zoo/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace roof::zoo {
namespace {

Edges form_of(const Kind& kind, Random& random)
{
    constexpr Edges forms[]{Edges::sharp, Edges::ramp, Edges::tail, Edges::lead, Edges::pages};
    return kind.edges == Edges::mixed ? forms[random.bits() % std::size(forms)] : kind.edges;
}

/// Whether every level serves an octave of sets alone, with one thread and with all.
bool is_within_limits(const Model& model)
{
    const bool is_large = model.kind->has_large_last_cache;
    const Range last_edges = is_large ? limits::large_last_edge : limits::last_edge;
    for (const int threads : {1, model.cores}) {
        double from = limits::first_sweep_bytes;
        double last_edge = 0;
        for (std::size_t i = 0; i < model.caches.size(); ++i) {
            const int instances = model.instances(i, threads);
            if (std::log2(model.caches[i].first_bytes() * instances / from) < limits::served_alone_octaves)
                return false;
            from = model.caches[i].last_bytes() * instances;
            const double ratio = model.edge(i, threads) / last_edge;
            if (last_edge > 0 && (ratio < limits::size_ratio.low || ratio > limits::size_ratio.high)) return false;
            last_edge = model.edge(i, threads);
        }
        if ((from > limits::last_cache_most_bytes && !is_large) || last_edge > last_edges.high) return false;
    }
    return model.edge(model.caches.size() - 1, model.cores) >= last_edges.low;
}

void draw_caches(Model& model, Random& random)
{
    constexpr int core_counts[]{1, 2, 2, 2, 2, 2, 4, 4, 8};
    constexpr int least_of_two_kinds = 2;
    do {
        model.cores = core_counts[random.bits() % std::size(core_counts)];
        if (model.kind->cores != Cores::alike) model.cores = std::max(model.cores, least_of_two_kinds);
        const auto count = static_cast<std::size_t>(limits::caches.low + std::floor(random.uniform() * 3));
        model.caches.clear();
        double bytes = random.ratio(limits::first_cache);
        const bool shares_last = random.chance(0.8);
        const bool shares_two = random.chance(0.15);
        for (std::size_t i = 0; i < count; ++i) {
            Cache& cache = model.caches.emplace_back();
            cache.bytes = bytes;
            cache.form = form_of(*model.kind, random);
            cache.octaves = cache.form == Edges::sharp
                                ? limits::sharp_octaves
                                : std::max(limits::sharp_octaves, random.within(limits::spread_octaves));
            cache.is_shared = i > 0 && ((shares_last && i + 1 == count) || (shares_two && i + 2 >= count && i > 1));
            bytes *= random.ratio(limits::size_ratio);
        }
    } while (!is_within_limits(model));
}

double lower(double rate, double ratio)
{
    return rate / std::clamp(ratio, limits::rate_ratio.low, limits::rate_ratio.high);
}

void draw_rates(Model& model, Random& random)
{
    model.hertz = random.within(limits::clock_ghz) * 1e9;
    model.slow_core = random.within(limits::slow_core);
    constexpr double bytes_per_clock[]{32, 64, 64, 128};
    const double load = bytes_per_clock[random.bits() % std::size(bytes_per_clock)] * model.hertz;
    model.allocates_on_write = random.chance(0.8);
    Supply one;
    Supply all;
    // How far the cores' demand exceeds what a shared level gives, over all shared levels at most the number of cores.
    double crowd = 1;
    double most_ratio = 1;  // of an operation, from the first to the second level
    const auto crowded = [&](double ratio) {
        const double most = std::min(model.cores / crowd, limits::rate_ratio.high / ratio);
        const double more = random.within({1, std::max(1.0, most)});
        crowd *= more;
        return more;
    };
    const double cores_rate = (model.core_rate(0) + model.core_rate(1)) / 2;
    for (std::size_t level = 1; level < model.levels(); ++level) {
        const double read_ratio = random.ratio(limits::rate_ratio);
        const double write_ratio = random.ratio(limits::rate_ratio);
        if (level == 1) {
            one.read = lower(load, read_ratio);
            one.write = one.read * random.within({0.5, 1});
            all = {one.read * model.cores, one.write * model.cores};
            // The ratios of the operations are drawn around that of the loads.
            for (const ArrayOperation& stream : usual_array_operations()) {
                if (stream.nontemporal) continue;
                const Traffic traffic = traffic_of(std::string(stream.name), model.allocates_on_write);
                const double next = traffic.counted / (traffic.in / one.read + traffic.out / one.write);
                const double ratio = stream.only_reads() ? read_ratio : read_ratio * random.ratio({0.7, 1.4});
                const double within = std::clamp(ratio, limits::rate_ratio.low, limits::rate_ratio.high);
                model.first[std::string(stream.name)] = next * within;
                most_ratio = std::max(most_ratio, within);
            }
        } else {
            one = {lower(one.read, read_ratio), lower(one.write, write_ratio)};
        }
        if (level == 1 || model.is_private(level)) {
            all = {one.read * model.cores, one.write * model.cores};
            if (!model.is_private(level)) {
                const double more = crowded(most_ratio);
                all = {std::max(one.read, all.read * cores_rate / more),
                       std::max(one.write, all.write * cores_rate / more)};
            }
        } else {
            const double slower = model.is_private(level - 1) ? cores_rate : 1;
            const double more = crowded(1);
            all = {std::max(one.read, lower(all.read * slower, read_ratio * more)),
                   std::max(one.write, lower(all.write * slower, write_ratio * more))};
        }
        model.alone.push_back(one);
        model.together.push_back(all);
    }
    const double faster = random.within({1, 1.5});
    model.nontemporal = one.write * faster;
    model.nontemporal_together = all.write * faster;
    model.small_pages = random.within({0.95, 1});
}

void draw_latencies(Model& model, Random& random)
{
    do {
        model.latency = {random.within(limits::first_latency_clocks) / model.hertz};
        while (model.latency.size() < model.levels())
            model.latency.push_back(model.latency.back() * random.ratio(limits::latency_ratio));
    } while (model.latency.back() < limits::memory_latency_ns.low * 1e-9 ||
             model.latency.back() > limits::memory_latency_ns.high * 1e-9);
}

void draw_arithmetic(Model& model, Random& random)
{
    const double adds = random.chance(0.5) ? 2 : 1;
    model.flops_per_lane = {{"fma", 4},
                            {"mul+add", 2 * adds},
                            {"add", random.chance(0.3) ? 1 : 2},
                            {"best", 4 + 2 * (adds - 1)},
                            {"div", 0.25},
                            {"sqrt", 0.17},
                            {"dot", 8},
                            {"widened", 3}};
    model.widest_lanes = random.chance(0.4) ? 0.5 : 1;
    if (model.kind->has_wide_vectors) model.wide_clock = random.within(limits::wide_clock);
}

void draw_noise(Model& model, Random& random)
{
    model.noise_near = random.ratio(limits::noise_near);
    model.noise_shared = random.ratio(limits::noise_shared);
    model.noise_memory = random.ratio(limits::noise_memory);
    model.round_noise_shared = random.within(limits::round_noise_shared);
    model.round_noise_memory = random.within(limits::round_noise_memory);
    model.slow_rows = random.within(limits::slow_rows);
    model.marked_by_chance = random.within(limits::marked_by_chance);
}

void draw_time(Model& model, Random& random)
{
    const Kind& kind = *model.kind;
    model.duty = random.within(kind.duty);
    model.burst = kind.burst.low > 0 ? random.ratio(kind.burst) : 0;
    model.sibling_takes = random.within(limits::sibling_takes);
    model.second_rate_takes = random.within(limits::second_rate_takes);
    model.second_rate_of_cache = random.chance(0.5);
    if (kind.source == Source::quota) model.quota = random.within(limits::quota) * model.cores;
    if (kind.clocks == Clocks::steps) {
        model.clock_step = random.within(limits::clock_step);
        model.clock_step_seconds = random.ratio(limits::clock_step_seconds);
        model.clock_step_duty = random.within({0.1, 0.9});
    }
    if (kind.clocks == Clocks::drifts) {
        model.clock_drift = random.within(limits::clock_drift);
        model.clock_drift_seconds = random.ratio(limits::clock_drift_seconds);
        model.clock_drift_phase = random.uniform();
    }
    if (kind.clocks == Clocks::misread) model.misread_rows = random.within(limits::misread_rows);
    model.shared_follows_clock = random.chance(0.5);
}

void draw_events(Model& model, Random& random)
{
    const Kind& kind = *model.kind;
    model.change_at = random.within(kind.change == Change::leaves ? limits::leaves_at : limits::throttled_at);
    if (kind.change == Change::throttle || kind.change == Change::memory_throttle)
        model.changes_by = random.within(limits::throttled_to);
    if (kind.change == Change::leaves) model.changes_by = 1 - random.within(limits::bus_takes);
    if (kind.change == Change::turbo) model.changes_by = random.within(limits::turbo);
    if (kind.change == Change::migration) {
        model.changes_by = random.ratio(limits::migrates_to);
        model.changes_clock = random.within(limits::migrates_clock);
    }
    if (kind.change == Change::bucket) {
        model.bucket = random.within(limits::bucket_seconds);
        model.changes_by = random.within(limits::bucket_rate);
    }
    if (kind.luck == Luck::pages)
        model.round_noise_shared = model.round_noise_memory = random.within(limits::luck_of_pages);
    if (kind.luck == Luck::loops) model.slow_loops = random.within(limits::slow_loops);
    model.change_in = random.uniform();
    if (kind.ramps_clock) {
        model.rested_clock = random.within(limits::rested_clock);
        model.clock_rises = random.ratio(limits::clock_rises_seconds);
    }
    if (kind.shrinks_cache) model.cache_held = random.within(limits::cache_held);
}

void draw_guide(Model& model, Device& device, Random& random)
{
    const Guide guide = model.kind->guide;
    if (guide == Guide::none) return;
    const auto wrong = [&] {
        if (guide == Guide::low) return 1 - limits::guide_wrong_by;
        return guide == Guide::off ? 1 + limits::guide_wrong_by * (2 * random.uniform() - 1) : 1;
    };
    const auto add = [&](const char* kind, const std::string& level, const std::string& operation,
                         const std::string& isa, const std::string& precision, double per_second) {
        device.spec_rates.push_back(
            {kind, level, operation, isa, precision, per_second / model.hertz * wrong(), "A guide of the zoo"});
    };
    for (const char* const operation : {"load", "store", "copy", "update", "triad"})
        for (std::size_t level = 0; level < 2; ++level)
            if (model.is_private(level))
                add("bandwidth", cache_level(level + 1), operation, "", "", model.bandwidth(level, operation, 1));
    for (const std::string& isa : model.machine.isa)
        for (const char* const precision : {"fp64", "fp32"})
            for (const char* const operation : {"best", "fma", "mul+add", "add"})
                add("compute", "core", operation, isa, precision,
                    model.flops(operation, isa, precision) / (isa == "avx512" ? model.wide_clock : 1));
}

void report(Model& model, Random& random)
{
    constexpr double memory = 64e9;
    Machine& machine = model.machine;
    machine.name = "zoo";
    machine.node = "zoo-1";
    machine.cpu_model = "Zoo";
    machine.vendor = "Zoo";
    machine.smt = model.threads_of_reported_core();
    machine.cores = model.cores * model.threads_of_core() / machine.smt;
    machine.threads = machine.cores * machine.smt;
    machine.isa = {"scalar", "avx2"};
    machine.features = {"fma"};
    if (model.kind->has_wide_vectors) {
        machine.isa = {"scalar", "sse", "avx2", "avx512"};
        machine.features = {"fma", "avx512_vnni", "avx512_bf16"};
    }
    machine.versions["revision"] = "zoo";
    Device device;
    device.name = device.kind = "cpu";
    device.model = machine.cpu_model;
    device.memory = device.memory_available = Bytes{memory};
    for (std::size_t i = 0; i < model.caches.size() && model.kind->reports != Reports::missing; ++i) {
        const bool is_shared = model.caches[i].is_shared;
        double bytes = model.caches[i].bytes;
        if (model.kind->reports == Reports::wrong && random.chance(0.7)) {
            const double factor = random.ratio(limits::report_wrong_by);
            bytes *= random.chance(0.5) ? factor : 1 / factor;
        }
        device.levels.push_back({cache_level(i + 1), Bytes{std::round(bytes / 4096) * 4096},
                                 is_shared ? 1 : machine.cores, is_shared ? machine.threads : machine.smt});
    }
    device.levels.push_back({std::string(memory_level), device.memory, 1, machine.threads});
    draw_guide(model, device, random);
    machine.devices = {device};
}

}  // namespace

Model draw(const Kind& kind, std::uint64_t seed)
{
    Model model;
    model.kind = &kind;
    model.seed = seed;
    Random random(seed);
    draw_caches(model, random);
    draw_rates(model, random);
    draw_latencies(model, random);
    draw_arithmetic(model, random);
    draw_noise(model, random);
    draw_time(model, random);
    draw_events(model, random);
    report(model, random);
    return model;
}

}  // namespace roof::zoo
