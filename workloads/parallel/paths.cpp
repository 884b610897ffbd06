// The paths that the bench `network` measures, from the nodes of the ranks.
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "workloads/parallel/place.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace roof::parallel {
namespace {

constexpr std::size_t most_nodes_with_all_pairs = 16;
constexpr int pairings = 5;

/// The ranks of each node, the nodes in order of their first ranks.
std::vector<std::vector<int>> ranks_of_nodes(const std::vector<std::string>& nodes)
{
    std::map<std::string, std::size_t> place;
    std::vector<std::vector<int>> ranks;
    for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
        const auto [at, is_new] = place.try_emplace(nodes[static_cast<std::size_t>(rank)], ranks.size());
        if (is_new) ranks.emplace_back();
        ranks[at->second].push_back(rank);
    }
    return ranks;
}

/// The same on every rank: the generator has a fixed seed.
std::set<std::pair<int, int>> pairs_of(std::vector<int> members)
{
    std::set<std::pair<int, int>> pairs;
    const auto add = [&](int a, int b) { pairs.insert(std::minmax(a, b)); };
    if (members.size() <= most_nodes_with_all_pairs) {
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t k = i + 1; k < members.size(); ++k) add(members[i], members[k]);
        return pairs;
    }
    std::mt19937 random(members.size());
    for (int pairing = 0; pairing < pairings; ++pairing) {
        for (std::size_t i = members.size() - 1; i > 0; --i) std::swap(members[i], members[random() % (i + 1)]);
        for (std::size_t i = 0; i + 1 < members.size(); i += 2) add(members[i], members[i + 1]);
        if (members.size() % 2 == 1) add(members.front(), members.back());
    }
    return pairs;
}

/// 1, 2, 4, … and `most`.
std::vector<std::size_t> doublings(std::size_t most)
{
    std::vector<std::size_t> all;
    for (std::size_t n = 1; n < most; n *= 2) all.push_back(n);
    all.push_back(most);
    return all;
}

}  // namespace

Paths paths_between(const std::vector<std::string>& nodes)
{
    const auto ranks = ranks_of_nodes(nodes);
    std::vector<int> members(nodes.size());
    std::iota(members.begin(), members.end(), 0);
    if (ranks.size() > 1) {
        members.clear();
        for (const std::vector<int>& of_node : ranks) members.push_back(of_node.front());
    }
    Paths paths;
    for (const auto& [a, b] : pairs_of(members)) paths.pairs.push_back(std::to_string(a) + "-" + std::to_string(b));
    std::size_t fewest = nodes.size();
    for (const std::vector<int>& of_node : ranks) fewest = std::min(fewest, of_node.size());
    for (const std::size_t number : doublings(ranks.size()))
        for (const std::size_t each : doublings(fewest))
            if (number * each > 1 && (number > 1 || ranks.size() == 1))
                paths.groups.push_back(std::to_string(number) + "x" + std::to_string(each));
    return paths;
}

std::vector<int> ranks_on(const std::string& path, const std::vector<std::string>& nodes)
{
    const char sign = path.find('x') == std::string::npos ? '-' : 'x';
    const std::vector<std::string> words = split(path, sign);
    const auto number = [&](std::size_t i) { return words.size() == 2 ? parse_number<int>(words[i]) : std::nullopt; };
    const auto first = number(0);
    const auto second = number(1);
    if (!first || !second || *first < 0 || *second < 1)
        throw InputError("path: '" + printable(path) + "' is neither two ranks, 0-1, nor nodes and ranks each, 2x1");
    if (sign == '-') {
        if (*first >= *second || *second >= static_cast<int>(nodes.size()))
            throw InputError("path: " + path + ": there are " + std::to_string(nodes.size()) +
                             " ranks, from 0, and the smaller one is written first");
        return {*first, *second};
    }
    const auto of_nodes = ranks_of_nodes(nodes);
    std::vector<int> ranks;
    for (std::size_t node = 0; node < of_nodes.size() && static_cast<int>(node) < *first; ++node)
        for (std::size_t i = 0; i < of_nodes[node].size() && static_cast<int>(i) < *second; ++i)
            ranks.push_back(of_nodes[node][i]);
    if (static_cast<int>(ranks.size()) != *first * *second || ranks.size() < 2)
        throw InputError("path: " + path + ": there are no " + words[0] + " nodes with " + words[1] + " ranks each");
    std::ranges::sort(ranks);
    return ranks;
}

}  // namespace roof::parallel
