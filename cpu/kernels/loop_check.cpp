#include "cpu/kernels/loop_check.hpp"

#include "cpu/kernels/decode.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace roof::cpu {

namespace {

struct Span {
    int from;
    int bytes;
};

/// The bytes that an iteration reads and writes behind each pointer, and what it adds to each register.
struct Iteration {
    std::map<int, std::vector<Span>> reads;
    std::map<int, std::vector<Span>> writes;
    std::map<int, long long> advances;
};

[[noreturn]] void fail(const std::string& what)
{
    throw Error("the loop " + what);
}

/// Whether the spans cover each byte from 0 to `bytes` once.
bool covers(std::vector<Span> spans, int bytes)
{
    std::ranges::sort(spans, {}, &Span::from);
    int end = 0;
    for (const Span& span : spans) {
        if (span.from != end) return false;
        end += span.bytes;
    }
    return end == bytes;
}

Iteration add_up(const StreamKernel& kernel)
{
    const std::vector<Instruction> code = decode(kernel.loop());
    const bool counts = kernel.form().addressing == Addressing::counter;
    Iteration iteration;
    for (const Instruction& instruction : code) {
        if (instruction.kind == Kind::other) fail("has an unknown instruction");
        if (instruction.kind == Kind::branch && &instruction != &code.back()) fail("has a branch");
        if (instruction.kind == Kind::advance) iteration.advances[instruction.register_index] += instruction.constant;
        const bool moves = instruction.kind != Kind::prefetch;
        if (!moves || (!instruction.reads_memory && !instruction.writes_memory)) continue;
        const MemoryOperand& address = instruction.address;
        if (!iteration.advances.empty()) fail("accesses memory after it has advanced");
        if (address.index != (counts ? StreamKernel::counter_register : -1)) fail("has another index register");
        if (instruction.writes_memory && instruction.bypasses_caches != kernel.stream().nontemporal)
            fail("has another kind of store");
        auto& spans = instruction.writes_memory ? iteration.writes : iteration.reads;
        spans[address.base].push_back({address.displacement, instruction.bytes});
    }
    const Instruction& last = code.back();
    if (last.kind != Kind::branch || last.constant != -static_cast<long long>(kernel.loop().size()))
        fail("does not return to its start");
    return iteration;
}

}  // namespace

void check_loop(const StreamKernel& kernel)
{
    const Stream& stream = kernel.stream();
    const Form& form = kernel.form();
    const auto step = static_cast<int>(StreamKernel::bytes_per_iteration(kernel.isa(), form)) / form.parts;
    const bool counts = form.addressing == Addressing::counter;
    const Iteration iteration = add_up(kernel);

    std::map<int, long long> advances{{StreamKernel::counter_register, counts ? step : -step}};
    std::size_t read = 0;
    for (int array = 0; array < stream.arrays(); ++array) {
        const bool is_destination = array == stream.sources;
        for (int part = 0; part < form.parts; ++part) {
            const int pointer = kernel.pointer_of(array, part);
            if (!counts) advances[pointer] = step;
            if (!is_destination || stream.in_place) {
                ++read;
                const auto found = iteration.reads.find(pointer);
                if (found == iteration.reads.end() || !covers(found->second, step))
                    fail("does not load each byte once");
            }
            if (!is_destination) continue;
            const auto found = iteration.writes.find(pointer);
            if (found == iteration.writes.end() || !covers(found->second, step)) fail("does not store each byte once");
        }
    }
    const std::size_t written = static_cast<std::size_t>(stream.stores * form.parts);
    if (iteration.reads.size() != read || iteration.writes.size() != written) fail("accesses other memory");
    if (iteration.advances != advances) fail("does not advance by the bytes that it accesses");
}

}  // namespace roof::cpu
