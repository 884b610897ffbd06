#include "ert/cupti/library.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <cupti_version.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

namespace roof::cupti {
namespace {

constexpr std::uint32_t oldest = 19;  ///< CUDA 12.0; before CUDA 13 versions were counted one by one

constexpr const char* remedy =
    "it comes with the CUDA toolkit and with 'pip install nvidia-cuda-cupti'; name its file in ROOF_CUPTI, or put its "
    "folder on LD_LIBRARY_PATH";

/// How a user without rights can be allowed to read hardware counters.
constexpr const char* counters_remedy =
    "run as root or with CAP_SYS_ADMIN (a driver from 565 on: CAP_PERFMON), or have the administrator set "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d and load the driver anew";

bool is_loaded(const std::string& name)
{
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
}

std::vector<std::string> toolkit_folders()
{
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* const folder = std::getenv(variable); folder != nullptr && *folder == '/')
            folders.emplace_back(folder);
    folders.emplace_back("/usr/local/cuda");
    return folders;
}

std::string file_of(const void* address)
{
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// CUPTI opens these by their bare names, which fails outside the loader's folders, as in Python packages.
void load_companions(const std::filesystem::path& folder)
{
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
        dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// From CUDA 13.2 on, CUPTI fails without a driver; 13.2 recurses endlessly.
bool needs_driver(const gpu::Library& library)
{
    return library.find<void()>("cuptiProfilerHostGetSinglePassSets") != nullptr;
}

}  // namespace

std::optional<gpu::Library> open_driver()
{
    const std::string name = "libcuda.so.1";
    return gpu::Library::open(std::span(&name, 1));
}

std::vector<std::string> usual_names()
{
    const std::array<std::string, 3> sonames{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    std::vector<std::string> names(sonames.begin(), sonames.end());
    std::stable_partition(names.begin(), names.end(), is_loaded);
    const bool has_loaded = is_loaded(names.front());
    if (const char* const named = std::getenv("ROOF_CUPTI"); named != nullptr && !has_loaded)
        names.insert(names.begin(), named);
    for (const std::string& folder : toolkit_folders())
        for (const char* inner : {"/lib64/", "/extras/CUPTI/lib64/", "/lib/"})
            for (const std::string& soname : sonames) names.push_back(folder + inner + soname);
    return names;
}

Cupti::Cupti(gpu::Library library) : library_(library)
{
    const auto get_version = library_.function<CUptiResult(std::uint32_t*)>("cuptiGetVersion");
    told_version_ = get_version(&version_);
    path_ = file_of(reinterpret_cast<const void*>(get_version));
    load_companions(std::filesystem::path(path_).parent_path());
}

std::shared_ptr<const Cupti> Cupti::open(const std::vector<std::string>& names)
{
    std::string reason;
    for (const std::string& name : names) {
        const std::optional<gpu::Library> library = gpu::Library::open(std::span(&name, 1));
        if (!library) continue;
        if (needs_driver(*library) && !open_driver()) {
            if (reason.empty()) reason = name + " needs an NVIDIA driver, and there is none";
            continue;
        }
        std::shared_ptr<const Cupti> cupti(new Cupti(*library));
        const std::string against = cupti->reason_against();
        if (against.empty()) return cupti;
        if (reason.empty()) reason = against;
    }
    if (reason.empty()) reason.append("CUPTI, which records what a GPU does, was not found: ").append(remedy);
    throw Unsupported(reason);
}

std::string Cupti::reason_against() const
{
    if (told_version_ != CUPTI_SUCCESS)
        return path_ + " does not tell its version (" + describe(told_version_) +
               "): it needs an NVIDIA driver, of its own version or newer";
    if (version_ < oldest)
        return "CUPTI of CUDA 12.0 or newer is needed; " + path_ + " is of version " + std::to_string(version_);
    return {};
}

std::string Cupti::describe(CUptiResult result) const
{
    const char* name = nullptr;
    const char* text = nullptr;
    function<CUptiResult(CUptiResult, const char**)>("cuptiGetResultString")(result, &name);
    function<CUptiResult(CUptiResult, const char**)>("cuptiGetErrorMessage")(result, &text);
    const std::string number = "error " + std::to_string(static_cast<int>(result));
    const std::string called = name == nullptr ? number : name;
    return text == nullptr || called == text ? called : called + ": " + text;
}

void Cupti::check(CUptiResult result, const char* name) const
{
    if (result == CUPTI_SUCCESS) return;
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
        throw Unsupported("this user may not read the GPU's hardware counters (" + describe(result) +
                          "): " + counters_remedy);
    if (result == CUPTI_ERROR_HARDWARE_BUSY)
        throw Unsupported("another profiler holds the GPU's hardware counters (" + describe(result) +
                          "): end it; NVIDIA's DCGM lets go of them on 'dcgmi profile --pause'");
    throw Error(std::string(name) + ": " + describe(result));
}

Capability counters_capability(const std::string& parameters, bool is_root)
{
    Capability capability{"GPU hardware counters", false, {}, {}};
    if (parameters.empty()) {
        capability.reason = "no NVIDIA driver is loaded";
    } else if (parameters.find("RmProfilingAdminOnly: 1") == std::string::npos) {
        capability.present = true;
        capability.reason = "the driver lets every user read them";
    } else if (is_root) {
        capability.present = true;
        capability.reason = "the driver lets administrators read them, and this is one";
    } else {
        capability.reason = "the driver lets only administrators read them; CAP_PERFMON is not checked here";
        capability.remedy = counters_remedy;
    }
    return capability;
}

Capability counters_capability()
{
    std::string parameters;
    try {
        parameters = read_file("/proc/driver/nvidia/params");
    } catch (const Error&) {  // no driver
    }
    return counters_capability(parameters, ::geteuid() == 0);
}

}  // namespace roof::cupti
