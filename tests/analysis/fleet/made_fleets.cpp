// The program behind tools/bench_fleet: judges made-up fleets, and writes the digests of one.
//   made_fleets healthy NODES FLEETS SCATTER [FREEDOM]        prints the fleets with a false "slow"
//   made_fleets slow NODES FLEETS SCATTER SHARE [DAILY DAYS]  prints the fleets whose slow node was found
//   made_fleets drift NODES FLEETS SCATTER SHARE WEEKS [FREEDOM]
//                                                             prints the fleets whose drift was found; with SHARE 0, those with a false one
//   made_fleets links NODES FLEETS PERMUTATIONS WHAT          prints the fleets in which the slow node, uplink, link or nothing was found,
//                                                             and nothing else
//   made_fleets write NODES FOLDER [CEILINGS]                 writes NODES folders with digests
// FLEETS: their number, or the seeds of the first and the last, "1001-2000".
#include "analysis/fleet/history.hpp"
#include "analysis/fleet/links.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"

#include "ert/base/files.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>

using namespace roof;

namespace {

using Words = std::vector<std::string>;

double word(const Words& words, std::size_t i, double without = 0)
{
    return i < words.size() ? std::stod(words[i]) : without;
}

/// Days in steps of `step`, from a Monday.
std::vector<std::string> days(std::size_t count, int step)
{
    namespace chrono = std::chrono;
    std::vector<std::string> days;
    for (std::size_t i = 0; i < count; ++i) {
        const chrono::year_month_day day =
            chrono::sys_days(chrono::year(2026) / 1 / 5) + chrono::days(step * static_cast<int>(i));
        days.push_back(fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                                   static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day())));
    }
    return days;
}

bool has_false_slow(const Words& words, std::size_t nodes, unsigned seed)
{
    const analysis::Fleet fleet = tests::make_fleet(
        {.nodes = nodes, .scatter = word(words, 3), .freedom = static_cast<int>(word(words, 4)), .seed = seed});
    return !tests::nodes_with(analysis::judge(fleet), analysis::Finding::slow).empty();
}

/// The node is slow on all days.
bool finds_slow(const Words& words, std::size_t nodes, unsigned seed)
{
    const auto count = static_cast<std::size_t>(word(words, 6, 1));
    analysis::Fleet fleet = tests::make_fleet(
        {.nodes = nodes, .scatter = word(words, 3), .daily = word(words, 5), .seed = seed}, days(count, 1));
    const std::size_t chosen = seed % nodes;
    for (std::size_t day = 0; day < count; ++day)
        tests::slow_down(fleet, chosen * count + day, seed % 20, word(words, 4));
    const std::vector<std::string> slow = tests::nodes_with(analysis::judge(fleet), analysis::Finding::slow);
    return std::ranges::find(slow, fleet.digests[chosen * count].node) != slow.end();
}

/// The node is slow in the second half of the weeks.
bool finds_drift(const Words& words, std::size_t nodes, unsigned seed)
{
    const auto weeks = static_cast<std::size_t>(word(words, 5));
    analysis::Fleet fleet = tests::make_fleet({.nodes = nodes,
                                               .scatter = 0.02,
                                               .daily = word(words, 3),
                                               .daily_freedom = static_cast<int>(word(words, 6)),
                                               .seed = seed},
                                              days(weeks, 7));
    const std::size_t chosen = seed % nodes;
    for (std::size_t week = weeks / 2; week < weeks; ++week)
        tests::slow_down(fleet, chosen * weeks + week, seed % 20, word(words, 4));
    for (const analysis::HistorySeries& series : analysis::judge_history(fleet))
        for (const analysis::NodeDrift& drift : series.drifts)
            if (word(words, 4) == 0 || drift.node == fleet.digests[chosen * weeks].node) return true;
    return false;
}

bool finds_link(const Words& words, std::size_t nodes, unsigned seed)
{
    const std::string what = words.at(4);
    constexpr double slower = 0.2;
    const analysis::Fleet fleet = tests::make_links({.nodes = nodes,
                                                     .permutations = static_cast<std::size_t>(word(words, 3)),
                                                     .seed = seed,
                                                     .slow_node = what == "node" ? slower : 0,
                                                     .slow_uplink = what == "uplink" ? slower : 0,
                                                     .slow_link = what == "link" ? slower : 0});
    const analysis::LinkFindings found = analysis::judge_links(fleet).at(0);
    if (what == "nothing") return found.slow.empty();
    if (found.slow.size() != 1) return false;
    const analysis::SlowLinks& slow = found.slow.front();
    if (what == "node") return slow.fault == analysis::LinkFault::node && slow.nodes == Words{"n00000"};
    if (what == "uplink")
        return slow.fault == analysis::LinkFault::uplink && (slow.shared == "switch=s1" || nodes == 16);
    return slow.fault == analysis::LinkFault::link && slow.nodes.back() == fmt::format("n{:05}", nodes - 1);
}

void write_fleet(std::size_t nodes, const std::filesystem::path& place, std::size_t ceilings)
{
    for (const analysis::Digest& digest : tests::make_fleet({.nodes = nodes, .ceilings = ceilings}).digests) {
        const std::filesystem::path folder = place / digest.node;
        make_folder(folder);
        write_file(folder / "digest.csv", analysis::to_csv(digest));
    }
}

}  // namespace

int main(int count, char** arguments)
{
    const Words words(arguments + 1, arguments + count);
    if (words.size() < 3) return 2;
    const std::size_t nodes = std::stoul(words[1]);
    if (words[0] == "write") {
        write_fleet(nodes, words[2], static_cast<std::size_t>(word(words, 3, 20)));
        return 0;
    }
    using Question = bool (*)(const Words&, std::size_t, unsigned);
    const Question question = words[0] == "healthy" ? has_false_slow
                              : words[0] == "slow"  ? finds_slow
                              : words[0] == "drift" ? finds_drift
                                                    : finds_link;
    unsigned found = 0;
    const std::size_t dash = words[2].find('-');
    const auto first = dash == std::string::npos ? 1UL : std::stoul(words[2]);
    const auto last = std::stoul(dash == std::string::npos ? words[2] : words[2].substr(dash + 1));
    for (auto seed = static_cast<unsigned>(first); seed <= last; ++seed) found += question(words, nodes, seed);
    std::cout << found << '\n';
}
