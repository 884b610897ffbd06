// The subject of the benches "bandwidth" and "numa": moves bytes between registers and memory.
#pragma once

#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/noise_monitor.hpp"
#include "cpu/probes/pass_driver.hpp"
#include "cpu/workspace.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/subject.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace roof::cpu {

/// The value of the axis `isa` that lets a search choose.
inline constexpr std::string_view best_isa = "best";

/// The instruction sets to try for a value of the axis `isa`. `best`: the two widest of the machine, since the widest
/// is not always the fastest and the third never is.
std::vector<Isa> isas_for(std::string_view name, const Machine& machine);

struct StreamRequest {
    ArrayOperation operation;
    std::vector<Isa> isas;  ///< to try; at least one
    bool has_fma = false;
    std::size_t share = 0;  ///< upper bound of the bytes of all arrays of one thread
    Mapping mapping{};
    std::vector<int> processors;
    Resources in_cores = Resources::shared;  ///< whether the threads' arrays lie in their own L1
    std::string id;                          ///< of the point, the same in every round
};

/// The least bytes of an array: less measures the end of the loop.
inline constexpr std::size_t least_array = 512;
inline constexpr const char* too_small = "the working set is less than 512 bytes for every array and thread";

/// The extent of each array, if all arrays of one thread together have `share` bytes. Nothing if that is less than
/// `least_array`.
std::optional<Extent> array_extent(const ArrayOperation& operation, const std::vector<Isa>& isas, std::size_t share);

/// Makes the subjects of a bench. Owns the memory, kernels and history that outlive them.
class StreamMaker {
  public:
    StreamMaker(std::shared_ptr<Workspace> workspace, std::shared_ptr<CoreHistory> history);

    /// The subject borrows the workspace: only the last one made may be launched. Throws Unsupported or OutOfMemory.
    std::unique_ptr<Subject> make(const StreamRequest& request) const;

    using KernelKey = std::tuple<std::string_view, std::string, Form>;
    struct Stock {
        std::shared_ptr<Workspace> workspace;
        std::shared_ptr<CoreHistory> history;
        std::map<KernelKey, StreamKernel> kernels;
        PointHistory rounds;
    };

  private:
    std::shared_ptr<Stock> stock_;
};

}  // namespace roof::cpu
