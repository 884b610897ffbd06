// A GPU bench as data. The source file of each begins with its contract: what is launched and counted, and what would
// falsify it. It defines GpuBench <name>_bench(const Libraries&); ert/gpu/CMakeLists.txt lists the names.
#pragma once

#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/nccl.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/search.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::gpu {

/// Libraries that a machine may lack, opened once for all benches. Each may be null.
struct Libraries {
    std::shared_ptr<const Nvml> nvml;
    std::shared_ptr<const CublasLt> cublaslt;
    std::shared_ptr<const Nccl> nccl;
};

/// A point to be measured on a GPU, which is current while the subject is made.
struct GpuPoint {
    const Point& point;
    const Machine& machine;
    const Device& device;
    DeviceId id;
    std::shared_ptr<const Nvml> nvml;  ///< may be null
    Turns& turns;  ///< of the search among the point's variants, from round to round; outlives what is made
};

/// The members are those of Bench, on devices of kind "gpu"; of `unsupported_reason` only what is of this bench, empty
/// if nothing is.
struct GpuBench {
    std::string name;
    Role role = Role::bandwidth;
    std::string description;
    std::function<std::vector<Axis>(const Machine&)> axes;
    std::function<std::optional<std::string>(const Point&, const Machine&, const Device&)> unsupported_reason{};
    std::function<std::unique_ptr<Subject>(const GpuPoint&)> create;
};

/// All benches of this build, in the order of ert/gpu/CMakeLists.txt, which writes this function.
std::vector<GpuBench> all_benches(const Libraries& libraries);

/// Its make() throws Error if the device is no GPU.
std::unique_ptr<Bench> make_bench(GpuBench bench, std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
