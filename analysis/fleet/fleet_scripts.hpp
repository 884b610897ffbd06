// Scripts that measure many nodes with the engine that a site already has. `roof` starts nothing itself. Each script runs one exclusive
// task per node, at most `at_once` of them, and passes over nodes that have a digest, so that it can be run again.
#pragma once

#include <string>
#include <vector>

namespace roof::analysis {

struct FleetScript {
    std::string engine;  ///< slurm, kubernetes or parallel
    std::string plan;
    std::vector<std::string> nodes;  ///< may be empty for slurm: all nodes that sinfo lists
    std::string results = "fleet";   ///< a folder on a shared file system, with a folder for each node
    int at_once = 20;
    std::string image{};  ///< kubernetes: the container's image
    std::string claim{};  ///< kubernetes: the PersistentVolumeClaim that holds `results`
};

/// Throws InputError for an unknown engine, for missing nodes, image or claim, and for a plan or folder that a shell could misread.
std::string fleet_script(const FleetScript& script);

/// "n[01-03],login1" -> n01 n02 n03 login1. Throws InputError for a name that is no node's name, and for more than 100,000.
std::vector<std::string> node_list(const std::string& text);

}  // namespace roof::analysis
