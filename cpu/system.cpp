// Reads small system files and CPUID. Its leaves 4 (Intel) and 0x8000001d (AMD) give the geometry of each cache; 0x80000006 (AMD) gives
// the size of L2. Its size of L3 is that of all L3 caches of the package together, so it is not read.
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
#include <optional>
#include <sstream>

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

std::optional<double> first_number(const fs::path& file)
{
    std::istringstream in(first_line(file));
    double value = 0;
    return in >> value ? std::optional(value) : std::nullopt;
}

Bytes memory_line(const std::string& key)
{
    std::ifstream in = open_if_there("/proc/meminfo");
    std::string word;
    double kibibytes = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream cells(line);
        if (cells >> word >> kibibytes && word == key) return Bytes{kibibytes * 1024};
    }
    return {};
}

double smaller_limit(double a, double b)
{
    return a <= 0 ? b : b <= 0 ? a : std::min(a, b);
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

std::string text_of(std::initializer_list<unsigned> words)
{
    std::string text;
    for (const unsigned word : words)
        for (int byte = 0; byte < 4; ++byte) text += static_cast<char>(bits(word, 8 * byte, 8));
    return text.substr(0, text.find('\0'));
}

/// With the keys of /proc/cpuinfo.
std::map<std::string, std::string> processor_by_cpuid()
{
    constexpr unsigned of_model = 0x80000002;
    const Registers vendor = cpuid(0);
    const unsigned signature = cpuid(1).a;
    const unsigned family = bits(signature, 8, 4);
    const unsigned model = bits(signature, 4, 4);
    const bool is_extended = family == 6 || family == 15;
    std::string name;
    for (unsigned leaf = of_model; leaf < of_model + 3 && has_leaf(leaf); ++leaf) {
        const Registers r = cpuid(leaf);
        name += text_of({r.a, r.b, r.c, r.d});
    }
    return {{"vendor_id", text_of({vendor.b, vendor.d, vendor.c})},
            {"model name", std::string(trim(name))},
            {"cpu family", std::to_string(family == 15 ? family + bits(signature, 20, 8) : family)},
            {"model", std::to_string(is_extended ? model | bits(signature, 16, 4) << 4 : model)},
            {"stepping", std::to_string(bits(signature, 0, 4))}};
}

}  // namespace

std::map<std::string, std::string> first_processor()
{
    std::map<std::string, std::string> entries = processor_by_cpuid();  // all there is without /proc
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
    const Bytes told = memory_line("MemTotal:");
    struct sysinfo system {};
    if (told.value > 0 || ::sysinfo(&system) != 0) return told;
    return Bytes{static_cast<double>(system.totalram) * system.mem_unit};
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
    for (const fs::path& folder : control_groups("")) {
        std::istringstream in(first_line(folder / "cpu.max"));
        double time = 0;
        double period = 0;
        if (in >> time >> period && period > 0) quota = smaller_limit(quota, time / period);
    }
    for (const fs::path& folder : control_groups("cpu")) {
        const auto time = first_number(folder / "cpu.cfs_quota_us");
        const auto period = first_number(folder / "cpu.cfs_period_us");
        if (time && period && *time > 0 && *period > 0) quota = smaller_limit(quota, *time / *period);
    }
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
