// From a row of the mix table to the list of steps in the loop body.
#include "cpu/kernels/mix.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace roof::cpu {

namespace {

/// A common multiple of the row's chains.
int steps_of_each_kind(const Mix& mix)
{
    int steps = 1;
    if (mix.fma_chains > 0) steps = std::lcm(steps, mix.fma_chains);
    if (mix.mul_chains > 0) steps = std::lcm(steps, mix.mul_chains);
    if (mix.add_chains > 0) steps = std::lcm(steps, mix.add_chains);
    constexpr int least = 24;
    return (least + steps - 1) / steps * steps;
}

}  // namespace

const Mix& parse_mix(std::string_view name)
{
    const auto found =
        std::find_if(mix_table.begin(), mix_table.end(), [&](const Mix& mix) { return mix.name == name; });
    if (found != mix_table.end()) return *found;
    std::vector<std::string> legal;
    for (const Mix& mix : mix_table) legal.emplace_back(mix.name);
    throw InputError(unknown_word("operation", name, legal));
}

std::vector<Step> body(const Mix& mix)
{
    const int muls_from = mix.fma_chains;
    const int adds_from = muls_from + mix.mul_chains;
    std::vector<Step> steps;
    for (int k = 0; k < steps_of_each_kind(mix); ++k) {
        if (mix.fma_chains > 0) steps.push_back({Arithmetic::fma, k % mix.fma_chains});
        if (mix.mul_chains > 0) steps.push_back({Arithmetic::mul, muls_from + k % mix.mul_chains});
        if (mix.add_chains > 0) steps.push_back({Arithmetic::add, adds_from + k % mix.add_chains});
    }
    return steps;
}

double flops_per_lane(const std::vector<Step>& steps)
{
    return std::accumulate(steps.begin(), steps.end(), 0.0,
                           [](double sum, const Step& step) { return sum + flops_of(step.operation); });
}

}  // namespace roof::cpu
