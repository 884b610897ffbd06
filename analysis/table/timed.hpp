// How a time is known: measured, unless an emulated device gave it, which tests have.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace roof::analysis {

/// "measured" or "emulated". `text`: a device's model, or a row's or ceiling's description or variant, which begins with
/// that word.
inline std::string_view timed(std::string_view text)
{
    return text.starts_with("Emulated") ? "emulated" : "measured";
}

/// Of a ceiling on this device or group of devices.
inline std::string_view timed_on(const Machine& machine, std::string_view device)
{
    const auto is_emulated = [&](const Device& one) {
        return timed(one.model) == "emulated" && device.substr(0, device.find(':')) == one.kind;
    };
    return std::ranges::any_of(machine.devices, is_emulated) ? "emulated" : "measured";
}

/// A sentence for the head of a report; empty for a machine whose devices are all real.
inline std::string emulation_warning(const Machine& machine)
{
    std::string devices;
    for (const Device& device : machine.devices)
        if (timed(device.model) == "emulated") devices += (devices.empty() ? "" : " and ") + device.name;
    return devices.empty() ? "" : "Emulated: no number of " + devices + " is a measurement.";
}

}  // namespace roof::analysis
