// Every number and every place of threads is this program's own: its rows say them. So the variables by which OpenMP's
// runtimes decide them are taken out before a runtime is initialized: it would bind the first thread before main().
#include "tools/roof/binary/binary.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace roof {
namespace {

constexpr std::array hidden_names = {
    "OMP_PROC_BIND=",         "OMP_PLACES=",    "GOMP_CPU_AFFINITY=", "KMP_AFFINITY=",
    "KMP_HW_SUBSET=",         "OMP_DYNAMIC=",   "OMP_THREAD_LIMIT=",  "KMP_DEVICE_THREAD_LIMIT=",
    "OMP_MAX_ACTIVE_LEVELS=", "OMP_STACKSIZE=", "GOMP_STACKSIZE=",    "KMP_STACKSIZE="};

// Global, because the function that fills it runs before any constructor. Entries of the environment: they live as long
// as the process.
std::array<char*, 2 * hidden_names.size()> hidden{};

bool is_hidden(const char* entry)
{
    for (const char* const name : hidden_names)
        if (std::strncmp(entry, name, std::strlen(name)) == 0) return true;
    return false;
}

/// Runs before the constructors of the libraries, and before the sanitizers.
[[gnu::no_sanitize("address", "undefined", "thread")]] void hide(int, char**, char** environment)
{
    std::size_t count = 0;
    char** kept = environment;
    for (char** entry = environment; *entry != nullptr; ++entry) {
        if (count < hidden.size() && is_hidden(*entry))
            hidden[count++] = *entry;
        else
            *kept++ = *entry;
    }
    *kept = nullptr;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const hide_first)(int, char**, char**) = hide;

}  // namespace

void restore_openmp_variables()
{
    for (char* const entry : hidden)
        if (entry != nullptr) ::putenv(entry);
}

}  // namespace roof
