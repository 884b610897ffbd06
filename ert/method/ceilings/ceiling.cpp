// Queries on the ceilings of a machine.
#include "ert/method/ceilings/ceiling.hpp"

#include "ert/method/bench/chip.hpp"

#include <algorithm>
#include <array>

namespace roof {

namespace {

bool is_of(const Ceiling& c, Role kind, const std::string& device, const std::string& name)
{
    return c.kind == kind && c.device == device && c.condition.empty() &&
           (kind == Role::compute ? c.precision : c.level) == name;
}

/// The fastest of the chosen ceilings. Null if there is none.
template <class Condition>
const Ceiling* fastest(const std::vector<Ceiling>& all, const Condition& is_chosen)
{
    const Ceiling* best = nullptr;
    for (const Ceiling& c : all)
        if (is_chosen(c) && (best == nullptr || best->rate.median < c.rate.median)) best = &c;
    return best;
}

/// Narrowest first; 0 for an instruction set of a GPU, of which none is wider than another.
int width_of(std::string_view isa)
{
    constexpr std::array<std::string_view, 7> narrowest_first{"scalar", "neon", "sse", "avx2", "sve", "avx512", "amx"};
    const auto* const found = std::ranges::find(narrowest_first, isa);
    return found == narrowest_first.end() ? 0 : static_cast<int>(found - narrowest_first.begin()) + 1;
}

/// Multiply-adds of two instructions are no faster than one instruction as wide.
bool may_be_faster(const Unmeasured& one, const Ceiling& than)
{
    const bool takes_two = one.operation == "mul+add" || one.operation == "widened";
    return width_of(one.isa) > width_of(than.isa) || (width_of(one.isa) == width_of(than.isa) && !takes_two);
}

}  // namespace

void take_rate(const SustainedRate& sustained, Ceiling& ceiling)
{
    const Estimate<Hertz> known = sustained.clock.n > 0 ? sustained.clock : ceiling.clock;
    static_cast<SustainedRate&>(ceiling) = sustained;
    ceiling.clock = known;
    const double clock = ceiling.clock.median.value;
    if (ceiling.per_clock.n == 0 && clock > 0)
        ceiling.per_clock = {{ceiling.rate.median.value / clock},
                             {ceiling.rate.low.value / clock},
                             {ceiling.rate.high.value / clock},
                             ceiling.rate.n,
                             0};
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

bool is_multiply_add(std::string_view operation)
{
    constexpr std::array<std::string_view, 7> multiply_adds{"fma",        "mul+add", "dot",   "tile",
                                                            "tile_pairs", "widened", "matmul"};
    return std::ranges::find(multiply_adds, operation) != multiply_adds.end() || operation.ends_with("FLOPs");
}

const Ceiling* Ceilings::bandwidth(const std::string& device, const std::string& level, int threads) const
{
    return fastest(all,
                   [&](const Ceiling& c) { return is_of(c, Role::bandwidth, device, level) && c.threads == threads; });
}

const Ceiling* Ceilings::compute(const std::string& device, const std::string& precision, int threads) const
{
    return fastest(
        all, [&](const Ceiling& c) { return is_of(c, Role::compute, device, precision) && c.threads == threads; });
}

std::optional<Ceiling> Ceilings::roof(Role kind, const std::string& device, const std::string& name, int threads) const
{
    for (const Unmeasured& one : unmeasured)
        if (kind == Role::compute && one.isa == tensor_cores && one.device == device && one.precision == name)
            return {};
    const auto may_be = [&](const Ceiling& c) {
        return is_of(c, kind, device, name) && (kind != Role::compute || is_multiply_add(c.operation));
    };
    const Ceiling* const own = fastest(all, [&](const Ceiling& c) { return may_be(c) && c.threads == threads; });
    const Ceiling* const fewer = fastest(all, [&](const Ceiling& c) { return may_be(c) && c.threads < threads; });
    const bool is_open = own == nullptr || own->steadiness == Steadiness::at_least;
    const bool takes_fewer =
        fewer != nullptr && (own == nullptr || fewer->rate.low > (is_open ? own->rate.median : own->rate.high));
    const Ceiling* const best = takes_fewer ? fewer : own;
    if (best == nullptr) return {};
    Ceiling roof = *best;
    if (takes_fewer && is_open)
        roof.stands_in = "more than " + std::to_string(fewer->threads) +
                         (fewer->threads == 1 ? " thread" : " threads") + " showed less";
    if (takes_fewer && own == nullptr)
        roof.stands_in = "it was not measured with " + std::to_string(threads) + " threads";
    for (const Unmeasured& one : unmeasured)
        if (kind == Role::compute && roof.stands_in.empty() && one.device == device && one.precision == name &&
            one.threads == threads && may_be_faster(one, roof))
            roof.stands_in = one.operation + " " + one.isa + " was not measured";
    if (!roof.stands_in.empty() && roof.steadiness != Steadiness::at_least) {
        roof.steadiness = Steadiness::at_least;
        roof.rate.median = roof.rate.low;
    }
    return roof;
}

int Ceilings::most_threads(const std::string& device) const
{
    int most = 0;
    for (const Ceiling& ceiling : all)
        if (ceiling.device == device) most = std::max(most, ceiling.threads);
    return most;
}

}  // namespace roof
