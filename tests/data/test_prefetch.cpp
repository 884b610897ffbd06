// The ring of batches, with samples that need no files.
#include "ert/base/error.hpp"
#include "workloads/data/prefetch.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

using namespace roof;
using namespace roof::data;

namespace {

int numbered(std::uint64_t sample, std::span<float> image)
{
    for (float& pixel : image) pixel = static_cast<float>(sample);
    return static_cast<int>(sample) + 1000;
}

}  // namespace

TEST_CASE("batches are complete and in order for any number of workers")
{
    for (const int workers : {1, 2, 7}) {
        Prefetch prefetch(4, 3, workers, numbered);
        for (int batch = 0; batch < 50; ++batch) {
            const Batch got = prefetch.next();
            REQUIRE(got.fresh);
            for (int n = 0; n < 4; ++n) {
                const int sample = 4 * batch + n;
                REQUIRE(got.labels[n] == sample + 1000);
                for (int i = 0; i < 3; ++i) REQUIRE(got.images[3 * n + i] == static_cast<float>(sample));
            }
        }
    }
}

TEST_CASE("workers prepare a limited number of batches and do not overwrite the held one")
{
    std::atomic<int> made = 0;
    Prefetch prefetch(4, 1, 2, [&](std::uint64_t sample, std::span<float> image) {
        const int label = numbered(sample, image);
        ++made;
        return label;
    });
    const Batch held = prefetch.next();
    constexpr int most = 4 * static_cast<int>(Prefetch::ahead + 1);
    while (made < most) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(made == most);
    for (int n = 0; n < 4; ++n) CHECK(held.images[n] == static_cast<float>(n));
}

TEST_CASE("next() rethrows an exception of a worker")
{
    Prefetch prefetch(2, 1, 3, [](std::uint64_t sample, std::span<float> image) {
        if (sample == 5) throw Error("sample five");
        return numbered(sample, image);
    });
    const auto all = [&] {
        for (int batch = 0; batch < 3; ++batch) prefetch.next();
    };
    CHECK_THROWS_WITH(all(), "sample five");
}

TEST_CASE("a prefetch can be destroyed while its workers are busy, without finishing the batches ahead")
{
    constexpr int batch = 2000;
    std::atomic<int> begun = 0;
    {
        Prefetch prefetch(batch, 1, 2, [&](std::uint64_t sample, std::span<float> image) {
            ++begun;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return numbered(sample, image);
        });
        while (begun < 2) std::this_thread::yield();
    }
    CHECK(begun < batch);
}
