#include "ert/method/bench/machine.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"
#include "ert/method/bench/machine_fields.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <yaml-cpp/yaml.h>

namespace roof {
namespace {

struct Writer {
    YAML::Node node{YAML::NodeType::Map};

    void operator()(const char* key, const std::string& value) { node[key] = value; }
    void operator()(const char* key, int value) { node[key] = value; }
    void operator()(const char* key, bool value) { node[key] = value; }
    /// What is not known is not written.
    void operator()(const char* key, double value)
    {
        if (std::isfinite(value)) node[key] = format_exact(value);
    }
    void operator()(const char* key, const std::vector<std::string>& value) { node[key] = value; }
    void operator()(const char* key, const std::map<std::string, std::string>& value) { node[key] = value; }
    template <int F, int B, int T>
    void operator()(const char* key, Quantity<F, B, T> value)
    {
        (*this)(key, value.value);
    }
    template <class Struct>
    void operator()(const char* key, const std::vector<Struct>& list)
    {
        node[key] = YAML::Node(YAML::NodeType::Sequence);
        for (const Struct& entry : list) {
            Writer inner;
            list_fields(inner, entry);
            if constexpr (std::is_same_v<Struct, SpecRate>) inner.node.SetStyle(YAML::EmitterStyle::Flow);
            node[key].push_back(inner.node);
        }
    }
};

struct MachineReader {
    YAML::Node node;

    template <class Value>
    void operator()(const char* key, Value& value)
    {
        if (const YAML::Node found = node[key]) value = found.as<Value>();
    }
    template <int F, int B, int T>
    void operator()(const char* key, Quantity<F, B, T>& value)
    {
        (*this)(key, value.value);
    }
    template <class Struct>
    requires(std::is_class_v<Struct> && !std::is_same_v<Struct, std::string>) void operator()(const char* key,
                                                                                              std::vector<Struct>& list)
    {
        for (const YAML::Node& entry : node[key]) {
            MachineReader inner{entry};
            list_fields(inner, list.emplace_back());
        }
    }
};

}  // namespace

const Device& Machine::device(const std::string& wanted) const
{
    if (const Device* const found = find_device(wanted)) return *found;
    throw InputError(unknown_word("device", wanted, names_in(devices)));
}

const Device* Machine::find_device(const std::string& wanted) const
{
    const auto found = std::ranges::find(devices, wanted, &Device::name);
    return found == devices.end() ? nullptr : &*found;
}

const MemoryLevel* Machine::find_level(const std::string& device, const std::string& level) const
{
    const Device* const found = find_device(device);
    if (found == nullptr) return nullptr;
    const auto reported = std::ranges::find(found->levels, level, &MemoryLevel::name);
    return reported == found->levels.end() ? nullptr : &*reported;
}

int MemoryLevel::instances_reached(int threads, int smt) const
{
    return std::clamp((threads + cores_each(smt) - 1) / cores_each(smt), 1, std::max(1, instances));
}

YAML::Node to_yaml(const Machine& machine)
{
    Writer writer;
    list_fields(writer, machine);
    return writer.node;
}

Machine read_machine(const std::filesystem::path& file)
{
    // A command asks for the machine of a folder some twenty times, and parsing takes most time of a short one.
    static std::mutex one_at_a_time;
    static std::map<std::string, Machine> by_text;
    const std::scoped_lock lock(one_at_a_time);
    const std::string name = file.string();
    const std::string text = read_file(file);
    if (const auto found = by_text.find(text); found != by_text.end()) return found->second;
    const Machine parsed = reading_yaml(name, [&] {
        MachineReader reader{parse_yaml(text, name)};
        Machine machine;
        machine.sockets = machine.cores = machine.threads = machine.smt = machine.numa_nodes = 0;  // not known
        list_fields(reader, machine);
        if (machine.name.empty()) throw InputError(name + ": it names no machine");
        return machine;
    });
    return by_text[text] = parsed;
}

std::string kind_of_device(const std::string& name)
{
    return name.substr(0, name.find(':'));
}

std::vector<std::string> devices_in(const std::string& name)
{
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos || name.find(',') == std::string::npos) return {name};
    const std::string kind = name.substr(0, colon + 1);
    std::vector<std::string> devices;
    for (const std::string& number : split(name.substr(colon + 1), ',')) {
        const std::string device = kind + std::string(trim(number));
        if (trim(number).empty() || std::ranges::find(devices, device) != devices.end())
            throw InputError("device: '" + printable(name) + "' is no list of different devices; write gpu:0,1");
        devices.push_back(device);
    }
    return devices;
}

Device device_for(const Machine& machine, const std::string& name)
{
    std::vector<std::string> names = devices_in(name);
    for (const std::string& device : names) machine.device(device);
    Device device = machine.device(names.front());
    device.others.assign(names.begin() + 1, names.end());
    return device;
}

}  // namespace roof
