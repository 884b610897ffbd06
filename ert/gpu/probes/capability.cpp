#include "ert/gpu/probes/capability.hpp"

#include "ert/base/error.hpp"
#include "ert/base/number.hpp"

#include <cmath>

namespace roof::gpu {

namespace {

std::string text_of(int capability)
{
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
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

}  // namespace roof::gpu
