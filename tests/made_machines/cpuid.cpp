// Answers CPUID: arch_prctl(ARCH_CPUID) makes the instruction fault, and the signal handler fills in the registers. The
// library is loaded twice: as an auditor (LD_AUDIT), whose beginning precedes the relocation of the program, which
// chooses among clones of functions by CPUID; and preloaded, whose handler takes over from then on.
#include "tests/made_machines/made_machine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace made {

Machine* machine = nullptr;
struct sigaction program_action {};

namespace {

Registers real_cpuid(unsigned leaf, unsigned index)
{
    Registers r;
    __cpuid_count(leaf, index, r.a, r.b, r.c, r.d);
    return r;
}

/// Leaves whose words are lists of features, by the words: a real processor must have what is reported.
struct FeatureLeaf {
    unsigned leaf, index;
    bool a, b, c, d;
};
constexpr std::array<FeatureLeaf, 4> feature_leaves{{{1, 0, false, false, true, true},
                                                     {7, 0, false, true, true, true},
                                                     {7, 1, true, true, true, true},
                                                     {0x80000001, 0, false, false, true, true}}};
constexpr unsigned hypervisor_bit = 1U << 31;

/// The layout of saved registers is the real one, as XGETBV is; so is the geometry of tiles.
bool is_of_the_real_processor(unsigned leaf)
{
    return leaf == 0xd || leaf == 0x1d || leaf == 0x1e;
}

void keep_real_features(Leaf& leaf)
{
    for (const FeatureLeaf& known : feature_leaves) {
        if (known.leaf != leaf.leaf || known.index != leaf.index) continue;
        const bool is_there = __get_cpuid_max(leaf.leaf & 0x80000000, nullptr) >= leaf.leaf;
        const Registers here = is_there ? real_cpuid(leaf.leaf, leaf.index) : Registers{};
        const unsigned hypervisor = leaf.leaf == 1 ? hypervisor_bit : 0;
        if (known.a) leaf.registers.a &= here.a;
        if (known.b) leaf.registers.b &= here.b;
        if (known.c) leaf.registers.c &= here.c | hypervisor;
        if (known.d) leaf.registers.d &= here.d;
    }
}

Registers made_cpuid(unsigned leaf, unsigned index)
{
    const Leaf* found = nullptr;
    bool has_indices = false;
    for (const Leaf& known : machine->leaves) {
        if (known.leaf != leaf) continue;
        has_indices = has_indices || known.index > 0;
        if (known.index == index) found = &known;
    }
    if (found != nullptr) return found->registers;
    // A leaf without an index answers the same for all of them.
    if (!has_indices && index > 0 && leaf != 7)
        return std::ranges::any_of(machine->leaves, [&](const Leaf& known) { return known.leaf == leaf; })
                   ? made_cpuid(leaf, 0)
                   : Registers{};
    return {};
}

void on_fault(int signal, siginfo_t* info, void* context)
{
    auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* const code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
    const bool is_general_protection = info->si_code == SI_KERNEL;
    if (is_general_protection && code[0] == 0x0f && code[1] == 0xa2) {
        const Registers r =
            made_cpuid(static_cast<unsigned>(registers[REG_RAX]), static_cast<unsigned>(registers[REG_RCX]));
        registers[REG_RAX] = r.a;
        registers[REG_RBX] = r.b;
        registers[REG_RCX] = r.c;
        registers[REG_RDX] = r.d;
        registers[REG_RIP] += 2;
        return;
    }
    if ((program_action.sa_flags & SA_SIGINFO) != 0 && program_action.sa_sigaction != nullptr) {
        program_action.sa_sigaction(signal, info, context);
    } else if (program_action.sa_handler != SIG_DFL && program_action.sa_handler != SIG_IGN) {
        program_action.sa_handler(signal);
    } else {
        struct sigaction usual {};
        usual.sa_handler = SIG_DFL;
        real<Sigaction>("sigaction")(signal, &usual, nullptr);
    }
}

/// "0000000B 1: a-b-c-d" for each leaf. The real CPUID leaves 0xd, 0x1d and 0x1e are added.
void read_leaves(Machine& into)
{
    FILE* const file = std::fopen((into.folder + "/cpuid.txt").c_str(), "r");
    if (file == nullptr) return;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), line.size(), file) != nullptr) {
        Leaf leaf;
        Registers& r = leaf.registers;
        if (std::sscanf(line.data(), "%x %x: %x-%x-%x-%x", &leaf.leaf, &leaf.index, &r.a, &r.b, &r.c, &r.d) != 6)
            continue;
        if (is_of_the_real_processor(leaf.leaf)) continue;
        keep_real_features(leaf);
        into.leaves.push_back(leaf);
    }
    std::fclose(file);
    const unsigned most = __get_cpuid_max(0, nullptr);
    for (const unsigned number : {0xdU, 0x1dU, 0x1eU})
        for (unsigned index = 0; index < 32 && number <= most; ++index)
            into.leaves.push_back({number, index, real_cpuid(number, index)});
}

int number_in(const std::string& file)
{
    FILE* const in = std::fopen(file.c_str(), "r");
    int number = 0;
    if (in == nullptr) return 0;
    if (std::fscanf(in, "%d", &number) != 1) number = 0;
    std::fclose(in);
    return number;
}

/// From the words of the environment: this runs before the C library has them.
const char* made_folder(char** environment)
{
    constexpr std::string_view name = "ROOF_MADE_MACHINE=";
    for (char** word = environment; *word != nullptr; ++word)
        if (std::string_view(*word).starts_with(name)) return *word + name.size();
    return nullptr;
}

/// Runs before the initialisation of all other libraries (-z initfirst), which may ask for the processor.
__attribute__((constructor)) void begin(int, char**, char** environment)
{
    const char* const folder = made_folder(environment);
    if (folder == nullptr) return;
    auto* const begun = new Machine;
    begun->folder = folder;
    begun->processors = number_in(begun->folder + "/processors");
    begun->nodes = number_in(begun->folder + "/nodes");
    begun->counters_errno = number_in(begun->folder + "/counters_errno");
    begun->real_processors = static_cast<int>(std::max(1L, real<long(int)>("sysconf")(_SC_NPROCESSORS_ONLN)));
    read_leaves(*begun);
    if (begun->processors < 1 || begun->leaves.empty()) {
        std::fprintf(stderr, "ROOF_MADE_MACHINE: %s holds no machine\n", folder);
        std::_Exit(1);
    }
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    real<Sigaction>("sigaction")(SIGSEGV, &ours, &program_action);
    constexpr long arch_cpuid = 0x1012;
    // Fails under Valgrind, which has a CPUID of its own, and where CPUID cannot fault: made_machines/run asks before.
    real<long(long, ...)>("syscall")(SYS_arch_prctl, arch_cpuid, 0L);
    machine = begun;
}

}  // namespace
}  // namespace made

/// The loader's question to an auditor. It audits nothing.
extern "C" unsigned la_version(unsigned version)
{
    return version;
}
