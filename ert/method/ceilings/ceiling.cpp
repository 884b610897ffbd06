// Queries on the ceilings of a machine.
#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <initializer_list>

namespace roof {

namespace {

template <class Accept>
const Ceiling* best_of(const std::vector<Ceiling>& ceilings, Accept accept)
{
    const Ceiling* best = nullptr;
    for (const Ceiling& ceiling : ceilings) {
        if (accept(ceiling) && (best == nullptr || best->rate.median < ceiling.rate.median)) best = &ceiling;
    }
    return best;
}

}  // namespace

const Ceiling* Ceilings::bandwidth(const std::string& device, const std::string& level, int threads) const
{
    return best_of(all, [&](const Ceiling& c) {
        return c.kind == Role::bandwidth && c.device == device && c.level == level && c.threads == threads &&
               c.condition.empty();
    });
}

const Ceiling* Ceilings::compute(const std::string& device, const std::string& precision, int threads) const
{
    return best_of(all, [&](const Ceiling& c) {
        return c.kind == Role::compute && c.device == device && c.precision == precision && c.threads == threads &&
               c.condition.empty();
    });
}

const Ceiling* Ceilings::multiply_add(const std::string& device, const std::string& precision, int threads) const
{
    using Operations = std::initializer_list<std::string_view>;
    for (const Operations& operations : {Operations{"fma", "dot", "tile", "widened"}, Operations{"mul+add"}}) {
        const Ceiling* const best = best_of(all, [&](const Ceiling& c) {
            return c.kind == Role::compute && c.device == device && c.precision == precision && c.threads == threads &&
                   c.condition.empty() && std::ranges::find(operations, c.operation) != operations.end();
        });
        if (best != nullptr) return best;
    }
    return compute(device, precision, threads);
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
