#include "ert/method/rounds.hpp"

#include <map>
#include <string>

namespace roof {
namespace {

/// Seconds per FLOP or byte: the work of two visits may differ, for each sizes its own launches.
double cost(const Measurement& row)
{
    const double work = row.role == Role::bandwidth ? row.work.compulsory.value : row.work.flops.value;
    return work > 0 ? row.seconds.median.value / work : row.seconds.median.value;
}

bool better(const Measurement& a, const Measurement& b)
{
    const bool a_counts = a.status == Status::ok;
    const bool b_counts = b.status == Status::ok;
    return a_counts != b_counts ? a_counts : a_counts && cost(a) < cost(b);
}

}  // namespace

std::vector<Measurement> best_of_rounds(std::span<const Measurement> rows)
{
    std::vector<Measurement> best;
    std::map<std::string, std::size_t> place;
    for (const Measurement& row : rows) {
        Measurement visit = row;
        visit.point = row.point.without("round");
        const auto [at, is_first] = place.try_emplace(visit.id(), best.size());
        if (is_first) {
            best.push_back(std::move(visit));
        } else if (better(visit, best[at->second])) {
            best[at->second] = std::move(visit);
        }
    }
    return best;
}

}  // namespace roof
