// Numbers of chains to try: the pipes start up to two instructions of a kind per clock, and each takes about four
// clocks, so eight chains fill them if nothing is late. More chains tolerate delays. An addition may take fewer clocks.
#include "cpu/kernels/operations.hpp"

#include "ert/base/names.hpp"

#include <algorithm>
#include <iterator>

namespace roof::cpu {
namespace {

constexpr std::array<Arithmetic, 5> floating{Arithmetic::fma, Arithmetic::mul, Arithmetic::add, Arithmetic::div,
                                             Arithmetic::sqrt};

struct Split {
    int first_chains;
    int second_chains;
    int first_share = 1;
};

/// For 16 registers, one of which is a constant. `2 : 1` is for cores whose second kind has a separate pipe.
constexpr std::array<Split, 5> narrow_splits{{{10, 5}, {8, 7}, {9, 6}, {11, 4}, {10, 5, 2}}};
constexpr std::array<Split, 5> wide_splits{{{12, 12}, {15, 15}, {16, 8}, {10, 10}, {20, 10, 2}}};

bool is_floating(Precision precision)
{
    return precision == Precision::fp64 || precision == Precision::fp32 || precision == Precision::fp16;
}

bool has(const std::vector<Arithmetic>& kinds, Arithmetic kind)
{
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::vector<Arithmetic> kinds_of(Precision precision)
{
    if (is_floating(precision)) return {floating.begin(), floating.end()};
    if (precision == Precision::bf16) return {Arithmetic::dot, Arithmetic::tile, Arithmetic::widened};
    if (precision == Precision::int8) return {Arithmetic::dot, Arithmetic::tile};
    return {};
}

bool exists(Arithmetic kind, const Isa& isa, Precision precision)
{
    if (!has(kinds_of(precision), kind)) return false;
    if ((kind == Arithmetic::tile) != (isa.encoding == Encoding::tile)) return false;
    switch (precision) {
        case Precision::fp16:
            return isa.encoding == Encoding::evex || isa.is_aarch64();
        case Precision::bf16:
            if (kind == Arithmetic::widened) return isa.encoding == Encoding::vex || isa.encoding == Encoding::evex;
            return isa.encoding == Encoding::evex || isa.encoding == Encoding::tile || isa.is_aarch64();
        case Precision::int8:
            return isa.encoding != Encoding::scalar && isa.encoding != Encoding::sse;
        default:
            return true;
    }
}

const Operation& parse_operation(std::string_view name)
{
    const auto found = std::ranges::find(operation_table, name, &Operation::name);
    if (found == operation_table.end()) throw InputError(unknown_word("operation", name, operation_names()));
    return *found;
}

std::vector<Arithmetic> kinds_of(const Operation& operation)
{
    if (!operation.second) return {operation.first};
    return {operation.first, *operation.second};
}

std::string names_of(const std::vector<Arithmetic>& kinds)
{
    std::vector<std::string> names;
    for (const Arithmetic kind : kinds) names.emplace_back(name(kind));
    return join(names, ", ");
}

/// The operations that the search for the ceiling tries.
std::vector<Operation> searched(std::string_view operation, const Isa& isa, Precision precision)
{
    if (operation != best_operation) return {parse_operation(operation)};
    std::vector<Operation> all;
    for (const std::string_view word : {"fma+add", "fma", "mul+add", "add", "dot", "tile", "widened"}) {
        const Operation& row = parse_operation(word);
        if (exists(row.first, isa, precision)) all.push_back(row);
    }
    return all;
}

std::string_view missing_feature(const Operation& operation, const Isa& isa, Precision precision,
                                 const std::vector<std::string>& features)
{
    for (const Arithmetic kind : kinds_of(operation)) {
        const std::string_view needed = needed_feature(kind, isa, precision);
        if (!needed.empty() && std::find(features.begin(), features.end(), needed) == features.end()) return needed;
    }
    return {};
}

/// As in Linux' /proc/cpuinfo.
std::string_view needed_feature_of_aarch64(Arithmetic kind, bool is_sve, Precision precision)
{
    if (kind == Arithmetic::dot && precision == Precision::bf16) return is_sve ? "svebf16" : "bf16";
    if (kind == Arithmetic::dot) return is_sve ? "svei8mm" : "i8mm";
    return precision == Precision::fp16 && !is_sve ? "asimdhp" : "";
}

std::vector<int> chains_to_try(Arithmetic kind, const Isa& isa)
{
    if (kind == Arithmetic::div || kind == Arithmetic::sqrt) return {12, 8, 4};
    if (isa.encoding == Encoding::tile) return {5, 4};
    if (isa.registers == 16) return {12, 14, 10, 8};
    return {24, 28, 16, 12, 10};
}

void add_mixes(const Operation& operation, const Isa& isa, std::vector<Mix>& mixes)
{
    if (!operation.second) {
        for (const int chains : chains_to_try(operation.first, isa)) {
            const Mix mix{{{operation.first, chains}}};
            if (chains + mix.constants() + mix.scratch() <= isa.registers) mixes.push_back(mix);
        }
        return;
    }
    for (const Split& split : isa.registers == 16 ? narrow_splits : wide_splits)
        mixes.push_back(
            {{{operation.first, split.first_chains, split.first_share}, {*operation.second, split.second_chains}}});
}

}  // namespace

std::vector<std::string> operation_names()
{
    std::vector<std::string> names = names_in(operation_table);
    names.emplace(names.begin(), best_operation);
    return names;
}

std::optional<std::string> contradiction(std::string_view operation, const Isa& isa, Precision precision)
{
    const std::string elements(traits(precision).name);
    const std::vector<Arithmetic> of_precision = kinds_of(precision);
    if (of_precision.empty()) return "CPUs have no arithmetic in " + elements;
    std::vector<Arithmetic> here;
    std::copy_if(of_precision.begin(), of_precision.end(), std::back_inserter(here),
                 [&](Arithmetic kind) { return exists(kind, isa, precision); });
    const std::string none = std::string(isa.name) + " has no arithmetic in " + elements;
    if (operation == best_operation) return here.empty() ? std::optional(none) : std::nullopt;
    for (const Arithmetic kind : kinds_of(parse_operation(operation))) {
        if (!has(of_precision, kind))
            return elements + " has the operations " + names_of(of_precision) + ", not " + std::string(operation);
        if (here.empty()) return none;
        if (!has(here, kind))
            return std::string(isa.name) + " in " + elements + " has " + names_of(here) + ", not " +
                   std::string(operation);
    }
    return std::nullopt;
}

std::string_view needed_feature(Arithmetic kind, const Isa& isa, Precision precision)
{
    if (isa.is_aarch64()) return needed_feature_of_aarch64(kind, isa.encoding == Encoding::sve, precision);
    if (kind == Arithmetic::tile) return precision == Precision::bf16 ? "amx_bf16" : "amx_int8";
    if (kind == Arithmetic::dot && precision == Precision::bf16) return "avx512_bf16";
    if (kind == Arithmetic::dot) return isa.encoding == Encoding::evex ? "avx512_vnni" : "avx_vnni";
    if (precision == Precision::fp16) return "avx512_fp16";
    return kind == Arithmetic::fma || kind == Arithmetic::widened ? "fma" : "";
}

std::string missing_feature(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features)
{
    std::string missing;
    for (const Operation& row : searched(operation, isa, precision)) {
        missing = missing_feature(row, isa, precision, features);
        if (missing.empty()) return {};
    }
    return missing;
}

std::vector<Mix> candidates(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features)
{
    std::vector<Mix> mixes;
    for (const Operation& row : searched(operation, isa, precision))
        if (missing_feature(row, isa, precision, features).empty()) add_mixes(row, isa, mixes);
    return mixes;
}

}  // namespace roof::cpu
