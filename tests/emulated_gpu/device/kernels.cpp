#include "tests/emulated_gpu/device/kernels.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <regex>
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
    static const std::regex hashes("_GLOBAL__N__[0-9a-f]{8}_([0-9]+_\\w+?_cu)_[0-9a-f]{8}");
    if (name.find("_GLOBAL__N__") == std::string_view::npos) return std::string(name);
    return std::regex_replace(std::string(name), hashes, "$1");
}

/// For tests of the tests (tests/emulated_gpu/mutate): kernels of the shared object that ROOF_EMULATED_REPLACED names take the place of those of
/// the same names.
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
