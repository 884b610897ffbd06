#include "workloads/engine/program.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <algorithm>
#include <limits>

namespace roof::engine {

void add_work(TimedPart& part, const Work& work)
{
    part.work.executed += work.executed.value > 0 ? work.executed : work.flops;
    part.work.flops += work.flops;
    part.work.compulsory += work.compulsory;
    part.work.no_reuse += work.no_reuse;
    part.work.read += work.read;
    part.work.written += work.written;
    part.work.refetched.insert(part.work.refetched.end(), work.refetched.begin(), work.refetched.end());
}

void add_operation(TimedPart& part, Operation operation)
{
    std::string& names = part.implementation;
    if ((" + " + names + " + ").find(" + " + operation.implementation + " + ") == std::string::npos)
        names += (names.empty() ? "" : " + ") + operation.implementation;
    part.operations.push_back(std::move(operation));
}

TimedPart finished(TimedPart part)
{
    if (part.work.executed == part.work.flops) part.work.executed = {};
    part.work.no_reuse = std::max(part.work.no_reuse, part.work.compulsory);
    return part;
}

namespace {

/// What cuBLASLt assumes of matrices and workspaces; also two cache lines, which a CPU fetches in pairs.
constexpr std::size_t alignment = 256;

}  // namespace

int MemoryPlan::add(std::size_t bytes)
{
    blocks_.push_back({.bytes = (bytes + alignment - 1) / alignment * alignment});
    return static_cast<int>(blocks_.size()) - 1;
}

void MemoryPlan::use(int index, int moment)
{
    Block& block = blocks_[static_cast<std::size_t>(index)];
    if (!block.needed()) block.first = block.last = moment;
    block.first = std::min(block.first, moment);
    block.last = std::max(block.last, moment);
}

void MemoryPlan::keep(int index)
{
    use(index, 0);
    use(index, std::numeric_limits<int>::max());
}

std::size_t MemoryPlan::lay_out()
{
    std::vector<Block*> order;
    for (Block& block : blocks_)
        if (block.needed()) order.push_back(&block);
    std::stable_sort(order.begin(), order.end(), [](const Block* a, const Block* b) { return a->bytes > b->bytes; });

    std::size_t total = 0;
    std::vector<const Block*> placed;  // by offset
    for (Block* block : order) {
        block->offset = lowest_gap(*block, placed);
        total = std::max(total, block->end());
        const auto after = [](const Block* a, const Block* b) { return a->offset < b->offset; };
        placed.insert(std::upper_bound(placed.begin(), placed.end(), block, after), block);
    }
    return total;
}

std::size_t MemoryPlan::lowest_gap(const Block& block, const std::vector<const Block*>& placed)
{
    std::size_t offset = 0;
    for (const Block* other : placed) {
        if (!block.meets(*other)) continue;
        if (offset + block.bytes <= other->offset) break;
        offset = std::max(offset, other->end());
    }
    return offset;
}

void StepMemory::require(const std::string& what_for) const
{
    const Bytes of_all = held * ranks;
    const Bytes available = available_memory("/", of_all);
    if (taken * ranks > available) throw OutOfMemory(whole(), of_all + available, what_for);
}

}  // namespace roof::engine
