// The processors that a thread may use. A set is as large as the kernel's, which knows more than 1,024 processors on
// some machines.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace roof {

/// Those of the calling thread, by the kernel's numbers, in order; none where the kernel does not tell.
std::vector<int> processors_of_thread();

/// The calling thread, and threads that it starts, run on these alone. 0, or the kernel's errno and nothing is changed.
int keep_thread_to(const std::vector<int>& processors);

/// Throws Error where OpenMP gave another number of threads than was asked for: part of the work would not be done.
void require_team(int given, int asked);

// Host memory next to a GPU: pages lie on the NUMA node of the processor that first touches them.

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

}  // namespace roof
