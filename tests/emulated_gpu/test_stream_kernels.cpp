// The kernels that go through arrays, on the emulated device: streams, bulk copies and intensities. Each in several
// schedules.
#include "ert/base/formats.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/intensities.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/readings.hpp"

#include <array>
#include <numeric>
#include <random>
#include <utility>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::in_all_schedules;

namespace {

std::vector<std::pair<int, int>> every_tile()
{
    std::vector<std::pair<int, int>> all;
    for (const int unroll : tile_unrolls)
        for (const int threads : stream_block_sizes) all.emplace_back(unroll, threads);
    return all;
}

}  // namespace

TEST_CASE("streams read, write, copy and add what they should, by instructions and by bulk copies", "[kernels]")
{
    const emulated::RaceSearch off(false);  // each pass of a stream writes what the one before wrote
    const Stream stream;
    for (const StreamOperation operation :
         {StreamOperation::load, StreamOperation::store, StreamOperation::copy, StreamOperation::triad}) {
        // For each array, no whole number for each block; few of them leave the unrolled part of a loop out.
        int chunks = 7;
        in_all_schedules([&] {
            constexpr int blocks = 3;
            constexpr int passes = 2;
            const auto set = static_cast<std::size_t>(std::exchange(chunks, 47)) *
                             static_cast<std::size_t>(bulk_chunk_bytes * arrays_of(operation));
            const auto filled = [&] {
                const emulated::FewBlocks few({2, 1, 1});
                return Arrays(operation, set, blocks * std::size_t{1024}, stream);
            };
            Arrays arrays = filled();
            const auto check_after = [&](std::size_t threads, const auto& enqueue) {
                arrays.clear_results();
                StreamLaunch launch = arrays.launch();
                launch.blocks = blocks;
                launch.passes = passes;
                const Readings readings;
                launch.reading = readings.data();
                enqueue(launch);
                stream.synchronize();
                CHECK_NOTHROW(arrays.check(passes, threads));
                readings.check();
            };
            for (const int threads : stream_block_sizes) {
                for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
                    for (const bool past_l1 : {false, true}) {
                        for (const bool in_step : {false, true}) {
                            check_after(static_cast<std::size_t>(blocks * threads), [&](StreamLaunch launch) {
                                launch.in_step = in_step;
                                enqueue(stream_kernel_of({operation, layout, threads, past_l1}), launch, stream.get());
                            });
                        }
                    }
                }
            }
            // Of the tiles one of sixteen reads the clock, on any multiprocessor: so there is one alone.
            int& multiprocessors = emulated::machine().device(0).card.multiprocessors;
            const int all = std::exchange(multiprocessors, 1);
            for (const auto& [unroll, threads] : every_tile()) {
                check_after(tile_sums, [&, unroll = unroll, threads = threads](StreamLaunch launch) {
                    launch.blocks = launch.passes * static_cast<int>(tiles_of(launch.vectors, unroll, threads));
                    enqueue(stream_kernel_of({.operation = operation, .threads = threads, .tile_unroll = unroll}),
                            launch, stream.get());
                });
            }
            multiprocessors = all;
            if (operation == StreamOperation::load) {
                arrays.clear_results();
                StreamLaunch launch = arrays.launch();
                launch.blocks = static_cast<int>(tiles_of(launch.vectors, 1, stream_block_sizes[0]));
                launch.timed = true;
                enqueue(stream_kernel_of({.threads = stream_block_sizes[0], .tile_unroll = 1}), launch, stream.get());
                CHECK_NOTHROW(arrays.check(0, tile_sums));  // leaves no sums
            }
            if (operation != StreamOperation::triad) {
                // More blocks than the arrays have chunks, too.
                for (const int each : {blocks, 50}) {
                    check_after(static_cast<std::size_t>(each) * bulk_threads, [&, each](StreamLaunch launch) {
                        launch.blocks = each;
                        enqueue(bulk_kernel_of(operation), launch, stream.get());
                    });
                }
                StreamLaunch launch = arrays.launch();
                launch.sums = nullptr;
                launch.blocks = blocks;
                enqueue(bulk_kernel_of(operation), launch, stream.get());
                stream.synchronize();
            }
        });
    }
}

namespace {

/// What the accumulators of a thread add up to after passes over these vectors: each is its former value times the
/// factor, plus an element.
double sum_of_thread(const std::vector<double>& numbers, Precision precision, int multiply_adds, const Stretch& mine,
                     int passes, double factor)
{
    const int elements = vector_bytes / traits(precision).storage_bytes;
    std::array<double, 8> sums{};
    for (int pass = 0; pass < passes; ++pass) {
        for (std::size_t vector = mine.first; vector < mine.end; vector += mine.step) {
            for (int i = 0; i < multiply_adds; ++i) {
                double& sum = sums[static_cast<std::size_t>(i % 8)];
                sum = multiply_add(
                    format_of(precision), sum, factor,
                    numbers[vector * static_cast<std::size_t>(elements) + static_cast<std::size_t>(i % elements)]);
            }
        }
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

TEST_CASE("every intensity loads, scales and adds exactly what it counts", "[kernels]")
{
    const Stream stream;
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
        // Another than the bench's 1, with which sums stay small, and keep what came long before; another
        // number is behind it.
        constexpr double factor = -0.875;
        const Array<std::byte> factors(encode(format_of(precision), std::vector<double>{factor, factor, 7, 7}));
        constexpr std::size_t all_vectors = 5000;
        constexpr std::size_t few_vectors = 1900;
        const auto elements = static_cast<std::size_t>(vector_bytes / traits(precision).storage_bytes);
        std::vector<double> numbers(all_vectors * elements);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = intensity_number(i);
        const Array<std::byte> filled(all_vectors * vector_bytes);
        {
            const emulated::FewBlocks few({3, 1, 1});
            enqueue_intensity_fill(precision, filled.data(), all_vectors, stream.get());
        }
        stream.synchronize();
        CHECK(filled.values() == encode(format_of(precision), numbers));
        // Of no period, so that another vector has other numbers.
        std::mt19937 random(7);
        for (double& number : numbers) number = static_cast<double>(1 + random() % 3);
        const Array<std::byte> array(encode(format_of(precision), numbers));
        for (const int multiply_adds : multiply_adds_of_vector) {
            // Of the fewer vectors no thread has enough for an unrolled turn.
            for (const auto& [layout, vectors] : {std::pair{StreamLayout::stretches, all_vectors},
                                                  {StreamLayout::stretches, few_vectors},
                                                  {StreamLayout::together, all_vectors},
                                                  {StreamLayout::together, few_vectors}}) {
                constexpr std::size_t blocks = 2;
                constexpr int passes = 2;
                const Readings readings;
                const Array<double> sums(blocks * intensity_threads);
                enqueue(intensity_kernel_of({precision, multiply_adds, layout}),
                        {array.data(), factors.data(), sums.data(), vectors, readings.data(), static_cast<int>(blocks),
                         passes},
                        stream.get());
                stream.synchronize();
                const std::vector<double> found = sums.values();
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const std::size_t block = i / intensity_threads;
                    Stretch mine{i, vectors, blocks * intensity_threads};
                    if (layout == StreamLayout::stretches)
                        mine = {vectors * block / blocks + i % intensity_threads, vectors * (block + 1) / blocks,
                                intensity_threads};
                    REQUIRE(found[i] == sum_of_thread(numbers, precision, multiply_adds, mine, passes, factor));
                }
                readings.check();
            }
        }
    }
    CHECK(emulated::fault_of_pending_work().empty());
}
