#include "tests/emulated_gpu/device/shared_memory.hpp"

#include "tests/emulated_gpu/device/fault.hpp"

#include <algorithm>
#include <cstring>

namespace roof::emulated {

namespace {

constexpr u32 threads_of_warp = 32;

[[noreturn]] void fail_at(const std::string& what, u32 address)
{
    throw Fault(Fault::Kind::launch, what + " at shared address " + std::to_string(address));
}

std::string pair_of(const Moment& former, const Moment& now)
{
    return "threads " + std::to_string(former.thread) + " and " + std::to_string(now.thread);
}

/// Throws Fault if the cell holds what a thread wrote and has not made visible to copies and tensor cores, or what no
/// barrier orders.
template <class Cell>
void check_written(const Cell& cell, const Moment& moment, u32 address, const std::vector<u32>& proxy_fences)
{
    const Moment& writer = cell.write.moment;
    if (writer.thread >= proxy_fences.size()) return;  // nobody
    const std::string thread = std::to_string(writer.thread);
    if (proxy_fences[writer.thread] == writer.proxy_fences)
        fail_at("no fence between the proxies after the write of thread " + thread, address);
    if (races(writer, moment))
        fail_at("no barrier orders the write of thread " + thread + " and a tensor core or copy", address);
}

}  // namespace

bool races(const Moment& a, const Moment& b)
{
    if (a.thread == b.thread || a.barriers != b.barriers) return false;
    return a.thread / threads_of_warp != b.thread / threads_of_warp || a.warp_barriers == b.warp_barriers;
}

SharedMemory::SharedMemory(std::size_t bytes)
    : size_(bytes), memory_(new std::byte[bytes + 1024]), cells_((bytes + word - 1) / word)
{
    const auto place = reinterpret_cast<std::uintptr_t>(memory_.get());
    begin_ = memory_.get() + ((place + 1023) / 1024 * 1024 - place);
}

void SharedMemory::begin()
{
    std::memset(begin_, 0xFF, size_);
    std::fill(cells_.begin(), cells_.end(), Cell{});
}

std::byte* SharedMemory::at(u32 address, std::size_t bytes) const
{
    if (bytes <= 16 && address % bytes != 0)
        throw Fault(Fault::Kind::misaligned, "a misaligned access to shared address " + std::to_string(address));
    if (address + bytes > size_)
        throw Fault(Fault::Kind::outside, "an access outside the shared memory, at " + std::to_string(address));
    return begin_ + address;
}

/// call(cell, mask of the bytes in its word)
template <class Call>
void SharedMemory::each_cell(u32 address, std::size_t bytes, const Call& call)
{
    for (std::size_t at = address; at < address + bytes;) {
        const std::size_t in_word = std::min(word - at % word, address + bytes - at);
        call(cells_[at / word], static_cast<u8>(((1U << in_word) - 1) << at % word));
        at += in_word;
    }
}

void SharedMemory::read_by(const Moment& moment, u32 address, std::size_t bytes)
{
    each_cell(address, bytes, [&](Cell& cell, u8 mask) {
        if (cell.async_writes != 0) fail_at("a read of what a copy is still to bring", address);
        const Moment& writer = cell.write.moment;
        if (writer.thread != nobody && (cell.write.bytes & mask) != 0 && races(writer, moment))
            fail_at("no barrier orders the write and the read of " + pair_of(writer, moment), address);
        const Moment& reader = cell.read.moment;
        const bool is_same_turn = reader.thread != nobody && reader.barriers == moment.barriers &&
                                  (reader.thread == several || reader.thread != moment.thread);
        cell.read.moment = moment;
        cell.read.bytes = is_same_turn ? static_cast<u8>(cell.read.bytes | mask) : mask;
        if (is_same_turn && races(reader, moment)) cell.read.moment.thread = several;
    });
}

void SharedMemory::written_by(const Moment& moment, u32 address, std::size_t bytes)
{
    each_cell(address, bytes, [&](Cell& cell, u8 mask) {
        if (cell.async_writes != 0) fail_at("a write to where a copy is still to write", address);
        if (cell.async_reads != 0) fail_at("a write to what a copy is still to read", address);
        for (const Access* former : {&cell.write, &cell.read}) {
            const Moment& other = former->moment;
            if (other.thread == nobody || (former->bytes & mask) == 0) continue;
            if (other.thread == several ? other.barriers == moment.barriers : races(other, moment))
                fail_at("no barrier orders the accesses of " + pair_of(other, moment), address);
        }
        const bool is_same = cell.write.moment.thread == moment.thread && cell.write.moment.barriers == moment.barriers;
        cell.write = {moment, static_cast<u8>(is_same ? cell.write.bytes | mask : mask)};
    });
}

void SharedMemory::begin_async(const Moment& moment, u32 address, std::size_t bytes, bool writes,
                               const std::vector<u32>& proxy_fences)
{
    if (!writes) read_by_tensor_core(moment, address, bytes, proxy_fences);
    each_cell(address, bytes, [&](Cell& cell, u8) {
        if (cell.async_writes != 0) fail_at("a copy where another is still to write", address);
        if (writes && cell.async_reads != 0) fail_at("a copy to what another is still to read", address);
        if (writes) check_written(cell, moment, address, proxy_fences);
        const Moment& reader = cell.read.moment;
        if (writes && reader.thread != nobody && races(reader, moment))
            fail_at("no barrier orders the read of thread " + std::to_string(reader.thread) + " and a copy to it",
                    address);
        ++(writes ? cell.async_writes : cell.async_reads);
    });
}

void SharedMemory::end_async(u32 address, std::size_t bytes, bool writes)
{
    each_cell(address, bytes, [&](Cell& cell, u8) {
        if (writes)
            cell = {};
        else
            --cell.async_reads;
    });
}

void SharedMemory::read_by_tensor_core(const Moment& moment, u32 address, std::size_t bytes,
                                       const std::vector<u32>& proxy_fences) const
{
    for (std::size_t at = address; at < address + bytes; at += word) {
        const Cell& cell = cells_[at / word];
        if (cell.async_writes != 0) fail_at("a read of what a copy is still to bring", address);
        check_written(cell, moment, address, proxy_fences);
    }
}

}  // namespace roof::emulated
