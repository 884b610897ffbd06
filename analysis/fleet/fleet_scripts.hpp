// Scripts that measure many nodes with the engine that a site already has. `roof` starts nothing itself. Each script runs one exclusive
// task per node, at most `at_once` of them, and passes over nodes that have a digest, so that it can be run again. A node that is down, or
// that the engine does not know, is named and holds up no other.
#pragma once

#include <string>
#include <vector>

namespace roof::analysis {

struct FleetScript {
    std::string engine;                  ///< slurm, pbs, kubernetes or parallel
    std::string plan{};                  ///< empty: the calibration of each device
    std::vector<std::string> devices{};  ///< cpu, gpu (every GPU of a node); empty: as the plan says
    std::vector<std::string> nodes{};    ///< may be empty for slurm and pbs: all nodes that they list
    std::string results = "fleet";       ///< a folder on a shared file system, with a folder for each node
    int at_once = 20;
    int minutes = 30;     ///< the time limit of a task
    std::string image{};  ///< kubernetes: the container's image
    std::string claim{};  ///< kubernetes: the PersistentVolumeClaim that holds `results`
    int gpus = 8;         ///< kubernetes: of each node, requested where `devices` has gpu
};

/// Throws InputError for an unknown engine or device, for missing nodes, image, claim or plan, for a plan and several devices, and for a plan
/// or folder that a shell could misread.
std::string fleet_script(const FleetScript& script);

/// A task's commands on one node, joined by "; ". `node` and `results` are what the shell expands.
std::string task_commands(const FleetScript& script, const std::string& node, const std::string& results);

/// A condition of the shell: the node has all its digests.
std::string has_digests(const FleetScript& script, const std::string& node, const std::string& results);

}  // namespace roof::analysis
