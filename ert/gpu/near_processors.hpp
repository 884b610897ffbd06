// Host memory next to a GPU: pages lie on the NUMA node of the processor that first touches them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace roof::gpu {

/// "0-3,8" -> 0, 1, 2, 3, 8. Empty for any other text.
std::vector<int> processors_in(std::string_view list);

/// The processors of the NUMA node of a PCI device, as Linux lists them; empty if unknown. `bus_id`: "0000:3B:00.0".
std::vector<int> processors_near(std::string_view bus_id,
                                 const std::filesystem::path& devices = "/sys/bus/pci/devices");

/// Keeps this thread on the processors during its own life, then where it was before. No effect if there are none, or
/// the process may use none of them.
class OnProcessors {
  public:
    explicit OnProcessors(const std::vector<int>& processors);
    ~OnProcessors();
    OnProcessors(const OnProcessors&) = delete;
    OnProcessors& operator=(const OnProcessors&) = delete;

  private:
    std::vector<int> former_;  ///< empty if nothing was changed
};

}  // namespace roof::gpu
