// What the probes do beside their usual loops: exponentials, conflicts in banks, several readers of a line, and tiles.
// Expected values by plain arithmetic.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/shared.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/readings.hpp"

#include <cstring>
#include <set>
#include <utility>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::in_all_schedules;

TEST_CASE("exponentials and their inverses end near where they began", "[kernels]")
{
    for (const int chains : chain_counts) {
        const ChainKernel kernel{Precision::fp32, ChainOperation::exp, chains};
        const std::vector<double> starts =
            chain_starts(Precision::fp32, static_cast<std::size_t>(chains) * chain_threads);
        const std::vector<std::byte> expected = encode(format_of(Precision::fp32), starts);
        in_all_schedules([&] {
            const Array<std::byte> from(expected);
            const Array<std::byte> with(std::vector<std::byte>(4 * sizeof(float)));
            const Array<std::byte> to(expected.size());
            const Readings readings;
            enqueue(chain_kernel_of(kernel), {from.data(), with.data(), to.data(), readings.data(), 1, 1}, nullptr);
            CHECK(are_chain_ends(kernel, to.values(), expected));
            readings.check();
        });
        std::vector<std::byte> other = encode(format_of(Precision::fp32), std::vector<double>(starts.size(), 3.0));
        CHECK_FALSE(are_chain_ends(kernel, other, expected));
        other.pop_back();
        CHECK_FALSE(are_chain_ends(kernel, other, expected));
    }
    CHECK_THROWS_AS(chain_kernel_of({Precision::fp64, ChainOperation::exp, 4}), Unsupported);
}

TEST_CASE("words apart in shared memory are on as many banks as their distance leaves", "[kernels]")
{
    for (const int stride : {1, 2, 32}) {
        const Array<std::uint32_t> results(shared_threads);
        const Readings readings;
        enqueue(shared_kernel_of(SharedOperation::words), {results.data(), readings.data(), 1, 2, stride}, nullptr);
        readings.check();
        const std::vector<std::uint32_t> found = results.values();
        std::set<unsigned> banks;
        for (std::uint32_t i = 0; i < found.size(); ++i) {
            std::uint32_t expected = 0;
            for (std::uint32_t word = 0; word < 4; ++word)
                expected += shared_word(i * static_cast<unsigned>(stride) % 8192 + word);
            REQUIRE(found[i] == 2 * 8 * expected);
            REQUIRE(found[i] == shared_result(SharedOperation::words, i, 2, stride));
            if (i < 32) banks.insert(first_shared_word(i, stride) % 32);
        }
        CHECK(banks.size() == static_cast<std::size_t>(32 / stride));
    }
}

TEST_CASE("blocks with the same stretch each read all of it", "[kernels]")
{
    constexpr int passes = 2;
    constexpr std::size_t threads = 512;
    const Stream stream;
    Arrays arrays(StreamOperation::load, std::size_t{41} * bulk_chunk_bytes, 6 * threads, stream);
    for (const auto& [blocks, readers] : {std::pair{3, 3}, {6, 2}}) {
        arrays.clear_results();
        StreamLaunch launch = arrays.launch();
        launch.blocks = blocks;
        launch.readers = readers;
        launch.passes = passes;
        launch.in_step = true;
        enqueue(stream_kernel_of({StreamOperation::load, StreamLayout::stretches, threads, true}), launch,
                stream.get());
        stream.synchronize();
        CHECK_NOTHROW(arrays.check(passes * readers, static_cast<std::size_t>(blocks) * threads));
    }
}

TEST_CASE("tiles of a matrix bring each word once in a pass", "[kernels]")
{
    const Stream stream;
    // Three rows of tiles, no whole number of chunks for each block.
    Arrays arrays(StreamOperation::load, std::size_t{3} * bulk_tiles_across * bulk_chunk_bytes, 50 * bulk_threads,
                  stream);
    arrays.map_tiles();
    in_all_schedules([&] {
        for (const int blocks : {5, 50}) {
            arrays.clear_results();
            StreamLaunch launch = arrays.launch();
            launch.blocks = blocks;
            launch.passes = 2;
            const Readings readings;
            launch.reading = readings.data();
            enqueue(bulk_kernel_of(StreamOperation::load, true), launch, stream.get());
            stream.synchronize();
            CHECK_NOTHROW(arrays.check(2, static_cast<std::size_t>(blocks) * bulk_threads));
            readings.check();
        }
    });
}
