#include "ert/method/bench/device_group.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof {

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
