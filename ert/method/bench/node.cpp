#include "ert/method/bench/node.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include <unistd.h>

namespace roof {
namespace {

constexpr std::size_t longest = 64;
constexpr const char* fact = "nodes of ranks";

bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_allowed(char c)
{
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
}

std::string made_legal(std::string name)
{
    std::ranges::replace_if(
        name, [](char c) { return !is_allowed(c); }, '-');
    name.erase(name.begin(), std::ranges::find_if(name, is_alphanumeric));
    return name.substr(0, longest);
}

std::string host_name()
{
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

bool is_node_name(const std::string& text)
{
    return !text.empty() && text.size() <= longest && is_alphanumeric(text.front()) &&
           std::ranges::all_of(text, is_allowed);
}

std::string node_name(const std::string& given)
{
    if (is_node_name(given)) return given;
    if (!given.empty())
        throw InputError("--node: '" + given +
                         "' is no node's name: 1 to 64 letters, digits, '.', '_' and '-' after a letter or digit");
    for (const char* variable : {"SLURMD_NODENAME", "NODE_NAME"}) {
        const char* const value = std::getenv(variable);
        if (value != nullptr && !made_legal(value).empty()) return made_legal(value);
    }
    return made_legal(host_name());
}

std::vector<std::string> rank_nodes(const Machine& machine)
{
    const Device* const cpu = machine.find_device("cpu");
    const auto found = cpu == nullptr ? std::map<std::string, std::string>::const_iterator{} : cpu->facts.find(fact);
    if (cpu == nullptr || found == cpu->facts.end()) return {};
    return split(found->second, ' ');
}

void set_rank_nodes(Machine& machine, const std::vector<std::string>& nodes)
{
    const auto cpu = std::ranges::find(machine.devices, "cpu", &Device::name);
    if (cpu == machine.devices.end()) throw InputError("ranks need a machine with a CPU");
    cpu->facts[fact] = join(nodes, " ");
}

std::size_t count_nodes(const Machine& machine)
{
    const std::vector<std::string> nodes = rank_nodes(machine);
    return std::set<std::string>(nodes.begin(), nodes.end()).size();
}

}  // namespace roof
