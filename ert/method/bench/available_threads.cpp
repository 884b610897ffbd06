#include "ert/method/bench/available_threads.hpp"

#include "ert/base/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace roof {

void require_threads(long long count)
{
    std::atomic_flag may_end = ATOMIC_FLAG_INIT;
    std::vector<std::thread> others;
    std::string reason;
    try {
        while (static_cast<long long>(others.size()) + 1 < count)
            others.emplace_back([&may_end] { may_end.wait(false); });
    } catch (const std::system_error& error) {
        reason = error.code().message();
    }
    may_end.test_and_set();
    may_end.notify_all();
    for (std::thread& other : others) other.join();
    if (!reason.empty())
        throw Error(fmt::format("{} threads cannot be started ({}); `ulimit -u` shows the limit", count, reason));
}

}  // namespace roof
