// Bare loops over a working set in bytes, to compare with `roof calibrate`: no checks, no sums, one thread. Each
// operation is tried with 1 to 16 vectors in an iteration and on several pages; the fifth fastest run of the best
// counts. tools/bench_ceilings --bare runs it:
//   c++ -std=c++20 -O2 -march=native tools/ceilings/bare_loops.cpp -o bare_loops && ./bare_loops load:32768 triad:49152
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

namespace {

constexpr long width = __BIGGEST_ALIGNMENT__;  // of the widest vector
using Vector [[gnu::vector_size(width)]] = double;

Vector load(const Vector& from)
{
    Vector value;
    asm volatile("vmovups %1, %0" : "=v"(value) : "m"(from));
    return value;
}

void store(Vector& to, Vector value)
{
    asm volatile("vmovups %1, %0" : "=m"(to) : "v"(value));
}

Vector product(const Vector& memory, Vector factor)
{
    Vector value;
    asm volatile("vmulpd %2, %1, %0" : "=v"(value) : "v"(factor), "m"(memory));
    return value;
}

Vector sum(const Vector& memory, Vector addend)
{
    Vector value;
    asm volatile("vaddpd %2, %1, %0" : "=v"(value) : "v"(addend), "m"(memory));
    return value;
}

/// An operation on one vector of each of the arrays, and how many vectors it reads and writes.
template <long number, long moves, auto does>
struct Operation {
    static constexpr long arrays = number, moved = moves;
    static constexpr auto step = does;
};
using Load = Operation<1, 1, [](Vector& a, Vector&, Vector&, Vector) { load(a); }>;
using Store = Operation<1, 1, [](Vector& a, Vector&, Vector&, Vector x) { store(a, x); }>;
using Copy = Operation<2, 2, [](Vector& a, Vector& b, Vector&, Vector) { store(b, load(a)); }>;
using Update = Operation<1, 2, [](Vector& a, Vector&, Vector&, Vector x) { store(a, product(a, x)); }>;
using Triad = Operation<3, 3, [](Vector& a, Vector& b, Vector& c, Vector x) { store(b, sum(c, product(a, x))); }>;

/// Passes over arrays of `length` vectors each, `count` in an iteration.
template <class Operation, long count>
void passes(Vector* a, long length, long repetitions)
{
    const Vector x = {1, 1, 1, 1};
    for (long r = 0; r < repetitions; ++r) {
        for (long i = 0; i < length; i += count) [&]<long... k>(std::integer_sequence<long, k...>)
            {
                (Operation::step(a[i + k], a[length + i + k], a[2 * length + i + k], x), ...);
            }
        (std::make_integer_sequence<long, count>());
    }
}

/// Bytes per second: the fifth fastest of 40 runs of some 50 us, since a single one may be chance.
template <class Operation, long count>
double rate_of(Vector* data, long set)
{
    using Clock = std::chrono::steady_clock;
    const long length = set / Operation::arrays / (count * width) * count;
    const long repetitions = std::max(1L, 20'000'000 / set);
    const double moved = 1.0 * length * width * repetitions * Operation::moved;
    std::array<double, 40> rates{};
    for (double& rate : rates) {
        const auto begin = Clock::now();
        passes<Operation, count>(data, length, repetitions);
        rate = moved / std::chrono::duration<double>(Clock::now() - begin).count();
    }
    std::ranges::sort(rates, std::greater{});
    return rates[4];
}

template <class Operation>
double best_rate(Vector* data, long set)
{
    return std::max({rate_of<Operation, 1>(data, set), rate_of<Operation, 2>(data, set),
                     rate_of<Operation, 4>(data, set), rate_of<Operation, 8>(data, set),
                     rate_of<Operation, 16>(data, set)});
}

double rate_in_a_page(const std::string& operation, long set)
{
    constexpr long page = 2 << 20;
    const long space = (set / page + 1) * page;
    auto* const data = static_cast<Vector*>(std::aligned_alloc(page, space));
    madvise(data, space, MADV_HUGEPAGE);
    std::memset(data, 0, space);
    const double rate = operation == "load"     ? best_rate<Load>(data, set)
                        : operation == "store"  ? best_rate<Store>(data, set)
                        : operation == "copy"   ? best_rate<Copy>(data, set)
                        : operation == "update" ? best_rate<Update>(data, set)
                                                : best_rate<Triad>(data, set);
    std::free(data);
    return rate;
}

}  // namespace

int main(int count, char** words)
{
    constexpr int pages = 8;  // where a set lies decides the rate of L2
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const std::size_t colon = word.find(':');
        const long set = colon == std::string::npos ? 0 : std::atol(word.c_str() + colon + 1);
        if (set < 16 * 3 * width) {
            std::fprintf(stderr, "%s: an operation and a working set of at least 3 KiB are expected\n", words[i]);
            return 2;
        }
        double best = 0;
        for (int page = 0; page < pages; ++page) best = std::max(best, rate_in_a_page(word.substr(0, colon), set));
        std::printf("%s %.6g\n", words[i], best);
    }
}
