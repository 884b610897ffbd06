// Leaves 4 (Intel) and 0x8000001d (AMD) give the geometry of each cache; 0x80000006 (AMD) gives sizes.
#include "cpu/cpuid_caches.hpp"

#include <array>
#include <cstring>

#include <cpuid.h>

namespace roof::cpu {

namespace {

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

std::vector<CpuidCache> plain_sizes()
{
    constexpr double kibibyte = 1024;
    const Registers r = cpuid(0x80000006);
    std::vector<CpuidCache> caches;
    if (const unsigned l2 = bits(r.c, 16, 16)) caches.push_back({"0x80000006", 2, Bytes{l2 * kibibyte}});
    if (const unsigned l3 = bits(r.d, 18, 14)) caches.push_back({"0x80000006", 3, Bytes{l3 * 512 * kibibyte}});
    return caches;
}

}  // namespace

std::vector<CpuidCache> cpuid_caches()
{
    if (!is_amd()) return has_leaf(4) ? by_geometry(4, "0x4") : std::vector<CpuidCache>{};
    std::vector<CpuidCache> caches;
    if (has_leaf(0x8000001d)) caches = by_geometry(0x8000001d, "0x8000001d");
    if (has_leaf(0x80000006)) {
        for (CpuidCache& cache : plain_sizes()) caches.push_back(std::move(cache));
    }
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
