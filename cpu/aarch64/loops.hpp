// The loops of cpu/kernels for AArch64: the same descriptions as data (compute_loop.hpp, forms.hpp), in A64
// instructions. They run only under emulation so far (tests/aarch64). No bench offers them, so there is no rate of an
// AArch64 processor.
//
// What differs from x86-64: arithmetic has no operand in memory, so each vector is loaded first. A multiply-add adds to
// its destination. An address of two registers has no offset, so there is no loop with a counter as index register.
#pragma once

#include "cpu/kernels/compute_loop.hpp"
#include "cpu/kernels/forms.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::cpu::aarch64 {

/// The words of a function, and which of them are the loop: what is repeated with each iteration.
struct Code {
    std::vector<std::uint32_t> words;
    std::size_t loop_begin = 0;
    std::size_t loop_end = 0;
};

/// void(std::size_t iterations, const std::byte* start, const std::byte* constants, std::byte* result), with the
/// arguments of ComputeKernel::run(). Throws Unsupported for a kind of arithmetic that it has no instruction for.
Code generate(const ComputeLoop& loop);

/// The arguments of a loop over arrays, as of StreamKernel::run().
struct Arrays {
    std::byte* destination = nullptr;
    const std::byte* sources[2]{};
    const std::byte* constant = nullptr;
    std::byte* result = nullptr;
};

/// void(std::size_t passes, std::size_t bytes, const Arrays*). `bytes`: of each array, a multiple of those of an
/// iteration. Throws Unsupported for a counter, for non-temporal stores, which AArch64 has for pairs of registers only,
/// and for an operation without a usual name.
Code generate(const Isa& isa, const ArrayOperation& operation, const Form& form);

// Loops on general registers, for latency and for the state of a core (chase.hpp, core_probe.hpp).

/// const std::byte*(const std::byte* start, std::size_t steps): follows pointers, `loads` in an iteration.
Code generate_chase(int loads);

enum class Chain { additions, multiplications };

/// std::uint64_t(std::size_t iterations): `operations` in an iteration, each x += 3 or x *= 3, on `chains` registers in
/// turns, which start at 1. Returns the first.
Code generate_chains(Chain kind, int chains, int operations);

}  // namespace roof::cpu::aarch64
