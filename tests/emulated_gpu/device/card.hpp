// The card that is emulated, and how long its work would take. A few multiprocessors of a real card, much slower: a
// launch of some milliseconds is then little work for the host.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roof::emulated {

/// All times are those of the emulated device. They say nothing about a real one.
struct Card {
    std::string name;
    int major = 9;
    int minor = 0;
    int multiprocessors = 2;
    unsigned threads = 2048;            ///< of a multiprocessor at once
    unsigned first_multiprocessor = 0;  ///< number of the first; the others follow it
    std::size_t memory_bytes = std::size_t{256} << 20;
    std::size_t l1_bytes = std::size_t{64} << 10;  ///< of a multiprocessor
    std::size_t l2_bytes = std::size_t{1} << 20;
    std::size_t shared_bytes = std::size_t{228} << 10;  ///< of a multiprocessor; a block may have 1 KiB less
    double clock_hz = 1e6;

    double l1_bytes_per_cycle = 64;       ///< of a multiprocessor
    double shared_bytes_per_cycle = 128;  ///< of a multiprocessor
    double l2_bytes_per_cycle = 48;       ///< of the device, as all below
    double memory_bytes_per_cycle = 16;
    double link_bytes_per_cycle = 4;
    double l1_latency_cycles = 32;
    double l2_latency_cycles = 270;
    double memory_latency_cycles = 600;
    double launch_cycles = 40;           ///< of an operation in a stream
    int lanes = 128;                     ///< instructions of a multiprocessor in a cycle
    double half_flops_per_cycle = 1024;  ///< of a multiprocessor's tensor cores in fp16
};

/// "p40", "v100", "t4", "a100", "a10", "l4", "h100", "h200", "b200", "b300" or "rtx5090": 2 multiprocessors at a
/// two-hundredth of the clock, with their share of the rates of the card's data sheet, tensor cores with a quarter of
/// it. The L2 is an H100's in bytes per clock and multiprocessor. Throws std::invalid_argument.
Card small_card(std::string_view name);

}  // namespace roof::emulated
