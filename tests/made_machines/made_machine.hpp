// A made machine in place of the real one, for a whole process and its children. The library is preloaded. From the
// folder that ROOF_MADE_MACHINE names (machines.py writes it) it answers the instruction CPUID, the files of /proc and
// /sys that describe processors, the affinity calls, the binding of memory and the opening of hardware counters. Every
// library in the process sees the same machine, and the program has no code for it.
//
// A feature that the real processor lacks is never reported, so nothing runs that cannot run here. Processors beyond
// the real ones are real ones, taken in turn; the memory of all made nodes is that of the real ones.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace made {

struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
};

struct Leaf {
    unsigned leaf = 0, index = 0;
    Registers registers;
};

struct Machine {
    std::string folder;
    std::vector<Leaf> leaves;
    int processors = 0;
    int nodes = 1;
    int real_processors = 1;
    int counters_errno = 0;  ///< what perf_event_open answers for hardware events; 0: the real answer
};

/// Null outside of a made machine. Never freed: handlers use it until the process ends.
extern Machine* machine;
/// What the program has set for SIGSEGV, which the answers to CPUID need for themselves.
extern struct sigaction program_action;

/// The function that this library hides.
template <class Function>
Function* real(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Sigaction = int(int, const struct sigaction*, struct sigaction*);

}  // namespace made
