// A CUDA thread as the translated code sees it: its place, its accesses, and what it does together with others.
#pragma once

#include "tests/emulated_gpu/device/arithmetic.hpp"
#include "tests/emulated_gpu/device/global_races.hpp"
#include "tests/emulated_gpu/device/kernels.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace roof::emulated {

class Block;
class Fiber;
struct Group;
struct Copy;

struct MmaShape {
    int m, n, k;
    Format format;
};
struct WgmmaOperands {
    u64 a, b;  ///< descriptors
    bool keeps;
    s32 sign;
};
enum class Kind { tf32, f16, i8, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };  ///< of tcgen05

/// Columns of tensor memory with the scales of both operands of tcgen05.
struct Scales {
    u32 of_a, of_b;
};

/// All functions throw Fault where a device would fail, or where the order of threads would decide about the result.
class Thread {
  public:
    Thread(Block& block, u32 number, Dim place, Fiber& fiber);

    const Dim index;
    const Dim& block_size() const;
    const Dim& block_index() const;
    const Dim& grid_size() const;
    u32 multiprocessor() const;  ///< counted from 0
    u32 multiprocessor_number() const;
    /// Both clocks at one moment, if the thread reads the cycle first: time that others take in between is not its own.
    u64 cycle();
    u64 nanosecond();
    /// A straight run of so many instructions begins.
    void issue(u32 instructions);
    [[noreturn]] void trap();

    template <class T>
    T argument(std::size_t offset) const
    {
        T value;
        std::memcpy(&value, arguments_ + offset, sizeof(value));
        return value;
    }
    template <class T, std::size_t count>
    std::array<T, count> load_global(u64 address, int line, bool past_l1)
    {
        std::array<T, count> value;
        read_global<sizeof(value)>(address, value.data(), line, past_l1);
        return value;
    }
    template <class T, std::size_t count>
    void store_global(u64 address, std::array<T, count> value, int line)
    {
        write_global<sizeof(value)>(address, value.data(), line);
    }
    template <class T, std::size_t count>
    std::array<T, count> load_shared(u32 address, int line)
    {
        std::array<T, count> value;
        read_shared<sizeof(value)>(address, value.data(), line);
        return value;
    }
    template <class T, std::size_t count>
    void store_shared(u32 address, std::array<T, count> value, int line)
    {
        write_shared<sizeof(value)>(address, value.data(), line);
    }
    template <class T, class Operation>
    T atomic(u64 address, T operand, Operation operation, int line)
    {
        auto* const at = static_cast<T*>(atomic_place(address, sizeof(T), line));
        const T old = *at;
        *at = operation(old, operand);
        return old;
    }

    u32 cluster_rank() const;
    u32 cluster_size() const;
    void cluster_arrive();
    void cluster_wait();

    void barrier(u32 which, int line);
    void warp_barrier(u32 lanes, int line);
    /// A bit for each of the lanes named that brings true; all of them take part.
    u32 ballot(bool mine, u32 lanes, int line);
    /// The value of the lane whose number differs by these bits; all the lanes named take part. `clamp`: 31, a whole
    /// warp.
    u32 shuffle_xor(u32 value, u32 distance, u32 clamp, u32 lanes, int line);
    void fence();
    void proxy_fence();

    void mbarrier_init(u32 at, u32 count);
    void mbarrier_init_fence() {}
    void mbarrier_arrive(u32 at, u32 expected_bytes);
    bool mbarrier_try_wait(u32 at, u32 parity);
    void bulk_load(u32 to, u64 from, u32 bytes, u32 barrier);
    void bulk_store(u64 to, u32 from, u32 bytes);
    void bulk_commit();
    /// `only_read`: the copies need only have read their sources.
    void bulk_wait(u32 most_groups, bool only_read);

    template <class Sum, class Operand>
    void mma(const MmaShape& shape, Sum* sums, const Operand* a, const Operand* b)
    {
        mma_of_warp(shape, {sums, a, b}, sizeof(Operand));
    }
    /// `sums`: where the thread's registers are.
    template <std::size_t count>
    void wgmma(const MmaShape& shape, u32* const (&sums)[count], const WgmmaOperands& operands, int line)
    {
        wgmma_of_warpgroup(shape, sums, count, operands, line);
    }
    void wgmma_fence();
    void wgmma_commit();
    void wgmma_wait(u32 most_groups);

    void tcgen05_alloc(u32 at, u32 columns);
    void tcgen05_dealloc(u32 place, u32 columns);
    void tcgen05_relinquish();
    void tcgen05_mma(Kind kind, u32 sums, u64 a, u64 b, u32 instruction, bool keeps, Scales scales = {});
    void tcgen05_commit(u32 barrier);
    /// `to`: where the thread's registers are.
    template <std::size_t count>
    void tcgen05_load(u32 at, u32* const (&to)[count])
    {
        tcgen05_read(at, to, count);
    }
    void tcgen05_wait_load();
    void tcgen05_store(u32 at, u32 value);
    void tcgen05_wait_store();
    void tcgen05_fence(bool is_after);

    // For the block and its scheduler.
    struct Registers {
        void* sums = nullptr;
        const void* a = nullptr;
        const void* b = nullptr;
    };
    Block& block() const { return block_; }
    u32 number() const { return number_; }
    /// Of the translation: the last access to memory.
    int line() const { return line_; }
    u32 warp() const { return number_ / 32; }
    Fiber& fiber() const { return fiber_; }
    /// Is as a thread that has not run.
    void begin();
    /// Goes on until it waits or ends.
    void resume();
    /// Lets others run. `progressed`: false if the thread found nothing to do. It counts until resume().
    void wait(bool progressed);

    bool has_ended = false;
    bool is_in_meeting = false;  ///< and need not be resumed before it is over
    bool progressed = false;
    Registers registers;  ///< of the instruction that the warp or warpgroup does together

  private:
    // Of 1, 2, 4, 8 or 16 bytes.
    template <std::size_t bytes>
    void read_global(u64 address, void* to, int line, bool past_l1);
    template <std::size_t bytes>
    void write_global(u64 address, const void* from, int line);
    template <std::size_t bytes>
    void read_shared(u32 address, void* to, int line);
    template <std::size_t bytes>
    void write_shared(u32 address, const void* from, int line);
    /// bring(to) writes what the copy brings.
    void begin_load(u32 to, u32 bytes, u32 barrier, std::function<void(std::byte*)> bring);
    void* atomic_place(u64 address, std::size_t bytes, int line);
    void check_race(GlobalRaces::Kind kind, u64 address, std::size_t bytes);
    void mma_of_warp(const MmaShape& shape, Registers given, std::size_t register_bytes);
    void wgmma_of_warpgroup(const MmaShape& shape, u32* const* sums, std::size_t count, const WgmmaOperands& operands,
                            int line);
    void tcgen05_read(u32 at, u32* const* to, std::size_t count);
    void use_tensor_memory();
    bool may_use_tensor_memory_ = true;               ///< since the last barrier
    bool has_used_tensor_memory_ = false;             ///< since the last fence before a barrier
    std::vector<std::pair<u32, u32>> tensor_stores_;  ///< place and value of those not waited for
    std::vector<std::pair<u32*, u32>> tensor_loads_;  ///< register and value, likewise
    /// Waits until all members are here; the last one does the work for all.
    template <class Work>
    void meet(Group& group, int line, const Work& work);
    void meet_warp(const std::function<void()>& work);

    Block& block_;
    Fiber& fiber_;
    const std::byte* arguments_;
    u32 number_;
    int line_ = 0;
    std::optional<u32> awaited_meeting_;  ///< of the cluster: arrived and has not waited
    std::optional<double> seconds_of_cycle_;
    std::vector<std::shared_ptr<Copy>> open_copies_;
    std::vector<std::vector<std::shared_ptr<Copy>>> copy_groups_;
};

/// Where a register of 32 bits is. (Translations are compiled with -fno-strict-aliasing.)
template <class T>
u32* bits_of(T& value)
{
    return reinterpret_cast<u32*>(&value);
}

template <class T>
T divide(Thread& t, T a, T b)
{
    if constexpr (std::is_floating_point_v<T>) {
        return a / b;
    } else {
        if (b == 0) t.trap();
        if constexpr (std::is_signed_v<T>) {
            if (b == T{-1}) return negative(a);
        }
        return static_cast<T>(a / b);
    }
}
template <class T>
T remainder(Thread& t, T a, T b)
{
    return subtract(a, multiply(divide(t, a, b), b));
}

}  // namespace roof::emulated
