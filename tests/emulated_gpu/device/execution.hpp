// Runs a launch: its blocks in a random order, several at once, their threads in turns of random length.
#pragma once

#include "tests/emulated_gpu/device/address_space.hpp"
#include "tests/emulated_gpu/device/block.hpp"
#include "tests/emulated_gpu/device/caches.hpp"
#include "tests/emulated_gpu/device/card.hpp"
#include "tests/emulated_gpu/device/fault.hpp"
#include "tests/emulated_gpu/device/fiber.hpp"
#include "tests/emulated_gpu/device/global_races.hpp"

#include <optional>
#include <random>
#include <set>
#include <string>

namespace roof::emulated {

/// What launches share: fibers are made once.
struct Engine {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::mt19937 chance{1};
    bool finds_races = false;  ///< for words of global memory, too, which takes several times as long
    std::string spoils;        ///< kernels with this in their names store wrong numbers; empty: none
};

/// A device while it runs a launch.
struct DeviceState {
    DeviceState(int device_number, const Card& device_card)
        : number(device_number), card(device_card), caches(device_card)
    {
    }

    int number;
    Card card;
    Caches caches;
    double seconds = 0;     ///< the emulated time
    std::set<int> peers{};  ///< devices whose memory this one may access
};

class Execution {
  public:
    Execution(Engine& engine, const AddressSpace& memory, DeviceState& device, const Launch& launch);
    /// Throws Fault, with the kernel, the block and the thread in its message. The device's time has then passed.
    void run();

    const Launch& launch() const { return launch_; }
    const DeviceState& device() const { return device_; }
    std::mt19937& chance() { return engine_.chance; }

    /// Throws Fault for an address that this device may not access, or that is not a multiple of the bytes.
    std::byte* global(u64 address, std::size_t bytes)
    {
        if (address % bytes != 0 || !last_range_.contains(address, bytes)) find_range(address, bytes);
        return reinterpret_cast<std::byte*>(address);
    }
    void take_time_of_instructions(u32 count) { device_.seconds += count * seconds_of_instruction_; }
    /// Of the memory that global() has just given.
    void take_time_of_access(u64 address, std::size_t bytes, u32 multiprocessor, bool past_l1)
    {
        device_.seconds += last_range_.device == device_.number
                               ? device_.caches.seconds_of(address, bytes, multiprocessor, past_l1)
                               : static_cast<double>(bytes) * seconds_of_link_byte_;
    }
    void take_time_of_shared(std::size_t bytes)
    {
        device_.seconds += static_cast<double>(bytes) * seconds_of_shared_byte_;
    }
    void take_time_of_products(double flops, Format format);
    double seconds() const { return device_.seconds; }
    /// Null unless races are to be found.
    GlobalRaces* races() { return races_ ? &*races_ : nullptr; }
    u32 number_of(const Dim& place) const { return (place.z * launch_.grid.y + place.y) * launch_.grid.x + place.x; }
    bool spoils() const { return spoils_; }
    /// Whether the thread that asks is to let others run now.
    bool is_turn_over()
    {
        if (--accesses_left_ != 0) return false;
        accesses_left_ = 1 + static_cast<u32>(engine_.chance()) % longest_turn;
        return true;
    }

  private:
    static constexpr u32 longest_turn = 500;  ///< accesses of a thread before another has its turn

    void find_range(u64 address, std::size_t bytes);
    void start_blocks();
    void start_block(u32 number, const std::shared_ptr<Cluster>& cluster);
    std::unique_ptr<Block> make_block();
    void run_thread(Thread& thread);
    /// A turn for each thread. Returns whether anything went on.
    bool run_round();
    void run_threads(Block& block, bool& progressed);

    Engine& engine_;
    const AddressSpace& memory_;
    DeviceState& device_;
    const Launch& launch_;
    AddressSpace::Range last_range_;
    std::vector<u32> waiting_clusters_;
    std::vector<std::unique_ptr<Block>> running_;
    std::vector<std::unique_ptr<Block>> over_;  ///< to run another one of the grid
    std::size_t started_ = 0;
    std::vector<DelayedWrites> unseen_;  ///< of blocks that have ended
    std::optional<GlobalRaces> races_;
    bool spoils_;
    std::size_t fibers_used_ = 0;
    std::size_t most_blocks_ = 1;
    double seconds_of_instruction_ = 0;
    double seconds_of_shared_byte_ = 0;
    double seconds_of_link_byte_ = 0;
    u32 accesses_left_ = 1;
    std::string fault_;
    Fault::Kind fault_kind_{};
};

}  // namespace roof::emulated
