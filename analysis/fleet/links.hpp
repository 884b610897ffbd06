// The links between nodes, measured pair by pair: a slow node or its cable has only slow links; the links of nodes behind a slow switch
// are slow to the others and not among themselves; and a link may be slow alone.
//   ln(rate of a link) = m + node_i + node_j + link_ij        by robust means, which a few slow links do not move
// Slow nodes are joined to an uplink if a link among them is as fast as others, or if they are all the nodes with a fact in common.
#pragma once

#include "analysis/fleet/fleet_files.hpp"
#include "ert/base/names.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

enum class LinkFault {
    node,    ///< every link of one node: the node, its adapter or its cable
    uplink,  ///< the links from some nodes to the others, not those among them: what is between, such as a switch
    link     ///< one link, beyond what its nodes explain
};
constexpr EnumNames<LinkFault, 3> names_of(LinkFault)
{
    return {"fault",
            {{{LinkFault::node, "node"},
              {LinkFault::uplink, "links between nodes and others"},
              {LinkFault::link, "link"}}}};
}

struct SlowLinks {
    LinkFault fault = LinkFault::link;
    std::vector<std::string> nodes{};  ///< one; those behind the uplink; the two ends
    double ratio = 0;                  ///< to the rate of the other links
    std::size_t links = 0;             ///< how many are slow
    double chance = 1;     ///< that a healthy one is as slow, or of the least likely node; 1 for two populations
    std::string shared{};  ///< "switch=s1": a fact of all these nodes and of no other
    std::string remark{};
};

struct LinkFindings {
    std::string plan{};
    std::string revision{};
    std::size_t nodes = 0;
    std::size_t links = 0;
    double median = 0;   ///< B/s
    double scatter = 0;  ///< of links beyond their nodes, relative
    /// The smallest differences of one node's links and of one link that are found in 95% of cases, relative; 0: none.
    double visible_node = 0;
    double visible_link = 0;
    std::vector<SlowLinks> slow{};
    std::string note{};  ///< why nothing can be told; empty if it can
};

/// Judges the links of all digests by one plan and revision together; each is the mean of its measurements. Needs `fewest_compared` nodes,
/// and twice as many links as nodes.
std::vector<LinkFindings> judge_links(const Fleet& fleet);

}  // namespace roof::analysis
