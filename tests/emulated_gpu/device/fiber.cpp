#include "tests/emulated_gpu/device/fiber.hpp"

#include <ucontext.h>
#include <cstdint>

namespace roof::emulated {

namespace {
constexpr std::size_t stack_bytes = std::size_t{64} << 10;
}

Fiber::Fiber() : stack_(new std::byte[stack_bytes])
{
    // The upper ends of many stacks would else share a few lines of the host's caches.
    constexpr std::size_t line = 64;
    constexpr std::size_t places = 61;
    static std::size_t made = 0;
    shift_ = 3 * line * (made++ % places);
}

void Fiber::start(std::function<void()> function)
{
    function_ = std::move(function);
    has_ended_ = false;
}

bool Fiber::resume()
{
    if (_setjmp(caller_) == 0) {
        if (is_prepared_) _longjmp(here_, 1);
        is_prepared_ = true;
        ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = stack_.get();
        context.uc_stack.ss_size = stack_bytes - shift_;
        context.uc_link = nullptr;
        const auto self = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self),
                    static_cast<unsigned>(self >> 32));
        setcontext(&context);
    }
    return has_ended_;
}

void Fiber::wait()
{
    if (_setjmp(here_) == 0) _longjmp(caller_, 1);
}

void Fiber::abandon()
{
    is_prepared_ = false;
    has_ended_ = true;
}

void Fiber::enter(unsigned low, unsigned high)
{
    reinterpret_cast<Fiber*>(std::uintptr_t{low} | std::uintptr_t{high} << 32)->run();
}

void Fiber::run()
{
    for (;;) {
        function_();
        has_ended_ = true;
        wait();
    }
}

}  // namespace roof::emulated
