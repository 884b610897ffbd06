#include "tests/emulated_gpu/device/fiber.hpp"

namespace roof::emulated {

namespace {

/// Memory that is there already.
struct Stack {
    std::byte* memory;
    std::size_t bytes;

    boost::context::stack_context allocate() const
    {
        boost::context::stack_context context;
        context.size = bytes;
        context.sp = memory + bytes;
        return context;
    }
    void deallocate(boost::context::stack_context&) const {}
};

}  // namespace

Fiber::Fiber() : stack_(new std::byte[stack_bytes_])
{
    // The upper ends of many stacks would else share a few lines of the host's caches.
    constexpr std::size_t line = 64;
    constexpr std::size_t places = 61;
    static std::size_t made = 0;
    stack_bytes_ -= 3 * line * (made++ % places);
}

void Fiber::resume()
{
    if (waiting_)
        waiting_ = waiting_.resume();
    else
        waiting_ = boost::context::callcc(std::allocator_arg, Stack{stack_.get(), stack_bytes_},
                                          [this](boost::context::continuation&& caller) {
                                              caller_ = std::move(caller);
                                              function_();
                                              return std::move(caller_);
                                          });
}

}  // namespace roof::emulated
