#include "tests/emulated_gpu/device/card.hpp"

#include <array>
#include <stdexcept>

namespace roof::emulated {

namespace {

/// Of NVIDIA's data sheets and white papers: compute capability, multiprocessors, boost clock, bytes of memory and of
/// the link to the host (each way) in a second, FLOPs of a multiprocessor's products in fp16 in a clock (6.1: fp32),
/// KiB of shared memory.
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
    Sheet{"p40", "P40", 6, 1, 30, 1.531e9, 3.46e11, 16e9, 256, 96},
    Sheet{"v100", "V100", 7, 0, 80, 1.53e9, 9e11, 16e9, 1024, 96},
    Sheet{"t4", "T4", 7, 5, 40, 1.59e9, 3.2e11, 16e9, 1024, 64},
    Sheet{"a10", "A10", 8, 6, 72, 1.695e9, 6e11, 32e9, 1024, 100},
    Sheet{"l4", "L4", 8, 9, 58, 2.04e9, 3e11, 32e9, 1024, 100},
    Sheet{"b300", "B300", 10, 3, 148, 1.92e9, 8e12, 128e9, 8192, 228},
    Sheet{"rtx5090", "RTX 5090", 12, 0, 170, 2.407e9, 1.792e12, 64e9, 512, 100},
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
