// Reads small system files and CPUID. Its leaves 4 (Intel) and 0x8000001d (AMD) give the geometry of each cache;
// 0x80000006 (AMD) gives the size of L2. Its size of L3 is that of all L3 caches of the package together, so it is not
// read.
#include "cpu/system.hpp"

#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <cpuid.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace roof::cpu {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file)
{
    std::ifstream in = open_if_there(file);
    std::string line;
    std::getline(in, line);
    return std::string(trim(line));
}

struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned index = 0)
{
    Registers r;
    __cpuid_count(leaf, index, r.a, r.b, r.c, r.d);
    return r;
}

bool has_leaf(unsigned leaf)
{
    return __get_cpuid_max(leaf & 0x80000000, nullptr) >= leaf;
}

bool is_amd()
{
    return cpuid(0).c == signature_AMD_ecx;
}

unsigned bits(unsigned word, int from, int count)
{
    return word >> from & ((1U << count) - 1);
}

std::vector<CpuidCache> by_geometry(unsigned leaf, const char* name)
{
    constexpr unsigned instruction_cache = 2;
    constexpr unsigned most_caches = 8;
    std::vector<CpuidCache> caches;
    for (unsigned index = 0; index < most_caches; ++index) {
        const Registers r = cpuid(leaf, index);
        const unsigned type = bits(r.a, 0, 5);
        if (type == 0) break;
        if (type == instruction_cache) continue;
        const double variants = bits(r.b, 22, 10) + 1.0;
        const double partitions = bits(r.b, 12, 10) + 1.0;
        const double line = bits(r.b, 0, 12) + 1.0;
        const double sets = r.c + 1.0;
        caches.push_back({name, static_cast<int>(bits(r.a, 5, 3)), Bytes{variants * partitions * line * sets}});
    }
    return caches;
}

}  // namespace

std::map<std::string, std::string> first_processor()
{
    std::map<std::string, std::string> entries;
    std::ifstream in = open_if_there("/proc/cpuinfo");
    for (std::string line; std::getline(in, line) && !line.empty();) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        entries[std::string(trim(line.substr(0, colon)))] = trim(line.substr(colon + 1));
    }
    return entries;
}

Bytes total_memory()
{
    struct sysinfo system {};
    ::sysinfo(&system);  // without /proc
    const double bytes = static_cast<double>(system.totalram) * system.mem_unit;
    return Bytes{1024 * number_after("/proc/meminfo", "MemTotal:").value_or(bytes / 1024)};
}

std::string huge_page_mode()
{
    const std::string modes = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    const std::size_t open = modes.find('[');
    const std::size_t close = modes.find(']');
    return open < close && close != std::string::npos ? modes.substr(open + 1, close - open - 1) : "";
}

std::string frequency_governor()
{
    return first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

std::string kernel_release()
{
    utsname names{};
    return uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "";
}

std::string bios_version()
{
    return first_line("/sys/class/dmi/id/bios_version");
}

Hertz reported_clock()
{
    for (const char* file : {"base_frequency", "cpuinfo_max_freq"}) {
        const auto kilohertz = first_number(fs::path("/sys/devices/system/cpu/cpu0/cpufreq") / file);
        if (kilohertz) return Hertz{*kilohertz * 1e3};
    }
    const auto processor = first_processor();
    const auto megahertz = processor.find("cpu MHz");
    return megahertz == processor.end() ? Hertz{} : Hertz{std::atof(megahertz->second.c_str()) * 1e6};
}

double processor_quota()
{
    double quota = 0;
    const auto take = [&](double time, double period) {
        if (time > 0 && period > 0) quota = quota > 0 ? std::min(quota, time / period) : time / period;
    };
    for (const fs::path& folder : control_groups("")) {
        std::ifstream in = open_if_there(folder / "cpu.max");
        double time = 0, period = 0;
        if (in >> time >> period) take(time, period);
    }
    for (const fs::path& folder : control_groups("cpu"))
        take(first_number(folder / "cpu.cfs_quota_us").value_or(0),
             first_number(folder / "cpu.cfs_period_us").value_or(0));
    return quota;
}

int try_hardware_counters()
{
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    const long counter = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (counter < 0) return errno;
    close(static_cast<int>(counter));
    return 0;
}

std::vector<CpuidCache> cpuid_caches()
{
    if (!is_amd()) return has_leaf(4) ? by_geometry(4, "0x4") : std::vector<CpuidCache>{};
    std::vector<CpuidCache> caches;
    if (has_leaf(0x8000001d)) caches = by_geometry(0x8000001d, "0x8000001d");
    constexpr double kibibyte = 1024;
    if (!has_leaf(0x80000006)) return caches;
    if (const unsigned l2 = bits(cpuid(0x80000006).c, 16, 16))
        caches.push_back({"0x80000006", 2, Bytes{l2 * kibibyte}});
    return caches;
}

std::string hypervisor_name()
{
    constexpr unsigned hypervisor_leaf = 0x40000000;
    if (bits(cpuid(1).c, 31, 1) == 0) return "";
    const Registers r = cpuid(hypervisor_leaf);
    std::array<char, 13> signature{};
    const std::array<unsigned, 3> words{r.b, r.c, r.d};
    std::memcpy(signature.data(), words.data(), sizeof words);
    const std::string name = signature.data();
    if (name == "KVMKVMKVM") return "KVM";
    if (name == "Microsoft Hv") return "Hyper-V";
    if (name == "VMwareVMware") return "VMware";
    if (name == "XenVMMXenVMM") return "Xen";
    return name.empty() ? "unnamed" : name;
}

}  // namespace roof::cpu
