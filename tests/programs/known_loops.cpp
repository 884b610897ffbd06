// Loops whose FLOPs and bytes are known by hand. Compiled once for each number format (Real) and instruction set.
//   usage: known_loops LOOP N PASSES
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {

[[gnu::noinline]] void triad(Real* a, const Real* b, const Real* c, long n)
{
    for (long i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
}

[[gnu::noinline]] void axpy(Real* y, const Real* x, const Real*, long n)
{
    for (long i = 0; i < n; ++i) y[i] += 3 * x[i];
}

[[gnu::noinline]] void ijk(Real* __restrict c, const Real* a, const Real* b, long n)
{
    for (long i = 0; i < n; ++i)
        for (long j = 0; j < n; ++j) {
            Real sum = 0;
            for (long k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

[[gnu::noinline]] void ikj(Real* __restrict c, const Real* a, const Real* b, long n)
{
    for (long i = 0; i < n; ++i)
        for (long k = 0; k < n; ++k) {
            const Real factor = a[i * n + k];
            for (long j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
        }
}

[[gnu::noinline]] void jki(Real* __restrict c, const Real* a, const Real* b, long n)
{
    for (long j = 0; j < n; ++j)
        for (long k = 0; k < n; ++k) {
            const Real factor = b[k * n + j];
            for (long i = 0; i < n; ++i) c[i * n + j] += factor * a[i * n + k];
        }
}
}

int main(int count, char** words)
{
    if (count != 4) return 2;
    using Loop = void (*)(Real*, const Real*, const Real*, long);
    struct Named {
        const char* name;
        Loop loop;
        bool is_product;
    };
    const Named loops[] = {
        {"triad", triad, false}, {"axpy", axpy, false}, {"ijk", ijk, true}, {"ikj", ikj, true}, {"jki", jki, true}};
    const long n = std::atol(words[2]), passes = std::atol(words[3]);
    for (const Named& named : loops) {
        if (std::strcmp(named.name, words[1]) != 0) continue;
        const auto values = static_cast<std::size_t>(named.is_product ? n * n : n);
        std::vector<Real> a(values, 0), b(values, 1), c(values, 2);
        for (long pass = 0; pass < passes; ++pass) named.loop(a.data(), b.data(), c.data(), n);
        return a[values / 2] > 0 ? 0 : 1;
    }
    return 2;
}
