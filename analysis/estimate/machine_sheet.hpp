// A machine's spec sheet as data (configs/machines): peaks and bandwidths as its vendor publishes them, each with a source.
// What stands here is `spec`: nobody measured it on the machine at hand.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// A way between devices, in one direction.
struct Link {
    std::string name;    ///< nvlink, pcie
    Seconds latency;     ///< of one message, the alpha of the alpha-beta model
    ByteRate bandwidth;  ///< its beta
};

struct SheetLevel {
    std::string name;  ///< L2, DRAM
    ByteRate bandwidth;
    Bytes capacity;
};

struct MachineSheet {
    std::string name{};                     ///< "v100-sxm2", as --on takes it
    std::string title{};                    ///< the vendor's name
    std::string kind{};                     ///< "cpu" or "gpu"
    std::vector<std::string> also{};        ///< other words for it: "v100"
    std::vector<std::string> models{};      ///< as a driver reports the device
    std::map<Precision, FlopRate> peaks{};  ///< of matrix products, without sparsity
    std::vector<SheetLevel> levels{};       ///< nearest to the core first; the last is memory
    std::vector<Link> links{};
    std::vector<std::string> sources{};

    Bytes memory() const { return levels.back().capacity; }
    bool is_called(const std::string& word) const;
    /// Whether it is of the device that reports this model.
    bool describes(const std::string& model) const;
};

/// Reads a sheet's YAML; `name` stands in messages. Throws InputError with file, line, key and what is legal there.
MachineSheet parse_sheet(const std::string& text, const std::string& name);

}  // namespace roof::analysis
