// The translated kernels of this program by name, and a launch of one.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::emulated {

class Thread;

struct Dim {
    u32 x = 1, y = 1, z = 1;
    u32 count() const { return x * y * z; }
};

struct Argument {
    u32 offset, bytes;
};

struct KernelCode {
    void (*function)(Thread&) = nullptr;
    u32 shared_bytes = 0;  ///< of its variables
    std::vector<Argument> arguments;
    int capability = 0;                 ///< the architecture that it was compiled for: 80, 90, 100
    bool is_of_one_generation = false;  ///< and runs on no other, as sm_90a
    u32 most_threads = 0;               ///< of a block; 0: not limited
};

struct Launch {
    std::string name;
    const KernelCode* code = nullptr;
    Dim grid;
    Dim block;
    u32 dynamic_shared = 0;
    u32 cluster = 1;                   ///< blocks, which follow one another along x
    std::vector<std::byte> arguments;  ///< at their offsets
};

/// Null for a kernel that was not translated. The part of the name that nvcc derives from the command line is ignored.
const KernelCode* find_kernel(std::string_view name);
std::vector<std::string> all_kernels();
/// A kernel's name as all_kernels() has it.
std::string known_name(std::string_view name);

struct Registration {
    Registration(const char* name, KernelCode code);
};

}  // namespace roof::emulated
