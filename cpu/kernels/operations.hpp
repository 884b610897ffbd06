// The operations of the compute ceilings, one table row each, under the names that plans use. Says which exist for an
// instruction set and a precision, and which mixes a search tries.
#pragma once

#include "cpu/isa.hpp"
#include "cpu/kernels/compute_loop.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

struct Operation {
    std::string_view name;
    Arithmetic first = Arithmetic::fma;
    std::optional<Arithmetic> second = std::nullopt;
};

/// The fastest operation: the ceiling of the precision.
inline constexpr std::string_view best_operation = "best";

inline constexpr std::array<Operation, 10> operation_table{{
    {"fma", Arithmetic::fma},
    {"mul", Arithmetic::mul},
    {"add", Arithmetic::add},
    {"mul+add", Arithmetic::mul, Arithmetic::add},
    {"fma+add", Arithmetic::fma, Arithmetic::add},
    {"div", Arithmetic::div},
    {"sqrt", Arithmetic::sqrt},
    {"dot", Arithmetic::dot},
    {"tile", Arithmetic::tile},
    {"widened", Arithmetic::widened},
}};

std::vector<std::string> operation_names();

/// The reason why no processor has the operation for this instruction set and precision, or none. Throws InputError for
/// an unknown operation.
std::optional<std::string> contradiction(std::string_view operation, const Isa& isa, Precision precision);

/// The feature the instruction needs beyond its instruction set, as in Machine::features; empty if none.
std::string_view needed_feature(Arithmetic kind, const Isa& isa, Precision precision);

/// The first feature missing from `features` that every form of the operation needs; empty if none. Requires no
/// contradiction().
std::string missing_feature(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features);

/// The mixes to try on a machine with `features`, the most robust first; empty only if a feature is missing. Requires
/// no contradiction().
std::vector<Mix> candidates(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features);

}  // namespace roof::cpu
