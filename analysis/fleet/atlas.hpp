// The atlas: one digest for each machine, from anybody, in a file that has the machine's name (results/atlas). It compares machines of
// different kinds, which a fleet never does.
#pragma once

#include "analysis/fleet/digest.hpp"
#include "analysis/report/figure.hpp"
#include "analysis/table/table.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

struct AtlasMachine {
    std::string name;  ///< "amd-epyc-zen4-2cpu"
    Digest digest;
    Ceilings ceilings;  ///< as far as the names of the digest tell; without working sets
};

/// The digest of a run without the name of its node. Throws InputError for a name that is not of small letters, digits and hyphens, and
/// for a run without the bandwidth of DRAM or without a peak.
AtlasMachine for_atlas(const std::string& name, const Results& results);

/// Reads a file of the atlas, which `name` and ".csv" name. Throws InputError as parse_digest() and for_atlas(), for a digest that names a
/// node, and for a steady ceiling that is more than 2% above what the core's spec allows.
AtlasMachine parse_atlas(const std::string& name, const std::string& text);

/// One row for each device: its peaks, bandwidths and ridge point at the most threads, and what they are known by.
DataTable atlas_table(const std::vector<AtlasMachine>& machines);

/// The peaks of each device over the bandwidth of its memory, and lines of equal ridge points.
Figure atlas_figure(const std::vector<AtlasMachine>& machines);

/// One HTML file without script.
std::string atlas_page(const std::vector<AtlasMachine>& machines);

}  // namespace roof::analysis
