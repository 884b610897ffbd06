#include "ert/gpu/library.hpp"

#include "ert/base/error.hpp"
#include "ert/base/python_libraries.hpp"

#include <dlfcn.h>

namespace roof::gpu {

std::optional<Library> Library::open(std::span<const std::string> names)
{
    for (const std::string& name : names) {
        if (void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle);
    }
    for (const std::string& name : names) {
        const std::string file = python_library(name).string();
        if (file.empty()) continue;
        if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle);
    }
    return std::nullopt;
}

void* Library::address_or_null(const char* name) const noexcept
{
    return dlsym(handle_, name);
}

void* Library::address(const char* name) const
{
    if (void* const found = address_or_null(name)) return found;
    throw Unsupported(std::string("the library has no function ") + name);
}

}  // namespace roof::gpu
