#include "cpu/kernels/compute_loop.hpp"

#include "cpu/kernels/operations.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace roof::cpu {
namespace {

struct ArithmeticKind {
    Arithmetic value;
    std::string_view name;
    int constants;
    int first_in_turn = 0;  ///< steps read the constants from this one on in turns
    int scratch = 0;        ///< further registers
};

constexpr std::array<ArithmeticKind, 8> kinds{{{Arithmetic::fma, "fma", 1},
                                               {Arithmetic::mul, "mul", 1},
                                               {Arithmetic::add, "add", 1},
                                               {Arithmetic::div, "div", 2},
                                               {Arithmetic::sqrt, "sqrt", 0},
                                               {Arithmetic::dot, "dot", 3, 1},
                                               {Arithmetic::tile, "tile", 3, 1},
                                               {Arithmetic::widened, "widened", 3, 1, 5}}};

const ArithmeticKind& row(Arithmetic kind)
{
    return *std::ranges::find(kinds, kind, &ArithmeticKind::value);
}

int constant_in_turn(const ArithmeticKind& kind, int turn)
{
    return kind.first_in_turn + turn % std::max(1, kind.constants - kind.first_in_turn);
}

/// Rounds after which each chain of every strand has the same number of pairs of steps.
int rounds_of(const Mix& mix)
{
    int rounds = 1;
    for (const Strand& strand : mix.strands) {
        const int pairs = 2 * strand.chains;
        rounds = std::lcm(rounds, pairs / std::gcd(pairs, strand.share));
    }
    return rounds;
}

}  // namespace

std::string_view name(Arithmetic kind)
{
    return row(kind).name;
}

int flops_of(Arithmetic kind, Precision precision)
{
    constexpr int lane_bytes = 4;
    constexpr int row_bytes = 64;
    const int element_bytes = traits(precision).storage_bytes;
    switch (kind) {
        case Arithmetic::fma:
            return 2;
        case Arithmetic::dot:
        case Arithmetic::widened:
            return 2 * lane_bytes / element_bytes;
        case Arithmetic::tile:
            return 2 * row_bytes / element_bytes;
        default:
            return 1;
    }
}

int Mix::chains() const
{
    return std::accumulate(strands.begin(), strands.end(), 0, [](int sum, const Strand& s) { return sum + s.chains; });
}

int Mix::constants() const
{
    int most = 0;
    for (const Strand& strand : strands) most = std::max(most, row(strand.kind).constants);
    return most;
}

int Mix::scratch() const
{
    return row(strands.front().kind).scratch;
}

bool Mix::sums_products() const
{
    return uses(Arithmetic::dot) || uses(Arithmetic::tile) || uses(Arithmetic::widened);
}

bool Mix::uses(Arithmetic kind) const
{
    return std::any_of(strands.begin(), strands.end(), [&](const Strand& strand) { return strand.kind == kind; });
}

std::string Mix::description() const
{
    std::string chains_of_each;
    std::string shares;
    for (const Strand& strand : strands) {
        chains_of_each += (chains_of_each.empty() ? "" : " + ") + std::to_string(strand.chains) + " ";
        chains_of_each += name(strand.kind);
        shares += (shares.empty() ? "" : " : ") + std::to_string(strand.share);
    }
    const bool equal = strands.front().share == strands.back().share;
    return chains_of_each + " chains" + (equal ? "" : ", " + shares + " instructions");
}

std::vector<Step> body(const Mix& mix)
{
    constexpr std::size_t least = 24;  // makes the loop's own two instructions negligible
    std::vector<Step> steps;
    std::vector<int> done(mix.strands.size());
    const int rounds = rounds_of(mix);
    while (steps.size() < least) {
        for (int round = 0; round < rounds; ++round) {
            int first_chain = 0;
            for (std::size_t i = 0; i < mix.strands.size(); ++i) {
                const Strand& strand = mix.strands[i];
                for (int k = 0; k < strand.share; ++k, ++done[i]) {
                    const int turn = done[i] / strand.chains;
                    steps.push_back(
                        {strand.kind, first_chain + done[i] % strand.chains, constant_in_turn(row(strand.kind), turn)});
                }
                first_chain += strand.chains;
            }
        }
    }
    return steps;
}

double flops_per_lane(const std::vector<Step>& steps, Precision precision)
{
    return std::accumulate(steps.begin(), steps.end(), 0.0,
                           [&](double sum, const Step& step) { return sum + flops_of(step.operation, precision); });
}

ComputeLoop::ComputeLoop(const Isa& isa_row, Precision precision, const Mix& mix)
    : isa_(isa_row),
      precision_(precision),
      mix_(mix),
      steps_(body(mix_)),
      flops_per_iteration_(flops_per_lane(steps_, precision) * lanes())
{
    for (const Strand& strand : mix_.strands)
        if (const auto reason = contradiction(name(strand.kind), isa_row, precision)) throw Unsupported(*reason);
    if (mix_.chains() + mix_.constants() + mix_.scratch() > isa_row.registers)
        throw Error(mix_.description() + " are too many for the registers of " + std::string(isa_row.name));
}

Format ComputeLoop::accumulator_format() const
{
    if (!mix_.sums_products()) return format_of(precision_);
    return precision_ == Precision::int8 ? int32_format : fp32_format;
}

int ComputeLoop::lanes() const
{
    return 8 * isa_.operand_bytes(traits(precision_).storage_bytes) / accumulator_format().storage_bits;
}

}  // namespace roof::cpu
