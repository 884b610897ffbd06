#include "cpu/kernels/chase.hpp"

#include "ert/base/process.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace roof::cpu {
namespace {

constexpr std::size_t code_bytes = 4096;

/// Marsaglia's xorshift: a few clocks per number, and too random for a prefetcher to predict.
class Random {
  public:
    /// Returns a number below `bound`, which is at most 2^32.
    std::uint64_t below(std::uint64_t bound)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (state_ >> 32) * bound >> 32;
    }

  private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

/// Every number below `lines` once, in random order after 0.
std::vector<std::uint32_t> random_order(std::size_t lines)
{
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0U);
    Random random;
    for (std::size_t i = lines - 1; i > 1; --i) std::swap(order[i], order[1 + random.below(i)]);
    return order;
}

}  // namespace

ChaseKernel::ChaseKernel() : CodeGenerator(code_bytes, Xbyak::DontSetProtectRWE)
{
    Xbyak::Label loop;
    mov(rax, rsi);
    align(64);
    L(loop);
    for (std::size_t i = 0; i < unroll; ++i) mov(rax, ptr[rax]);
    sub(rdi, static_cast<std::uint32_t>(unroll));
    jnz(loop, T_NEAR);
    ret();
    require_generated_code();
    setProtectModeRE();
}

const std::byte* link_lines(std::byte* memory, std::size_t lines, std::size_t mark)
{
    const std::vector<std::uint32_t> order = random_order(lines);
    const auto line = [&](std::size_t step) { return memory + order[step % lines] * chase_line; };
    std::byte* from = line(0);
    for (std::size_t step = 1; step <= lines; ++step) {
        std::byte* const to = line(step == lines ? 0 : step);
        std::memcpy(from, &to, sizeof to);
        from = to;
    }
    return line(mark);
}

}  // namespace roof::cpu
