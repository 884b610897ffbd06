// The calls by which a program asks for its machine, answered for the made one.
#include "tests/made_machines/made_machine.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace made;

namespace {

thread_local bool has_mask = false;
thread_local cpu_set_t mask;

/// Memory bound to a made node.
struct Bound {
    unsigned long begin, bytes;
    int node;
};
std::vector<Bound> bound;
std::mutex binding;

/// The folders and files that a made machine replaces. One that it lacks is absent.
constexpr std::array<std::string_view, 5> replaced{"/proc/cpuinfo", "/sys/devices/system/cpu",
                                                   "/sys/devices/system/node", "/sys/class/dmi",
                                                   "/sys/kernel/mm/transparent_hugepage"};

struct Path {
    explicit Path(const char* asked) : path(asked)
    {
        if (machine == nullptr || asked == nullptr ||
            (std::strncmp(asked, "/proc/", 6) != 0 && std::strncmp(asked, "/sys/", 5) != 0))
            return;
        for (const std::string_view prefix : replaced)
            if (std::string_view(asked).starts_with(prefix)) path = (text = machine->folder + "/root" + asked).c_str();
    }
    std::string text;
    const char* path;
};

cpu_set_t all_processors()
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int processor = 0; processor < machine->processors; ++processor) CPU_SET(processor, &all);
    return all;
}

cpu_set_t mask_of_thread()
{
    return has_mask ? mask : all_processors();
}

int take_mask(std::size_t bytes, const cpu_set_t* wanted)
{
    cpu_set_t allowed;
    cpu_set_t carriers;
    CPU_ZERO(&allowed);
    CPU_ZERO(&carriers);
    for (int processor = 0; processor < machine->processors; ++processor) {
        if (static_cast<std::size_t>(processor) >= bytes * 8 || !CPU_ISSET_S(processor, bytes, wanted)) continue;
        CPU_SET(processor, &allowed);
        CPU_SET(processor % machine->real_processors, &carriers);
    }
    if (CPU_COUNT(&allowed) == 0) return EINVAL;
    // A real processor that this process may not use stays unused.
    real<int(pid_t, std::size_t, const cpu_set_t*)>("sched_setaffinity")(0, sizeof carriers, &carriers);
    mask = allowed;
    has_mask = true;
    return 0;
}

bool is_this_thread(pid_t id)
{
    return id == 0 || id == gettid();
}

struct Start {
    void* (*routine)(void*);
    void* argument;
    bool has_mask;
    cpu_set_t mask;
};

void* run_with_mask(void* argument)
{
    const Start start = *static_cast<Start*>(argument);
    delete static_cast<Start*>(argument);
    has_mask = start.has_mask;
    mask = start.mask;
    return start.routine(start.argument);
}

long bind_to_node(const std::array<long, 6>& words)
{
    constexpr int bits = 8 * sizeof(unsigned long);
    const auto* const nodes = reinterpret_cast<const unsigned long*>(words[3]);
    int node = 0;
    while (node < words[4] - 1 && (nodes[node / bits] >> node % bits & 1) == 0) ++node;
    if (node >= machine->nodes) {
        errno = EINVAL;
        return -1;
    }
    const std::lock_guard lock(binding);
    bound.push_back({static_cast<unsigned long>(words[0]), static_cast<unsigned long>(words[1]), node});
    return 0;
}

int node_of(unsigned long address)
{
    const std::lock_guard lock(binding);
    for (auto range = bound.rbegin(); range != bound.rend(); ++range)
        if (address - range->begin < range->bytes) return range->node;
    return 0;
}

long on_syscall(long number, const std::array<long, 6>& words)
{
    const auto call = real<long(long, ...)>("syscall");
    if (machine != nullptr && number == SYS_perf_event_open && machine->counters_errno != 0) {
        const auto* const attributes = reinterpret_cast<const perf_event_attr*>(words[0]);
        if (attributes->type != PERF_TYPE_SOFTWARE) {
            errno = machine->counters_errno;
            return -1;
        }
    }
    if (machine != nullptr && number == SYS_mbind && words[2] == MPOL_BIND) return bind_to_node(words);
    const long result = call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (machine != nullptr && number == SYS_get_mempolicy && result == 0 && (words[4] & MPOL_F_NODE) != 0)
        *reinterpret_cast<int*>(words[0]) = node_of(static_cast<unsigned long>(words[3]));
    return result;
}

/// The third word of open and the like.
mode_t mode_in(va_list& list)
{
    return va_arg(list, mode_t);
}

}  // namespace

extern "C" {

/// hwloc reads the made machine by its variables, which roof takes out of the environment before.
int hwloc_topology_load(void* topology)
{
    if (machine != nullptr) {
        setenv("HWLOC_FSROOT", (machine->folder + "/root").c_str(), 1);
        setenv("HWLOC_THISSYSTEM", "1", 1);
        setenv("HWLOC_COMPONENTS", "-x86", 1);
    }
    return real<int(void*)>("hwloc_topology_load")(topology);
}

int sigaction(int signal, const struct sigaction* action, struct sigaction* before)
{
    if (machine == nullptr || signal != SIGSEGV) return real<Sigaction>("sigaction")(signal, action, before);
    if (before != nullptr) *before = program_action;
    if (action != nullptr) program_action = *action;
    return 0;
}

sighandler_t signal(int number, sighandler_t handler)
{
    if (machine == nullptr || number != SIGSEGV)
        return real<sighandler_t(int, sighandler_t)>("signal")(number, handler);
    const sighandler_t before = program_action.sa_handler;
    program_action = {};
    program_action.sa_handler = handler;
    return before;
}

long syscall(long number, ...)
{
    std::array<long, 6> words{};
    va_list list;
    va_start(list, number);
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    return on_syscall(number, words);
}

int sched_getaffinity(pid_t id, std::size_t bytes, cpu_set_t* set)
{
    if (machine == nullptr) return real<int(pid_t, std::size_t, cpu_set_t*)>("sched_getaffinity")(id, bytes, set);
    if (bytes * 8 < static_cast<std::size_t>(machine->processors)) {
        errno = EINVAL;
        return -1;
    }
    const cpu_set_t answer = is_this_thread(id) ? mask_of_thread() : all_processors();
    std::memset(set, 0, bytes);
    std::memcpy(set, &answer, std::min(bytes, sizeof answer));
    return 0;
}

int sched_setaffinity(pid_t id, std::size_t bytes, const cpu_set_t* set)
{
    if (machine == nullptr || !is_this_thread(id))
        return real<int(pid_t, std::size_t, const cpu_set_t*)>("sched_setaffinity")(id, bytes, set);
    const int error = take_mask(bytes, set);
    if (error == 0) return 0;
    errno = error;
    return -1;
}

int pthread_getaffinity_np(pthread_t thread, std::size_t bytes, cpu_set_t* set)
{
    if (machine == nullptr)
        return real<int(pthread_t, std::size_t, cpu_set_t*)>("pthread_getaffinity_np")(thread, bytes, set);
    return sched_getaffinity(pthread_equal(thread, pthread_self()) != 0 ? 0 : -1, bytes, set) == 0 ? 0 : errno;
}

int pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* set)
{
    if (machine == nullptr || pthread_equal(thread, pthread_self()) == 0)
        return real<int(pthread_t, std::size_t, const cpu_set_t*)>("pthread_setaffinity_np")(thread, bytes, set);
    return take_mask(bytes, set);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)
{
    const auto create = real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    if (machine == nullptr) return create(thread, attributes, routine, argument);
    auto* const start = new Start{routine, argument, has_mask, mask};
    const int error = create(thread, attributes, run_with_mask, start);
    if (error != 0) delete start;
    return error;
}

int sched_getcpu()
{
    const int here = real<int()>("sched_getcpu")();
    if (machine == nullptr || here < 0) return here;
    const cpu_set_t allowed = mask_of_thread();
    int first = -1;
    for (int processor = 0; processor < machine->processors; ++processor) {
        if (!CPU_ISSET(processor, &allowed)) continue;
        if (first < 0) first = processor;
        if (processor % machine->real_processors == here) return processor;
    }
    return first;
}

int get_nprocs()
{
    return machine == nullptr ? real<int()>("get_nprocs")() : machine->processors;
}

int get_nprocs_conf()
{
    return machine == nullptr ? real<int()>("get_nprocs_conf")() : machine->processors;
}

long sysconf(int name)
{
    if (machine != nullptr && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
        return machine->processors;
    return real<long(int)>("sysconf")(name);
}

int open(const char* file, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_in(list);
    va_end(list);
    return real<int(const char*, int, ...)>("open")(Path(file).path, flags, mode);
}

int open64(const char* file, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_in(list);
    va_end(list);
    return real<int(const char*, int, ...)>("open64")(Path(file).path, flags, mode);
}

int openat(int folder, const char* file, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_in(list);
    va_end(list);
    return real<int(int, const char*, int, ...)>("openat")(folder, Path(file).path, flags, mode);
}

int openat64(int folder, const char* file, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_in(list);
    va_end(list);
    return real<int(int, const char*, int, ...)>("openat64")(folder, Path(file).path, flags, mode);
}

FILE* fopen(const char* file, const char* mode)
{
    return real<FILE*(const char*, const char*)>("fopen")(Path(file).path, mode);
}

FILE* fopen64(const char* file, const char* mode)
{
    return real<FILE*(const char*, const char*)>("fopen64")(Path(file).path, mode);
}

DIR* opendir(const char* folder)
{
    return real<DIR*(const char*)>("opendir")(Path(folder).path);
}

int access(const char* file, int mode)
{
    return real<int(const char*, int)>("access")(Path(file).path, mode);
}

int stat(const char* file, struct stat* result)
{
    return real<int(const char*, struct stat*)>("stat")(Path(file).path, result);
}

int stat64(const char* file, struct stat64* result)
{
    return real<int(const char*, struct stat64*)>("stat64")(Path(file).path, result);
}

int lstat(const char* file, struct stat* result)
{
    return real<int(const char*, struct stat*)>("lstat")(Path(file).path, result);
}

int lstat64(const char* file, struct stat64* result)
{
    return real<int(const char*, struct stat64*)>("lstat64")(Path(file).path, result);
}

}  // extern "C"
