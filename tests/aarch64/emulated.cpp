// Runs every loop for AArch64 once, and prints where its code is. usage: emulated neon|sve<bits> RESULTS CODE
//
// RESULTS: the results of all loops, one behind the other, in the form of expected.cpp. CODE: the machine code.
#include "cpu/aarch64/loops.hpp"
#include "cpu/kernels/reference.hpp"
#include "ert/base/error.hpp"
#include "tests/aarch64/cases.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <sys/mman.h>

using namespace roof;
using namespace roof::cpu;
using namespace roof::tests;

namespace {

/// A fixed place, which the trace of the emulator is filtered by (test_aarch64.py).
constexpr std::uintptr_t code_address = 0x200000000;
constexpr std::size_t code_bytes = 4 << 20;

class Memory {
  public:
    Memory()
        : begin_(static_cast<char*>(mmap(reinterpret_cast<void*>(code_address), code_bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)))
    {
        if (reinterpret_cast<std::uintptr_t>(begin_) != code_address) throw Error("no memory at the fixed place");
    }

    /// Copies the function into the memory and prints the addresses of its loop.
    std::size_t add(const aarch64::Code& code)
    {
        const std::size_t start = used_;
        const std::size_t bytes = code.words.size() * sizeof(std::uint32_t);
        if (start + bytes > code_bytes) throw Error("too little memory for the code");
        std::memcpy(begin_ + start, code.words.data(), bytes);
        used_ = (start + bytes + 63) / 64 * 64;
        std::printf("%zx %zx\n", code_address + start + 4 * code.loop_begin, code_address + start + 4 * code.loop_end);
        return start;
    }

    void make_executable()
    {
        __builtin___clear_cache(begin_, begin_ + used_);
        if (mprotect(begin_, code_bytes, PROT_READ | PROT_EXEC) != 0) throw Error("the code cannot be made executable");
    }

    template <class Function>
    Function function(std::size_t start) const
    {
        return reinterpret_cast<Function>(code_address + start);
    }

    void write(const char* file) const
    {
        std::ofstream(file, std::ios::binary).write(begin_, static_cast<long>(used_));
    }

  private:
    char* begin_;
    std::size_t used_ = 0;
};

void append(std::ofstream& to, const void* from, std::size_t bytes)
{
    to.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
}

void run(const ComputeLoop& loop, const Memory& memory, std::size_t start, std::ofstream& results)
{
    using Function = void (*)(std::size_t, const std::byte*, const std::byte*, std::byte*);
    const Operands operands = telling_operands(loop);
    RegisterFile result(loop.mix().chains(), loop.isa().register_bytes, loop.accumulator_format());
    memory.function<Function>(start)(compute_iterations, operands.start.data(), operands.constants.data(),
                                     result.data());
    append(results, result.data(), static_cast<std::size_t>(loop.mix().chains() * loop.isa().register_bytes));
}

void run(const StreamCase& one, const Isa& isa, const Memory& memory, std::size_t start, std::ofstream& results)
{
    using Function = void (*)(std::size_t, std::size_t, const aarch64::Arrays*);
    std::vector<std::vector<std::uint64_t>> arrays(one.stream.arrays());
    aarch64::Arrays arguments;
    for (int i = 0; i < one.stream.arrays(); ++i) {
        for (std::size_t k = 0; k < one.bytes / 8; ++k) arrays[i].push_back(word(i, k));
        auto* const data = reinterpret_cast<std::byte*>(arrays[i].data());
        if (i < one.stream.sources)
            arguments.sources[i] = data;
        else
            arguments.destination = data;
    }
    const auto number = one.stream.in_place ? added_word : std::bit_cast<std::uint64_t>(stored_number);
    const std::vector<std::uint64_t> constant(isa.register_bytes / 8, number);
    std::vector<std::byte> values(values_of(one.form) * isa.register_bytes);
    arguments.constant = reinterpret_cast<const std::byte*>(constant.data());
    arguments.result = values.data();
    memory.function<Function>(start)(stream_passes, one.bytes, &arguments);
    if (one.stream.only_reads()) return append(results, values.data(), values.size());
    append(results, arguments.destination, one.bytes);
}

void run_chase(const Memory& memory, std::size_t start, std::ofstream& results)
{
    using Function = const std::byte* (*)(const std::byte*, std::size_t);
    std::vector<std::byte> lines(chase_lines * 64);
    for (int i = 0; i < chase_lines; ++i) {
        const std::byte* const next = &lines[(i + chase_stride) % chase_lines * 64];
        std::memcpy(&lines[i * 64], &next, sizeof next);
    }
    const std::uint64_t offset = memory.function<Function>(start)(lines.data(), chase_steps) - lines.data();
    append(results, &offset, sizeof offset);
}

void run_chain(const Memory& memory, std::size_t start, std::ofstream& results)
{
    const std::uint64_t value = memory.function<std::uint64_t (*)(std::size_t)>(start)(chain_iterations);
    append(results, &value, sizeof value);
}

}  // namespace

int main(int, char** argv)
{
    const Isa isa = parse_case_isa(argv[1]);
    std::ofstream results(argv[2], std::ios::binary);
    std::vector<ComputeLoop> loops;
    for (const ComputeCase& one : compute_cases(isa)) loops.emplace_back(isa, one.precision, one.mix);
    const std::vector<StreamCase> streams = stream_cases(isa);
    Memory memory;
    std::vector<std::size_t> starts;
    for (const ComputeLoop& loop : loops) starts.push_back(memory.add(aarch64::generate(loop)));
    for (const StreamCase& one : streams) starts.push_back(memory.add(aarch64::generate(isa, one.stream, one.form)));
    starts.push_back(memory.add(aarch64::generate_chase(chase_loads)));
    for (const ChainCase& one : chain_cases) {
        const auto kind = one.multiplies ? aarch64::Chain::multiplications : aarch64::Chain::additions;
        starts.push_back(memory.add(aarch64::generate_chains(kind, one.chains, chain_operations)));
    }
    memory.make_executable();
    std::size_t next = 0;
    for (const ComputeLoop& loop : loops) run(loop, memory, starts[next++], results);
    for (const StreamCase& one : streams) run(one, isa, memory, starts[next++], results);
    run_chase(memory, starts[next++], results);
    while (next < starts.size()) run_chain(memory, starts[next++], results);
    memory.write(argv[3]);
}
