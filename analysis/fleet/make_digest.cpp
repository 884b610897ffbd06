// Digests of runs: which rates a fleet is judged by, and in which order.
#include "analysis/estimate/network_fit.hpp"
#include "analysis/estimate/prediction.hpp"
#include "analysis/fleet/digest.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/compared/compare.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/compressed.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace roof::analysis {
namespace {

constexpr std::size_t longest_word = 200;
constexpr std::size_t longest_plain = 10'000;  ///< bytes; a longer digest is compressed
constexpr std::size_t fewest_twins = 3;

std::map<std::string, std::string> facts_of(const Machine& machine)
{
    std::map<std::string, std::string> facts;
    const auto add = [&](const std::string& name, const std::string& text) {
        if (!text.empty()) facts[name] = shortened(printable(text), longest_word);
    };
    for (const char* part : {"BIOS", "microcode", "kernel", "NVIDIA driver"}) add(part, version_of(machine, part));
    add("governor", machine.governor);
    if (const Device* const cpu = machine.find_device("cpu")) add("memory", format_capacity(cpu->memory.value));
    return facts;
}

DigestRate rate_of(const Ceiling& ceiling, const Machine& machine)
{
    const bool is_bound = ceiling.steadiness == Steadiness::at_least;
    DigestRate rate{.name = shortened(printable(id_of(ceiling)), longest_word),
                    .unit = std::string(ceiling.unit()),
                    .state = std::string(name(ceiling.steadiness)),
                    .value = ceiling.rate.median.value,
                    .low = ceiling.rate.low.value,
                    .high = is_bound ? HUGE_VAL : ceiling.rate.high.value,
                    .n = ceiling.rate.n,
                    .rounds = ceiling.rounds_of_interval()};
    if (const auto share = share_of_spec(ceiling, machine); share && *share > 0) rate.spec = rate.value / *share;
    return rate;
}

/// The order of a digest, by what a fault of the rate costs a training step: memory and caches with all threads,
/// arithmetic with all threads, latencies, what has a condition (paths to the host, small pages, other NUMA nodes),
/// part of the threads.
int rank_of(const Ceiling& ceiling, const Ceilings& all)
{
    if (ceiling.kind == Role::latency) return 2;
    if (!ceiling.condition.empty()) return 3;
    if (ceiling.threads != all.most_threads(ceiling.device)) return 4;
    return ceiling.kind == Role::bandwidth ? 0 : 1;
}

/// Vector arithmetic of a CPU: its rates with one instruction set and number of threads differ by whole factors and
/// share their faults.
bool is_twin(const Ceiling& ceiling)
{
    constexpr std::array<std::string_view, 4> operations{"best", "fma", "mul+add", "add"};
    return ceiling.device == "cpu" && ceiling.kind == Role::compute && ceiling.condition.empty() &&
           (ceiling.precision == "fp32" || ceiling.precision == "fp64") &&
           std::ranges::find(operations, ceiling.operation) != operations.end();
}

std::string mean_name(Ceiling ceiling, std::size_t count)
{
    ceiling.operation = fmt::format("mean of {}", count);
    ceiling.precision.clear();
    return id_of(ceiling);
}

/// The geometric mean. Its relative half-width is the mean of theirs, which holds however their errors go together. It
/// is a lower bound if one of them is.
DigestRate mean_of(const std::vector<const Ceiling*>& twins, const Machine& machine)
{
    std::vector<DigestRate> rates;
    for (const Ceiling* twin : twins) rates.push_back(rate_of(*twin, machine));
    const auto mean_over = [&](double DigestRate::*member) {
        double sum = 0;
        for (const DigestRate& rate : rates) sum += std::log(rate.*member);
        return std::exp(sum / static_cast<double>(rates.size()));
    };
    DigestRate mean = rates.front();
    mean.value = mean_over(&DigestRate::value);
    mean.low = mean_over(&DigestRate::low);
    mean.high = mean_over(&DigestRate::high);
    mean.spec = mean_over(&DigestRate::spec);  // 0 if one has none
    mean.n = std::ranges::min(rates, {}, &DigestRate::n).n;
    mean.rounds = std::ranges::min(rates, {}, &DigestRate::rounds).rounds;
    mean.name = mean_name(*twins.front(), twins.size());
    mean.state = name(std::ranges::max(twins, {}, &Ceiling::steadiness)->steadiness);
    return mean;
}

std::vector<std::string> devices_of(const std::vector<Ceiling>& ceilings)
{
    std::vector<std::string> devices;
    for (const Ceiling& ceiling : ceilings) devices.push_back(ceiling.device);
    return devices;
}

}  // namespace

std::string kind_of(const Machine& machine, const std::vector<std::string>& devices)
{
    std::map<std::string, int> models;
    for (const Device& device : machine.devices)
        if (device.kind != "cpu" && std::ranges::find(devices, device.name) != devices.end()) ++models[device.model];
    std::string kind = machine.name;
    for (const auto& [model, number] : models) kind += fmt::format(", {} x {}", number, model);
    return shortened(printable(kind), longest_word);
}

Digest make_digest(const Results& results, Twins twins)
{
    const Machine& machine = results.machine;
    Ceilings ceilings = fit_ceilings(results.rows, machine);
    std::ranges::stable_sort(ceilings.all, {}, [&](const Ceiling& ceiling) { return rank_of(ceiling, ceilings); });
    const std::string revision = version_of(machine, "revision");
    const auto newest = std::ranges::max_element(results.rows, {}, &Measurement::started);
    Digest digest{.node = machine.node.empty() ? "unknown" : machine.node,
                  .kind = kind_of(machine, devices_of(ceilings.all)),
                  .plan = fingerprint(results.plan),
                  .revision = revision.empty() ? "unknown" : revision,
                  .time = newest == results.rows.end() ? "" : newest->started,
                  .run = run_of(results.folder),
                  .facts = facts_of(machine)};
    const std::vector<MessagePoint> messages = messages_in(results.rows);
    // Messages between nodes are rates of links, not of the node that wrote them down.
    std::set<std::string> between_nodes;
    for (const MessagePoint& message : messages)
        if (!message.path.starts_with("1x")) between_nodes.insert(message.path);
    std::erase_if(ceilings.all, [&](const Ceiling& ceiling) {
        return ceiling.rate.low.value <= 0 || between_nodes.contains(ceiling.level);
    });
    std::map<std::string, std::vector<const Ceiling*>> means;
    for (const Ceiling& ceiling : ceilings.all)
        if (twins == Twins::as_mean && is_twin(ceiling)) means[mean_name(ceiling, 0)].push_back(&ceiling);
    std::map<std::string, std::size_t> places;
    for (const Ceiling& ceiling : ceilings.all) {
        const auto found = is_twin(ceiling) ? means.find(mean_name(ceiling, 0)) : means.end();
        const bool is_one_of_many = found != means.end() && found->second.size() >= fewest_twins;
        DigestRate rate = is_one_of_many ? mean_of(found->second, machine) : rate_of(ceiling, machine);
        const auto [place, is_new] = places.try_emplace(rate.name, digest.ceilings.size());
        if (is_new)
            digest.ceilings.push_back(std::move(rate));
        else if (digest.ceilings[place->second].value < rate.value)
            digest.ceilings[place->second] = std::move(rate);
    }
    for (const auto& [nodes, largest] : links_in(messages)) {
        const auto& [median, low, high, n, discarded] = largest->rate;
        digest.links.push_back({nodes, "B/s", "", median.value, low.value, high.value, 0, n, largest->rounds});
    }
    return digest;
}

void keep_digest(const Results& results)
{
    Digest digest = make_digest(results);
    if (digest.ceilings.empty() && digest.links.empty()) return;
    const std::string text = to_csv(digest);
    write_file(results.folder / digest_file, text.size() > longest_plain ? compressed(text) : text);
}

}  // namespace roof::analysis
