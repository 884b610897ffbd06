#include "tests/emulated_gpu/device/global_races.hpp"

#include "tests/emulated_gpu/device/fault.hpp"

#include <algorithm>
#include <string>

namespace roof::emulated {

namespace {

constexpr u64 word = 4, page = 256;

template <class Map>
void join(Map& to, const Map& from)
{
    for (const auto& [key, value] : from) to[key] = value;
}

std::string name_of(u32 block, const Moment& moment)
{
    return "thread " + std::to_string(moment.thread) + " of block " + std::to_string(block);
}

}  // namespace

void GlobalRaces::begin(u32 block, u32 threads)
{
    BlockState& state = blocks_[block];
    state.fences.assign(threads, 0);
    state.barriers_at_fence.assign(threads, 0);
    state.fences_at_barrier = std::make_shared<std::vector<u32>>(threads);
}

void GlobalRaces::access(u32 block, const Moment& moment, Kind kind, u64 address, std::size_t bytes)
{
    for (u64 at = address; at < address + bytes;) {
        const u64 in_word = std::min<u64>(word - at % word, address + bytes - at);
        std::vector<Cell>& cells = cells_[at / word / page];
        cells.resize(page);
        Cell& cell = cells[at / word % page];
        const auto mask = static_cast<u8>(((1U << in_word) - 1) << at % word);
        for (const Access* former : {&cell.write, &cell.read}) {
            const bool are_reads = kind == Kind::read && former == &cell.read;
            const bool are_atomic = kind == Kind::atomic && former->is_atomic;
            if (!former->is_any || are_reads || are_atomic || (former->bytes & mask) == 0) continue;
            if (!is_over(*former, block, moment))
                throw Fault(Fault::Kind::launch, "nothing orders the accesses to global memory of " +
                                                     name_of(former->block, former->moment) + " and " +
                                                     name_of(block, moment));
        }
        const Access now{true, kind == Kind::atomic, block, blocks_[block].fences[moment.thread], moment, mask};
        (kind == Kind::read ? cell.read : cell.write) = now;
        at += in_word;
    }
    if (kind == Kind::atomic) tell_and_hear(block, moment, address);
}

bool GlobalRaces::is_over(const Access& former, u32 block, const Moment& now) const
{
    if (former.block == block) return !races(former.moment, now);
    const BlockState& here = blocks_.at(block);
    const auto tells = [&](const Heard& heard) {
        const auto begin = heard.lower_bound({former.block, 0});
        const auto end = heard.lower_bound({former.block + 1, 0});
        return std::any_of(begin, end, [&](const auto& entry) {
            const Told& told = entry.second;
            return (*told.fences)[former.moment.thread] > former.fences || former.moment.barriers < told.barriers ||
                   (entry.first.second == former.moment.thread && told.own_fences > former.fences);
        });
    };
    const auto listener = here.threads.find(now.thread);
    return tells(here.all.heard) || (listener != here.threads.end() && tells(listener->second.heard));
}

void GlobalRaces::fence(u32 block, const Moment& moment)
{
    BlockState& here = blocks_[block];
    ++here.fences[moment.thread];
    here.barriers_at_fence[moment.thread] = moment.barriers;
    Listener& listener = here.threads[moment.thread];
    join(listener.heard, here.all.unfenced);
    join(listener.heard, listener.unfenced);
}

void GlobalRaces::barrier(u32 block)
{
    BlockState& here = blocks_[block];
    here.fences_at_barrier = std::make_shared<std::vector<u32>>(here.fences);
    for (const auto& [thread, listener] : here.threads) {
        join(here.all.heard, listener.heard);
        join(here.all.unfenced, listener.unfenced);
    }
    here.threads.clear();
}

void GlobalRaces::tell_and_hear(u32 block, const Moment& moment, u64 address)
{
    BlockState& here = blocks_[block];
    Heard& at = told_[address];
    Listener& listener = here.threads[moment.thread];
    join(listener.unfenced, at);
    if (here.fences[moment.thread] == 0) return;
    at[{block, moment.thread}] = {here.fences_at_barrier, here.fences[moment.thread],
                                  here.barriers_at_fence[moment.thread]};
    join(at, here.all.heard);
    join(at, listener.heard);
}

}  // namespace roof::emulated
