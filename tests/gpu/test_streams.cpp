// Index arithmetic of the memory probes, and their expected results.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/kernels/shared.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/intensities.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

using namespace roof;
using namespace roof::gpu;

TEST_CASE("the threads of all blocks take each vector once, whatever the layout")
{
    const auto layout = GENERATE(StreamLayout::stretches, StreamLayout::together);
    const auto [vectors, blocks, threads] = GENERATE(table<int, int, int>({{1000, 7, 32}, {31, 4, 16}, {2, 5, 8}}));
    std::vector<int> taken(static_cast<std::size_t>(vectors));
    for (int block = 0; block < blocks; ++block) {
        for (int thread = 0; thread < threads; ++thread) {
            const Stretch mine = stretch_of(layout, static_cast<std::size_t>(vectors), blocks, block, threads, thread);
            for (std::size_t i = mine.first; i < mine.end; i += mine.step) ++taken[i];
        }
    }
    CHECK(taken == std::vector<int>(taken.size(), 1));
}

TEST_CASE("the threads of all tiles take each vector once")
{
    const auto [vectors, unroll, threads] = GENERATE(table<int, int, int>({{1000, 4, 32}, {31, 2, 16}, {2, 1, 8}}));
    const auto all = static_cast<std::size_t>(vectors);
    std::vector<int> taken(all);
    for (std::size_t tile = 0; tile < tiles_of(all, unroll, threads); ++tile) {
        for (int thread = 0; thread < threads; ++thread) {
            const Stretch mine = stretch_in_tile(all, unroll, tile, threads, thread);
            for (std::size_t i = mine.first; i < mine.end; i += mine.step) ++taken[i];
        }
    }
    CHECK(taken == std::vector<int>(all, 1));
}

TEST_CASE("in layout stretches each block has a stretch of its own, all of the same length")
{
    for (int block = 0; block < 4; ++block) {
        const Stretch mine = stretch_of(StreamLayout::stretches, 4096, 4, block, 512, 3);
        CHECK(mine.first == static_cast<std::size_t>(block) * 1024 + 3);
        CHECK(mine.end == static_cast<std::size_t>(block + 1) * 1024);
        CHECK(mine.step == 512);
    }
}

TEST_CASE("a chase visits every line once before it returns, with neighbours far apart in time")
{
    const std::size_t lines = GENERATE(2U, 3U, 64U, 1000U, 4099U);
    std::set<std::size_t> seen;
    std::size_t at = 0;
    for (std::size_t step = 0; step < lines; ++step) {
        CHECK(chase_position(lines, step) == at);
        seen.insert(at);
        at = (at + chase_stride(lines)) % lines;
    }
    CHECK(at == 0);
    CHECK(seen.size() == lines);
    if (lines >= 64) CHECK(chase_stride(lines) > lines / 2);
}

TEST_CASE("arrays share the working set in whole chunks")
{
    CHECK(vectors_of_each(StreamOperation::load, 3 * bulk_chunk_bytes) * vector_bytes == 3 * bulk_chunk_bytes);
    CHECK(vectors_of_each(StreamOperation::copy, 3 * bulk_chunk_bytes) * vector_bytes == bulk_chunk_bytes);
    CHECK(vectors_of_each(StreamOperation::triad, 3 * bulk_chunk_bytes - 1) == 0);
}

TEST_CASE("the sum of an array's bits equals that of adding them one by one")
{
    const std::size_t words = number_period + 1000;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words; ++i)
        sum += std::bit_cast<std::uint32_t>(static_cast<float>(number_at(i % number_period)));
    CHECK(sum_of_bits(words) == sum);
    CHECK(sum_of_bits(1) == std::bit_cast<std::uint32_t>(static_cast<float>(number_at(0))));
}

TEST_CASE("numbers are whole, random, and small enough for a triad to be exact")
{
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < 1000; ++i) {
        CHECK(number_at(i) < 1U << 20);
        seen.insert(number_at(i));
    }
    CHECK(seen.size() > 990);
    CHECK(expected_word(StreamOperation::copy, 5) == static_cast<float>(number_at(5)));
    CHECK(expected_word(StreamOperation::triad, 5) ==
          static_cast<float>(number_at(5)) + 3 * static_cast<float>(number_at(6)));
    CHECK(expected_word(StreamOperation::triad, number_period) == expected_word(StreamOperation::triad, 0));
    CHECK(expected_word(StreamOperation::store, 5) == stream_value);
}

TEST_CASE("the sum of a thread of the shared-memory probe depends on every access")
{
    CHECK(shared_result(SharedOperation::load, 3, 2) == 2 * shared_result(SharedOperation::load, 3, 1));
    CHECK(shared_result(SharedOperation::load, 3, 1) != shared_result(SharedOperation::load, 4, 1));
    CHECK(shared_result(SharedOperation::store, 3, 7) == 4 * shared_vectors * 7);
}

TEST_CASE("an intensity is an eighth of the multiply-adds of a vector")
{
    CHECK(multiply_adds_for("1/8") == 1);
    CHECK(multiply_adds_for("1") == 8);
    CHECK(multiply_adds_for("64") == 512);
    CHECK_THROWS_AS(multiply_adds_for("3"), InputError);
}

TEST_CASE("the check of a curve takes no more vectors than the sums of its precision are exact for")
{
    // fp32: sums up to 2^24 of numbers up to 2; of 512 multiply-adds each of 8 sums has 64.
    CHECK(exact_vectors(Precision::fp32, 512, 10) == 10 * ((std::size_t{1} << 24) / (2 * 64) - 1));
    CHECK(exact_vectors(Precision::fp32, 512, 1) == (std::size_t{1} << 24) / (2 * 64) - 1);
    CHECK(exact_vectors(Precision::fp32, 2, 1) == (std::size_t{1} << 23) - 1);
    CHECK(exact_vectors(Precision::fp64, 8, 1) == (std::size_t{1} << 52) - 1);
}

TEST_CASE("the sums of the curve equal those of its multiply-adds done one by one")
{
    const auto [precision, elements] = GENERATE(table<Precision, int>({{Precision::fp64, 2}, {Precision::fp32, 4}}));
    const int multiply_adds = GENERATE(1, 2, 8, 128);
    const std::size_t vectors = intensity_period + 77;
    double sum = 0;
    for (std::size_t vector = 0; vector < vectors; ++vector) {
        for (int i = 0; i < multiply_adds; ++i)
            sum += intensity_number(vector * static_cast<std::size_t>(elements) +
                                    static_cast<std::size_t>(element_of(i, elements)));
    }
    CHECK(expected_sum(precision, multiply_adds, vectors) == sum);
}

TEST_CASE("default working sets are those of each octave, and between them, finer where the L1 ends")
{
    using Words = std::vector<std::string>;
    Device device;
    device.kind = "gpu";
    device.facts["multiprocessors"] = "1";
    device.levels = {{"L1", Bytes{128.0 * 1024}}, {"L2", Bytes{256.0 * 1024}}};
    device.memory_available = Bytes{4.0 * (1 << 20)};  // of which sets take a quarter
    Machine machine;
    machine.devices = {device};
    CHECK(usual_working_sets(machine) == Words{"32768", "49152", "65536", "98304", "131072", "163840", "196608",
                                               "229376", "262144", "327680", "393216", "458752", "524288", "786432",
                                               "1048576"});
    CHECK(usual_chase_sets(machine) == Words{"32768", "65536", "131072", "262144", "524288", "1048576"});
    CHECK(usual_ert_sets(machine) == Words{"65536", "131072", "1048576"});
    machine.devices[0].memory_available = Bytes{1024};
    CHECK(usual_working_sets(machine) == Words{"32768"});
    // Without a GPU: of 100 multiprocessors, with 16 MB of L1 and 40 MB of L2.
    CHECK(usual_ert_sets(Machine{}) == Words{"6553600", "13107200", "838860800"});
}
