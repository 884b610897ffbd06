#include "ert/gpu/probes/capability.hpp"

#include <charconv>

namespace roof::gpu {

namespace {

std::string text_of(int capability)
{
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

int number_in(const Device& device, const std::string& fact, int otherwise)
{
    const auto found = device.facts.find(fact);
    if (found == device.facts.end()) return otherwise;
    int value = otherwise;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    return value;
}

}  // namespace

int capability_of(const Device& device)
{
    const auto found = device.facts.find("compute capability");
    if (found == device.facts.end()) return 0;
    const std::size_t point = found->second.find('.');
    if (point == std::string::npos) return 0;
    int major = 0;
    int minor = 0;
    const char* const text = found->second.data();
    std::from_chars(text, text + point, major);
    std::from_chars(text + point + 1, text + found->second.size(), minor);
    return 10 * major + minor;
}

int multiprocessors_of(const Device& device)
{
    return number_in(device, "multiprocessors", 1);
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
