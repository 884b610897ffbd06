// A machine's spec sheet (configs/machines): peaks and bandwidths published by the vendor, with sources. Known: spec.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// A link between devices, in one direction.
struct Link {
    std::string name;    ///< nvlink, pcie
    Seconds latency;     ///< time of one message: alpha of the alpha-beta model
    ByteRate bandwidth;  ///< beta of the alpha-beta model
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
    std::vector<std::string> also{};        ///< other names: "v100"
    std::vector<std::string> models{};      ///< device names that a driver reports
    std::map<Precision, FlopRate> peaks{};  ///< rates of matrix products, without sparsity
    std::vector<SheetLevel> levels{};       ///< nearest to the core first; the last is memory
    std::vector<Link> links{};
    std::vector<std::string> sources{};

    Bytes memory() const { return levels.back().capacity; }
    bool is_called(const std::string& word) const;
    /// Whether a device with this reported model is on the sheet.
    bool describes(const std::string& model) const;
};

/// Reads a sheet's YAML; messages contain `name`. Throws InputError with file, line, key and the legal values.
MachineSheet parse_sheet(const std::string& text, const std::string& name);

}  // namespace roof::analysis
