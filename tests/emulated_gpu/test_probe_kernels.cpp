// The probes' kernels on the emulated device, against the results that the probes themselves expect. Each in several
// schedules.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/idle.hpp"
#include "ert/gpu/kernels/shared.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "ert/gpu/probes/tensor_operands.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/readings.hpp"
#include "tests/skip.hpp"

#include <algorithm>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::Generation;
using emulated::in_all_schedules;

namespace {

/// The copies of `each` in a row are what the device holds.
void check_copies(const Array<std::byte>& found, const std::vector<std::byte>& each, std::size_t copies)
{
    const std::vector<std::byte> all = found.values();
    REQUIRE(all.size() >= copies * each.size());
    for (std::size_t i = 0; i < copies; ++i)
        REQUIRE(std::equal(each.begin(), each.end(), all.begin() + static_cast<long>(i * each.size())));
}

}  // namespace

TEST_CASE("chains end where the host's do, bit for bit, in every format", "[kernels]")
{
    for (const Precision precision :
         {Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16, Precision::int32}) {
        for (const ChainOperation operation : {ChainOperation::fma, ChainOperation::add, ChainOperation::mul}) {
            if (precision == Precision::int32 && operation != ChainOperation::fma) continue;
            for (const int chains : chain_counts) {
                const ChainKernel kernel{precision, operation, chains};
                const auto lanes = static_cast<std::size_t>(lanes_of(precision));
                const std::vector<double> starts =
                    chain_starts(precision, static_cast<std::size_t>(chains) * chain_threads * lanes);
                std::vector<double> constants;
                for (const double value : chain_constants(kernel)) constants.insert(constants.end(), lanes, value);
                const Format format = format_of(precision);
                const std::vector<std::byte> expected =
                    encode(format, chain_ends(kernel, starts, chain_instructions / chains / 2));
                in_all_schedules([&] {
                    const Array<std::byte> from(encode(format, starts));
                    const Array<std::byte> with(encode(format, constants));
                    const Array<std::byte> to(2 * expected.size());
                    const Readings readings;
                    enqueue(chain_kernel_of(kernel), {from.data(), with.data(), to.data(), readings.data(), 2, 1},
                            nullptr);
                    check_copies(to, expected, 2);
                    readings.check();
                });
            }
        }
    }
}

namespace {

void check_mma(TensorFormat format)
{
    INFO(static_cast<int>(format));
    for (const int chains : mma_chain_counts) {
        const MmaOperands operands = mma_operands(format, Numbers::whole);
        const std::vector<std::byte> expected = lanes_of_sums(format, chains, operands, 1);
        in_all_schedules([&] {
            const Array<std::byte> a(lanes_of_a(format, operands));
            const Array<std::byte> b(lanes_of_b(format, operands));
            const Array<std::byte> sums(2 * 4 * expected.size());
            const Readings readings;
            enqueue(mma_kernel_of(format, chains), {a.data(), b.data(), sums.data(), readings.data(), 2, 1}, nullptr);
            check_copies(sums, expected, 2 * 4);
            readings.check();
        });
    }
}

}  // namespace

TEST_CASE("mma.sync multiplies every format as the host does", "[kernels]")
{
    for (const TensorFormat format :
         {TensorFormat::fp64_small, TensorFormat::fp64, TensorFormat::tf32, TensorFormat::fp16, TensorFormat::bf16,
          TensorFormat::int8, TensorFormat::e4m3, TensorFormat::e5m2, TensorFormat::turing_fp16,
          TensorFormat::turing_int8, TensorFormat::volta_fp16})
        check_mma(format);
}

TEST_CASE("block-scaled mma.sync multiplies as the host does", "[kernels]")
{
    const auto is_scaled = [](const std::string& name) { return name.find("Mxfp8") != std::string::npos; };
    if (std::ranges::none_of(emulated::all_kernels(), is_scaled)) return skip("this nvcc is older than 12.8");
    const Generation blackwell(12);
    for (const TensorFormat format : {TensorFormat::mxfp8, TensorFormat::mxfp4, TensorFormat::nvfp4}) check_mma(format);
}

namespace {
std::vector<TensorFormat> formats{TensorFormat::tf32, TensorFormat::fp16, TensorFormat::bf16,
                                  TensorFormat::int8, TensorFormat::e4m3, TensorFormat::e5m2};
}

TEST_CASE("wgmma multiplies every format as the host does", "[kernels]")
{
    for (const TensorFormat format : formats) {
        for (const int steps : {1, 3}) {
            const WgmmaOperands operands = wgmma_operands(format, Numbers::whole);
            const std::vector<std::byte> expected = sums_of_block(format, operands, steps);
            in_all_schedules([&] {
                const Array<std::byte> image(image_of(format, operands));
                const Array<std::byte> sums(2 * expected.size());
                const Readings readings;
                enqueue(wgmma_kernel_of(format), {image.data(), sums.data(), readings.data(), 2, steps}, nullptr);
                check_copies(sums, expected, 2);
                readings.check();
            });
        }
    }
}

TEST_CASE("tcgen05 multiplies every format as the host does", "[kernels]")
{
    const auto is_tcgen05 = [](const std::string& name) { return name.find("tcgen05_kernel") != std::string::npos; };
    if (std::ranges::none_of(emulated::all_kernels(), is_tcgen05)) return skip("this nvcc is older than 12.8");
    const Generation blackwell(10);
    std::vector<TensorFormat> all = formats;
    all.insert(all.end(), {TensorFormat::mxfp8, TensorFormat::mxfp4, TensorFormat::nvfp4});
    for (const TensorFormat format : all) {
        INFO(static_cast<int>(format));
        const Tile tile{tcgen05_m, tcgen05_n};
        const WgmmaOperands operands = wgmma_operands(format, Numbers::whole, tile);
        const std::vector<std::byte> expected = sums_by_row(format, operands, 3);
        in_all_schedules([&] {
            const Array<std::byte> image(image_of(format, operands));
            const Array<std::byte> sums(expected.size());
            const Readings readings;
            enqueue(tcgen05_kernel_of(format), {image.data(), sums.data(), readings.data(), 1, 3}, nullptr);
            check_copies(sums, expected, 1);
            readings.check();
        });
    }
}

TEST_CASE("tcgen05 of two blocks multiplies as the host does", "[kernels]")
{
    const auto is_pair = [](const std::string& name) { return name.find("tcgen05_pair_kernel") != std::string::npos; };
    if (std::ranges::none_of(emulated::all_kernels(), is_pair)) return skip("this nvcc is older than 12.8");
    const Generation blackwell(10);
    for (const TensorFormat format : {TensorFormat::tf32, TensorFormat::fp16, TensorFormat::bf16, TensorFormat::e4m3}) {
        INFO(static_cast<int>(format));
        const WgmmaOperands operands = wgmma_operands(format, Numbers::whole, {tcgen05_pair_m, tcgen05_n});
        const std::vector<std::byte> expected = sums_by_row(format, operands, 3);
        in_all_schedules([&] {
            const Array<std::byte> image(image_of(format, operands));
            const Array<std::byte> sums(expected.size());
            const Readings readings;
            enqueue(tcgen05_pair_kernel_of(format), {image.data(), sums.data(), readings.data(), 2, 3}, nullptr);
            check_copies(sums, expected, 1);
            readings.check();
        });
    }
}

TEST_CASE("a kernel of another generation is refused and leaves the device working", "[kernels]")
{
    const Array<std::byte> memory(1024);
    CHECK_THROWS_AS(
        enqueue(tcgen05_kernel_of(TensorFormat::fp16), {memory.data(), memory.data(), nullptr, 1, 1}, nullptr),
        Unsupported);
    const Generation ampere(8);
    CHECK_THROWS_AS(
        enqueue(wgmma_kernel_of(TensorFormat::fp16), {memory.data(), memory.data(), nullptr, 1, 1}, nullptr),
        Unsupported);
    CHECK(emulated::fault_of_pending_work().empty());
}

TEST_CASE("shared memory holds what each thread wrote", "[kernels]")
{
    for (const SharedOperation operation : {SharedOperation::load, SharedOperation::store}) {
        in_all_schedules([&] {
            const Array<std::uint32_t> results(2 * shared_threads);
            const Readings readings;
            enqueue(shared_kernel_of(operation), {results.data(), readings.data(), 2, 3}, nullptr);
            readings.check();
            const auto found = results.values();
            for (std::uint32_t i = 0; i < found.size(); ++i)
                REQUIRE(found[i] == shared_result(operation, i % shared_threads, 3));
        });
    }
}

TEST_CASE("a chase ends at the line that its stride gives, and reads the card's clock", "[kernels]")
{
    for (const bool past_l1 : {false, true}) {
        in_all_schedules([&] {
            constexpr std::size_t lines = 700;
            const Array<std::byte> slices(2 * lines * chase_line);
            const Array<unsigned long long> positions(2);
            const Readings readings;
            const ChaseLaunch launch{slices.data(), positions.data(), lines, readings.data(), 2, 4, past_l1};
            {
                const emulated::FewBlocks few({1, ~0U, 1});
                enqueue_links(launch, nullptr);
            }
            enqueue_chase(launch, nullptr);
            for (const auto position : positions.values()) CHECK(position == chase_position(lines, 4 * chase_unroll));
            enqueue_chase(launch, nullptr);  // goes on there
            for (const auto position : positions.values()) CHECK(position == chase_position(lines, 8 * chase_unroll));
            readings.check();
        });
    }
}

TEST_CASE("the empty kernel runs", "[kernels]")
{
    enqueue_idle(nullptr);
    CHECK(emulated::fault_of_pending_work().empty());
}
