// Runs a launch: its blocks in a random order, several at once, their threads in turns of random length.
#pragma once

#include "tests/emulated_gpu/device/address_space.hpp"
#include "tests/emulated_gpu/device/block.hpp"
#include "tests/emulated_gpu/device/caches.hpp"
#include "tests/emulated_gpu/device/card.hpp"
#include "tests/emulated_gpu/device/fault.hpp"
#include "tests/emulated_gpu/device/fiber.hpp"

#include <random>
#include <set>

namespace roof::emulated {

/// What launches share: fibers are made once.
struct Engine {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::mt19937 chance{1};
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
    std::byte* global(u64 address, std::size_t bytes);
    void take_time_of_instructions(u32 count);
    void take_time_of_access(u64 address, std::size_t bytes, u32 multiprocessor, bool past_l1);
    void take_time_of_products(double operations);
    double seconds() const { return device_.seconds; }
    /// Whether the thread that asks is to let others run now.
    bool is_turn_over();

  private:
    void start_blocks();
    /// A turn for each thread. Returns whether anything went on.
    bool run_round();
    void run_threads(Block& block, bool& progressed);

    Engine& engine_;
    const AddressSpace& memory_;
    DeviceState& device_;
    const Launch& launch_;
    AddressSpace::Range last_range_;
    std::vector<u32> waiting_blocks_;
    std::vector<std::unique_ptr<Block>> running_;
    std::size_t started_ = 0;
    std::vector<DelayedWrites> unseen_;  ///< of blocks that have ended
    std::vector<Fiber*> free_fibers_;
    std::size_t most_blocks_ = 1;
    double cycles_of_instruction_ = 0;
    double parallel_accesses_ = 1;
    u32 accesses_left_ = 1;
    std::string fault_;
    Fault::Kind fault_kind_{};
};

}  // namespace roof::emulated
