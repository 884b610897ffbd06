#include "ert/gpu/probes/device_facts.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cmath>

namespace roof::gpu {

namespace {

std::string text_of(int capability)
{
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

constexpr long long smallest_each = 32 << 10;  ///< of a multiprocessor
/// Of a multiprocessor: between these the L1 ends, and where the L2 is hardly larger than all L1s, that, too.
constexpr long long fine_from = 128 << 10;
constexpr long long fine_to = 512 << 10;
/// A set so many times as large as the L2 finds next to nothing in it.
constexpr double beyond_l2 = 16;
constexpr double most_share_of_memory = 0.25;

const Device& first_gpu(const Machine& machine)
{
    static const Device middling = [] {
        Device device;
        device.levels.push_back({"L1", Bytes{16e6}, 1, 1});
        device.levels.push_back({"L2", Bytes{40e6}, 1, 1});
        device.facts["multiprocessors"] = "100";
        return device;
    }();
    const auto found = std::ranges::find(machine.devices, "gpu", &Device::kind);
    return found == machine.devices.end() ? middling : *found;
}

long long largest(const Device& device)
{
    constexpr double least_largest = 1 << 30;
    const double wanted = std::max(least_largest, beyond_l2 * capacity_of(device, "L2").value);
    const double available = device.memory_available.value;
    return static_cast<long long>(available > 0 ? std::min(wanted, most_share_of_memory * available) : wanted);
}

/// One size for each octave, or also those between.
std::vector<std::string> octaves(const Machine& machine, bool between)
{
    const Device& device = first_gpu(machine);
    std::vector<std::string> sets;
    const long long multiprocessors = multiprocessors_of(device);
    for (long long each = smallest_each; each * multiprocessors <= largest(device); each *= 2) {
        const bool is_fine = each >= fine_from && each < fine_to;
        const int parts = !between ? 1 : is_fine ? 4 : 2;
        for (int part = 0; part < parts; ++part) {
            const long long bytes = (each + each / parts * part) * multiprocessors;
            if (bytes <= largest(device)) sets.push_back(std::to_string(bytes));
        }
    }
    if (sets.empty()) sets.push_back(std::to_string(smallest_each * multiprocessors));
    return sets;
}

}  // namespace

int number_of(const Device& device)
{
    constexpr std::string_view prefix = "gpu:";
    const std::string_view name = device.name;
    const auto number = name.starts_with(prefix) ? parse_number<int>(name.substr(prefix.size())) : std::nullopt;
    if (!number) throw Error("'" + device.name + "' names no GPU; a GPU is named gpu:0, gpu:1, …");
    return *number;
}

double number_in(const Device& device, const std::string& fact, double otherwise)
{
    const auto found = device.facts.find(fact);
    return found == device.facts.end() ? otherwise : parse_number<double>(found->second).value_or(otherwise);
}

int capability_of(const Device& device)
{
    return static_cast<int>(std::lround(10 * number_in(device, "compute capability")));
}

std::string of_capability(const Device& device)
{
    const int capability = capability_of(device);
    return capability == 0 ? " of unknown compute capability" : " of compute capability " + text_of(capability);
}

int multiprocessors_of(const Device& device)
{
    return static_cast<int>(number_in(device, "multiprocessors", 1));
}

std::optional<std::string> missing_capability(const Device& device, int least, const std::string& what)
{
    const int capability = capability_of(device);
    if (capability >= least) return std::nullopt;
    const std::string has =
        capability == 0 ? "this GPU does not say which it has" : "this GPU has " + text_of(capability);
    return what + " needs compute capability " + text_of(least) + "; " + has;
}

std::optional<std::string> missing_in_build(const Device& device)
{
    auto missing = missing_capability(device, oldest_capability(), "this build");
    const int capability = capability_of(device);
    constexpr int least_of_cuda_12 = 50;
    constexpr int least_of_cuda_13 = 75;
    if (!missing || capability == 0) return missing;
    if (capability < least_of_cuda_12) return *missing + ", which no CUDA toolkit for C++20 compiles for";
    return *missing + ": build on its machine, or with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(capability) +
           (capability < least_of_cuda_13 ? "-real and CUDA 12" : "");
}

Bytes capacity_of(const Device& device, std::string_view level)
{
    const auto found = std::ranges::find(device.levels, level, &MemoryLevel::name);
    return found == device.levels.end() ? Bytes{} : found->capacity;
}

Axis working_set_axis(std::string meaning, std::vector<std::string> usual)
{
    constexpr long long most_bytes = 1LL << 42;
    Axis axis{"working_set", std::move(meaning), std::move(usual), {}, true, 1, most_bytes};
    axis.keywords = {"levels", "fastest", "edges"};
    return axis;
}

std::vector<std::string> usual_working_sets(const Machine& machine)
{
    return octaves(machine, true);
}

std::vector<std::string> usual_chase_sets(const Machine& machine)
{
    return octaves(machine, false);
}

std::vector<std::string> usual_ert_sets(const Machine& machine)
{
    const Device& device = first_gpu(machine);
    const std::vector<std::string> sets = usual_chase_sets(machine);
    const auto below = [&](double bytes) {
        const std::string* best = &sets.front();
        for (const std::string& set : sets) {
            if (std::stod(set) <= bytes) best = &set;
        }
        return *best;
    };
    std::vector<std::string> chosen{below(capacity_of(device, "L1").value / 2)};
    for (const std::string& set : {below(capacity_of(device, "L2").value / 2), sets.back()}) {
        if (set != chosen.back()) chosen.push_back(set);
    }
    return chosen;
}

}  // namespace roof::gpu
