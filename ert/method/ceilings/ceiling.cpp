// Queries on the ceilings of a machine.
#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <initializer_list>

namespace roof {

namespace {

using Operations = std::initializer_list<std::string_view>;

/// The fastest ceiling of a level or precision without a condition, among these operations if any are given. Null if there is none.
const Ceiling* fastest(const Ceilings& ceilings, Role kind, const std::string& device, const std::string& of,
                       int threads, const Operations& operations = {})
{
    const Ceiling* best = nullptr;
    for (const Ceiling& c : ceilings.all) {
        const bool is_asked =
            c.kind == kind && c.device == device && c.threads == threads && c.condition.empty() &&
            (kind == Role::compute ? c.precision : c.level) == of &&
            (operations.size() == 0 || std::ranges::find(operations, c.operation) != operations.end());
        if (is_asked && (best == nullptr || best->rate.median < c.rate.median)) best = &c;
    }
    return best;
}

}  // namespace

const Ceiling* Ceilings::bandwidth(const std::string& device, const std::string& level, int threads) const
{
    return fastest(*this, Role::bandwidth, device, level, threads);
}

const Ceiling* Ceilings::compute(const std::string& device, const std::string& precision, int threads) const
{
    return fastest(*this, Role::compute, device, precision, threads);
}

const Ceiling* Ceilings::multiply_add(const std::string& device, const std::string& precision, int threads) const
{
    for (const Operations& of : {Operations{"fma", "dot", "tile", "widened"}, Operations{"mul+add"}, Operations{}})
        if (const Ceiling* best = fastest(*this, Role::compute, device, precision, threads, of)) return best;
    return nullptr;
}

int Ceilings::most_threads(const std::string& device) const
{
    int most = 0;
    for (const Ceiling& ceiling : all) {
        if (ceiling.device == device) most = std::max(most, ceiling.threads);
    }
    return most;
}

}  // namespace roof
