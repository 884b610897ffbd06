// The operations of the compute ceilings, by the names that plans use: one table, one row each; which of them exist for an
// instruction set and a precision, and the mixes a search tries for each.
#pragma once

#include "cpu/isa.hpp"
#include "cpu/kernels/mix.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// An operation that consists of one kind of instruction, or of two.
struct Operation {
    std::string_view name;
    Arithmetic first = Arithmetic::fma;
    std::optional<Arithmetic> second = std::nullopt;
};

/// The operation that stands for whichever is fastest: the roof of the precision.
inline constexpr std::string_view best_operation = "best";

inline constexpr std::array<Operation, 9> operation_table{{
    {"fma", Arithmetic::fma},
    {"mul", Arithmetic::mul},
    {"add", Arithmetic::add},
    {"mul+add", Arithmetic::mul, Arithmetic::add},
    {"fma+add", Arithmetic::fma, Arithmetic::add},
    {"div", Arithmetic::div},
    {"sqrt", Arithmetic::sqrt},
    {"dot", Arithmetic::dot},
    {"tile", Arithmetic::tile},
}};

/// `best`, and the names in the table.
std::vector<std::string> operation_names();

/// Why no processor has the operation for this instruction set and precision, or nothing. Throws InputError for an
/// operation that is none.
std::optional<std::string> contradiction(std::string_view operation, const Isa& isa, Precision precision);

/// What the instruction needs beside its instruction set, as in Machine::features; empty if nothing.
std::string_view needed_feature(Arithmetic kind, const Isa& isa, Precision precision);

/// The first feature that keeps the operation, however it is written, from a machine that has `features`; empty if none
/// does. For combinations without contradiction.
std::string missing_feature(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features);

/// The mixes to try, of those that a machine with `features` can run; the sturdiest first, empty only where a feature is
/// missing. For combinations without contradiction.
std::vector<Mix> candidates(std::string_view operation, const Isa& isa, Precision precision,
                            const std::vector<std::string>& features);

}  // namespace roof::cpu
