#include "ert/method/bench/identity.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace roof {
namespace {

/// Whether the node's name lasts. Container programs take the first 12 digits of the container's id.
bool has_lasting_name(const Machine& machine)
{
    const bool is_id =
        machine.node.size() >= 12 && machine.node.find_first_not_of("0123456789abcdef") == std::string::npos;
    return machine.host != in_container && !machine.node.empty() && !is_id;
}

bool has_id(const Machine& machine)
{
    return !machine.host.empty() && machine.host != in_container;
}

std::string caches_of(const Machine& machine)
{
    const Device* const cpu = machine.find_device("cpu");
    std::vector<std::string> caches;
    if (cpu != nullptr)
        for (const MemoryLevel& level : cpu->levels)
            if (level.name != "DRAM" && level.capacity.value > 0)
                caches.push_back(level.name + " " + format_capacity(level.capacity.value));
    return join(caches, ", ");
}

}  // namespace

std::string version_of(const Machine& machine, const std::string& part)
{
    return machine.versions.contains(part) ? machine.versions.at(part) : "";
}

Facts identity_of(const Machine& machine)
{
    const std::string name = has_lasting_name(machine) ? machine.node : "";
    const std::string numbers =
        fmt::format(" family {} model {} stepping {}", machine.family, machine.model, machine.stepping);
    return {{"host", has_id(machine) ? machine.host + " " + name : name},
            {"processor", machine.cpu_model.empty() ? "" : machine.cpu_model + numbers},
            {"threads", std::to_string(machine.threads)},
            {"quota", machine.quota},
            {"instruction sets", join(machine.isa, " ")},
            {"caches", caches_of(machine)}};
}

Facts state_of(const Machine& machine)
{
    const Device* const cpu = machine.find_device("cpu");
    const double memory = cpu == nullptr ? 0 : cpu->memory.value;
    return {{"kernel", version_of(machine, "kernel")},
            {"microcode", version_of(machine, "microcode")},
            {"governor", machine.governor},
            {"memory", memory > 0 ? format_capacity(memory) : ""}};
}

std::string differing_facts(const Facts& there, const Facts& here)
{
    std::vector<std::string> differ;
    for (const auto& [name, value] : there) {
        const auto other = std::ranges::find(here, name, &Facts::value_type::first);
        if (name == "host" || value.empty() || other == here.end() || other->second.empty() || value == other->second)
            continue;
        differ.push_back(fmt::format("{} '{}', not '{}'", name, printable(value), printable(other->second)));
    }
    return join(differ, "; ");
}

bool is_same_host(const Machine& a, const Machine& b)
{
    if (has_id(a) && has_id(b) && a.host != b.host) return false;
    return !has_lasting_name(a) || !has_lasting_name(b) || a.node == b.node;
}

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

/// Names of the node that a batch system or its user gave.
constexpr std::array given_names{"SLURMD_NODENAME", "NODE_NAME"};

bool is_container()
{
    std::error_code none;
    return std::filesystem::exists("/.dockerenv", none) || std::filesystem::exists("/run/.containerenv", none) ||
           std::getenv("container") != nullptr || std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
}

std::string first_word(const char* file)
{
    std::string word;
    open_if_there(file) >> word;
    return word;
}

}  // namespace

std::string host_id()
{
    if (std::ranges::any_of(given_names, [](const char* name) { return std::getenv(name) != nullptr; })) return {};
    const bool contained = is_container();
    std::string id = contained ? "" : first_word("/etc/machine-id");
    if (id.find_first_not_of("0123456789abcdef") != std::string::npos) id.clear();  // "uninitialized"
    if (id.empty()) id = first_word("/sys/class/dmi/id/product_uuid");
    if (id.empty()) return contained ? in_container : "";
    BlockSum sum;  // the id itself is not to be published
    sum.add_line("roof");
    sum.add_line(id);
    return sum.text();
}

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
    for (const char* variable : given_names) {
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
