// The program behind tools/bench_fleet: judges made-up fleets, and writes the digests of one.
//   made_fleets healthy NODES FLEETS SCATTER      prints the fleets with a false "slow"
//   made_fleets slow NODES FLEETS SCATTER SHARE   prints the fleets whose slow node was found
//   made_fleets write NODES FOLDER                writes NODES folders with digests
#include "tests/analysis/fleet/made_fleet.hpp"

#include "ert/base/files.hpp"

#include <algorithm>
#include <iostream>

using namespace roof;

int main(int count, char** words)
{
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() < 3) return 2;
    const std::size_t nodes = std::stoul(arguments[1]);
    if (arguments[0] == "write") {
        for (const analysis::Digest& digest : tests::make_fleet({.nodes = nodes}).digests) {
            const std::filesystem::path folder = std::filesystem::path(arguments[2]) / digest.node;
            make_folder(folder);
            write_file(folder / "digest.csv", analysis::to_csv(digest));
        }
        return 0;
    }
    const unsigned fleets = static_cast<unsigned>(std::stoul(arguments[2]));
    const double scatter = std::stod(arguments.at(3));
    const double share = arguments[0] == "slow" ? std::stod(arguments.at(4)) : 0;
    unsigned found = 0;
    for (unsigned seed = 1; seed <= fleets; ++seed) {
        analysis::Fleet fleet = tests::make_fleet({.nodes = nodes, .scatter = scatter, .seed = seed});
        const std::size_t chosen = seed % nodes;
        if (share > 0) tests::slow_down(fleet, chosen, seed % 20, share);
        const std::vector<std::string> slow = tests::nodes_with(analysis::judge(fleet), analysis::Finding::slow);
        const bool is_found = std::ranges::find(slow, fleet.digests[chosen].node) != slow.end();
        found += share > 0 ? is_found : !slow.empty();
    }
    std::cout << found << '\n';
}
