#include "tests/emulated_gpu/device/kernels.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

namespace roof::emulated {

namespace {

std::map<std::string, KernelCode, std::less<>>& registry()
{
    static std::map<std::string, KernelCode, std::less<>> kernels;  // filled before main()
    return kernels;
}

/// nvcc puts two hashes into the names of an unnamed namespace; they depend on the options of the compilation.
std::string without_hashes(std::string_view name)
{
    constexpr std::string_view mark = "_GLOBAL__N__", end = "_cu_";
    constexpr std::size_t hash = 8;
    std::string rest(name), known;
    for (std::size_t at; (at = rest.find(mark)) != std::string::npos;) {
        const std::size_t file = at + mark.size() + hash + 1, ends = rest.find(end, file);
        if (ends == std::string::npos) break;
        known += rest.substr(0, at) + rest.substr(file, ends + end.size() - 1 - file);
        rest.erase(0, ends + end.size() + hash);
    }
    return known + rest;
}

/// For tests of the tests (tests/emulated_gpu/mutate): kernels of the shared object that ROOF_EMULATED_REPLACED names
/// take the place of those of the same names.
bool replace_kernels()
{
    const char* const file = std::getenv("ROOF_EMULATED_REPLACED");
    if (file != nullptr && dlopen(file, RTLD_NOW) == nullptr) throw std::runtime_error(dlerror());
    return file != nullptr;
}

}  // namespace

const KernelCode* find_kernel(std::string_view name)
{
    static const bool is_replaced = replace_kernels();
    static_cast<void>(is_replaced);
    const auto found = registry().find(without_hashes(name));
    return found == registry().end() ? nullptr : &found->second;
}

std::string known_name(std::string_view name)
{
    return without_hashes(name);
}

std::vector<std::string> all_kernels()
{
    std::vector<std::string> names;
    for (const auto& [name, code] : registry()) names.push_back(name);
    return names;
}

Registration::Registration(const char* name, KernelCode code)
{
    registry()[without_hashes(name)] = std::move(code);
}

}  // namespace roof::emulated
