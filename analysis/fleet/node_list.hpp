// Lists of nodes as Slurm writes them.
#pragma once

#include <string>
#include <vector>

namespace roof::analysis {

/// "r[1-2]n[01-03],login1" -> r1n01 r1n02 r1n03 r2n01 r2n02 r2n03 login1. Throws InputError for a name that is no node's name, and for more
/// than 100,000.
std::vector<std::string> node_list(const std::string& text);

}  // namespace roof::analysis
