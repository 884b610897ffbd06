// The digests of a fleet, found in folders that anybody may have written: only regular files are read, no link is followed, and a folder
// that cannot be used is one row with its reason.
#pragma once

#include "analysis/fleet/digest.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

struct RefusedFolder {
    std::string folder;
    std::string reason;
};

/// A node that should have a digest, and facts about it, such as its rack.
struct ExpectedNode {
    std::string node;
    std::map<std::string, std::string> facts{};
};

struct Fleet {
    std::vector<Digest> digests;  ///< ordered by node, kind, plan, revision and time, whatever the order of the files
    std::vector<RefusedFolder> refused{};
    std::vector<ExpectedNode> expected{};
    std::vector<std::string> notes{};  ///< what must be said of the digests
};

/// Finds the results folders in `folders`, down to six levels. A run with ceilings and without digest.csv is digested, and its digest kept
/// where the folder can be written. Throws InputError for a folder that is none, and for more than 1,000,000 entries.
Fleet read_fleet(const std::vector<std::filesystem::path>& folders);

/// A node on each line, then blanks and KEY=VALUE: "n17 rack=r3 switch=s1". Empty lines and those that begin with # are skipped. Throws
/// InputError with file and line.
std::vector<ExpectedNode> read_expected(const std::filesystem::path& file);

/// Replaces the names of nodes by node-1, node-2, …, and the values of facts from read_expected() by KEY-1, …, in the order of their
/// hashes; folders of refused rows are left out. A node has one name in all fleets.
void anonymise(const std::vector<Fleet*>& fleets);

}  // namespace roof::analysis
