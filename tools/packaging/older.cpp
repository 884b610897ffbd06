// What the GNU C++ library of GCC 12, built for glibc 2.36, asks of an older one, and what libraries that GCC 4.8 to 11
// compiled ask of it under names that its archive lacks. Linked into the libstdc++ of the wheel, with
// _GLIBCXX_ASYNC_ABI_COMPAT for <future>.
#include <sys/random.h>
#include <cstdint>
#include <future>

extern "C" {

// Since glibc 2.32: whether there is one thread only. "No" costs an atomic operation and is always right.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Since glibc 2.36: a random number, for std::random_device.
__attribute__((visibility("hidden"))) std::uint32_t arc4random()
{
    std::uint32_t bits = 0;
    while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    }
    return bits;
}

// std::condition_variable::wait() under its version of before GCC 12.
void newer_wait(void* variable, void* lock) __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void older_wait(void* variable, void* lock)
{
    newer_wait(variable, lock);
}
__asm__(".symver older_wait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
}

namespace std {

// The shared state of futures of before GCC 5, whose table of functions oneDNN's makers' build uses.
class __future_base::_State_base {
    _Ptr<_Result_base> _M_result;
    mutex _M_mutex;
    condition_variable _M_cond;
    atomic_flag _M_retrieved;
    once_flag _M_once;

  public:
    virtual ~_State_base();
    virtual void _M_run_deferred() {}
};

__future_base::_State_base::~_State_base() = default;

}  // namespace std
