// Parts in shared objects (ert/base/files.hpp), each with its own libraries. An object is opened when a device of its
// kind is first needed, because cuDNN's libraries alone take a second and hundreds of megabytes. If an object cannot be
// opened, its part is absent with the loader's message, so the same binary runs with and without a GPU driver.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/python_libraries.hpp"
#include "ert/base/ranges.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "tools/roof/binary/binary.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace roof {
namespace {

using AddPart = void (*)(BenchRegistry& registry);
constexpr const char* entry = "roof_add_part";

std::string loader_message()
{
    const char* message = dlerror();
    return message == nullptr ? "the loader gives no reason" : message;
}

/// Null, with the loader's message in `why`. A library that it misses is taken from a Python package that brings it:
/// once loaded, it is found by its name.
void* open_with_libraries(const std::string& file, std::string& why)
{
    constexpr int most_libraries = 16;
    for (int i = 0; i < most_libraries; ++i) {
        if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
        why = loader_message();
        const std::string library = python_library(why.substr(0, why.find(": cannot open shared object"))).string();
        if (library.empty() || dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return nullptr;
    }
    return nullptr;
}

void open_part(BenchRegistry& registry, const std::string& part, const std::string& object, const std::string& benches)
{
    const std::string remedy = "install the libraries that " + object + " needs, or build without this part";
    try {
        // Never closed, because the registry keeps benches with code in the object.
        std::string why;
        void* const handle = open_with_libraries(part_file(object).string(), why);
        if (handle == nullptr) return registry.add(AbsentPart{part, why, remedy, benches});
        const auto add = reinterpret_cast<AddPart>(dlsym(handle, entry));
        if (add == nullptr)
            return registry.add(AbsentPart{part, loader_message(), "build roof and its parts together", benches});
        add(registry);
    } catch (const Unsupported& missing) {
        registry.add(
            AbsentPart{part, missing.what(), "install the package roof-gpu, or copy it with the program", benches});
    } catch (const std::exception& error) {
        registry.add(AbsentPart{part, error.what(), remedy, benches});
    }
}

}  // namespace

std::string embedded_text(std::string_view path)
{
    const EmbeddedText* const found = find_in(embedded_texts(), path, &EmbeddedText::path);
    if (found == nullptr) throw std::logic_error("there is no text " + std::string(path));
    return std::string(found->text);
}

void add_shared_part(BenchRegistry& registry, const std::string& part, const std::string& object,
                     const std::string& device_kind, const std::string& benches)
{
    registry.add(DeferredPart{
        device_kind, [part, object, benches](BenchRegistry& opening) { open_part(opening, part, object, benches); }});
}

}  // namespace roof
