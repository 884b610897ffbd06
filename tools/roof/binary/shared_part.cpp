// Parts in shared objects beside the executable, each with its own libraries. An object is opened when a device of its
// kind is first needed, because cuDNN's libraries alone take a second and hundreds of megabytes. If an object cannot be
// opened, its part is absent with the loader's message, so the same binary runs with and without a GPU driver.
#include "ert/method/bench/bench_registry.hpp"
#include "tools/roof/binary/assemble.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace roof {
namespace {

using AddPart = void (*)(BenchRegistry& registry);
constexpr const char* entry = "roof_add_part";

std::string loader_message()
{
    const char* message = dlerror();
    return message == nullptr ? "the loader gives no reason" : message;
}

void open_part(BenchRegistry& registry, const std::string& part, const std::string& object, const std::string& benches)
{
    const std::string remedy = "install the libraries that " + object + " needs, or build without this part";
    std::error_code ignored;
    const auto file = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / object;
    // Never closed, because the registry keeps benches with code in the object.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return registry.add(AbsentPart{part, loader_message(), remedy, benches});
    const auto add = reinterpret_cast<AddPart>(dlsym(handle, entry));
    if (add == nullptr)
        return registry.add(AbsentPart{part, loader_message(), "build roof and its parts together", benches});
    try {
        add(registry);
    } catch (const std::exception& error) {
        registry.add(AbsentPart{part, error.what(), remedy, benches});
    }
}

}  // namespace

void add_shared_part(BenchRegistry& registry, const std::string& part, const std::string& object,
                     const std::string& device_kind, const std::string& benches)
{
    registry.add(DeferredPart{
        device_kind, [part, object, benches](BenchRegistry& opening) { open_part(opening, part, object, benches); }});
}

}  // namespace roof
