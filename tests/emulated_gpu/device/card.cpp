#include "tests/emulated_gpu/device/card.hpp"

#include <array>
#include <stdexcept>

namespace roof::emulated {

namespace {

/// Of NVIDIA's data sheets and white papers: compute capability, multiprocessors, boost clock, bytes of memory and of the
/// link to the host (each way) in a second, FLOPs in fp16 of a multiprocessor's tensor cores in a clock, KiB of shared memory.
struct Sheet {
    const char* name;
    const char* title;
    int major, minor;
    double multiprocessors, clock, memory, link, half_flops;
    std::size_t shared;
};

constexpr std::array sheets{
    Sheet{"a100", "A100", 8, 0, 108, 1.41e9, 2.039e12, 32e9, 2048, 164},
    Sheet{"h100", "H100", 9, 0, 132, 1.755e9, 3.35e12, 64e9, 4096, 228},
    Sheet{"h200", "H200", 9, 0, 132, 1.755e9, 4.8e12, 64e9, 4096, 228},
    Sheet{"b200", "B200", 10, 0, 148, 1.965e9, 7.7e12, 64e9, 8192, 228},
};

}  // namespace

Card small_card(std::string_view name)
{
    constexpr double slower = 200;
    constexpr double tensor_share = 0.25;                          // products take the host long
    constexpr double l2_bytes_per_cycle = 5.5e12 / 1.755e9 / 132;  // gpu-benches, on an H100
    for (const Sheet& sheet : sheets) {
        if (name != sheet.name) continue;
        Card card;
        const double share = card.multiprocessors / sheet.multiprocessors;
        card.name = std::string("Emulated ") + sheet.title + " (2 of " +
                    std::to_string(static_cast<int>(sheet.multiprocessors)) + " multiprocessors; not a measurement)";
        card.major = sheet.major;
        card.minor = sheet.minor;
        card.shared_bytes = sheet.shared << 10;
        card.clock_hz = sheet.clock / slower;
        card.l2_bytes_per_cycle = card.multiprocessors * l2_bytes_per_cycle;
        card.memory_bytes_per_cycle = share * sheet.memory / sheet.clock;
        card.link_bytes_per_cycle = share * sheet.link / sheet.clock;
        card.half_flops_per_cycle = tensor_share * sheet.half_flops;
        return card;
    }
    throw std::invalid_argument("no emulated card is called " + std::string(name));
}

}  // namespace roof::emulated
