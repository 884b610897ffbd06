// The card that is emulated, and how long its work would take. A few multiprocessors of a real card, much slower: a
// launch of some milliseconds is then little work for the host.
#pragma once

#include <cstddef>
#include <string>

namespace roof::emulated {

/// All times are those of the emulated device. They say nothing about a real one.
struct Card {
    std::string name;
    int major = 9;
    int minor = 0;
    int multiprocessors = 2;
    std::size_t memory_bytes = std::size_t{256} << 20;
    std::size_t l1_bytes = std::size_t{16} << 10;  ///< of a multiprocessor
    std::size_t l2_bytes = std::size_t{256} << 10;
    double clock_hz = 1e7;

    double l1_bytes_per_cycle = 64;  ///< of a multiprocessor
    double l2_bytes_per_cycle = 48;  ///< of the device, as all below
    double memory_bytes_per_cycle = 16;
    double link_bytes_per_cycle = 4;
    double l1_latency_cycles = 32;
    double l2_latency_cycles = 270;
    double memory_latency_cycles = 600;
    double launch_cycles = 40;                  ///< of an operation in a stream
    int lanes = 128;                            ///< instructions of a multiprocessor in a cycle
    double tensor_operations_per_cycle = 1024;  ///< of a multiprocessor
};

/// An H100's sheet with 2 of its 132 multiprocessors and a clock of 8.8 MHz.
Card small_h100();

}  // namespace roof::emulated
