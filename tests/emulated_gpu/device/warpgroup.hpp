// The products of wgmma that a warpgroup began. The sums are in no register until a wait: the registers hold junk.
#pragma once

#include "tests/emulated_gpu/device/core_matrices.hpp"
#include "tests/emulated_gpu/device/thread.hpp"

#include <random>
#include <vector>

namespace roof::emulated {

class Warpgroup {
  public:
    /// `sums`: of each of the 128 threads, its registers. Throws Fault for registers that other work is still writing,
    /// or that no fence hands over.
    void begin(const MmaShape& shape, const WgmmaOperands& operands, std::vector<std::vector<u32*>> sums,
               SharedMemory& shared, const ReadyAt& ready);
    void fence() { is_fenced_ = true; }
    /// Some products of the group may be done at once.
    void commit(std::mt19937& chance);
    /// Does all products but those of the youngest groups. Registers without any left get their sums.
    void wait(u32 most_groups);
    bool is_idle() const { return groups_.empty() && open_.empty(); }

  private:
    struct Product {
        MmaShape shape;
        WgmmaOperands operands;
        SharedMemory* shared;
    };
    void run(const Product& product);
    void deliver();

    bool is_fenced_ = false;
    std::vector<std::vector<u32*>> registers_;  ///< [thread][register] of the sums in flight; empty: none
    std::vector<std::vector<u32>> sums_;        ///< their values
    std::vector<Product> open_;
    std::deque<std::vector<Product>> groups_;
};

}  // namespace roof::emulated
