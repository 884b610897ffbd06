// A device's power meter: NVML of a GPU (ert/gpu/nvml.hpp), RAPL of a CPU (cpu/rapl.hpp).
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/trace.hpp"

#include <functional>
#include <string>

namespace roof {

/// 0: not known.
struct PowerReading {
    double joules = 0;  ///< counted since some moment; moves in steps, some 1 to 100 ms apart
    Watts instant{};    ///< now, not on average
    Watts limit{};      ///< what the device may draw
};

struct PowerMeter {
    std::function<PowerReading()> read{};  ///< empty: there is none
    std::string lacking{};                 ///< why no joules are counted; empty if they are
    Seconds interval{};                    ///< between two moves of the counter, where that is documented; else 0
};
using OpenPowerMeter = std::function<PowerMeter(const Device& device)>;  ///< the device may be a group

}  // namespace roof
