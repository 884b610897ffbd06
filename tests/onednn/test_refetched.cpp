// What our kernels read again, by hand from their loops: 64 to 64 channels of 14 x 14 positions under a window of 3,
// one image, one thread, AVX-512. Maps have 12,544 words, weights 36,864.
#include "tests/skip.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/products.hpp"
#include "workloads/kernels/winograd/isa.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::kernels;

namespace {

ConvolutionPass pass_of(Pass pass)
{
    return {{.batch = 1, .source = {64, 14, 14}, .result = {64, 14, 14}, .window = {3, 1, 1}}, pass};
}

/// Words beyond caches of so many words.
double words(const std::vector<Refetch>& refetched, double kept)
{
    Work work;
    work.refetched = refetched;
    return work.refetched_beyond(Bytes{4 * kept}).value / 4;
}

}  // namespace

TEST_CASE("A direct convolution loads weights for each row of results and a source word for each 32 products")
{
    const std::vector<Refetch> all = plan_direct_maps(direct_avx512, pass_of(Pass::forward), 1).refetched;
    // 14 tiles load all weights; 196 results of 9 taps and 64 inputs broadcast for two pairs of output blocks.
    CHECK(words(all, 0) == Approx(14 * 36864 + 196 * 9 * 64 * 2 - 36864 - 12544));
    // An L1 keeps a block of 3 x 16 positions, but not a tile's source of four (3,072 words) and a pair's weights.
    CHECK(words(all, 8192) == Approx(14 * 36864 + 14 * 2 * 3072 - 36864 - 12544));
    // An L2 of 160 kB keeps all weights and a row's source of three rows, and moves nothing again.
    CHECK(words(all, 40000) == 0);
}

TEST_CASE("The weights' gradient loads a vector of gradients for four inputs, and its sums once for each piece")
{
    const std::vector<Refetch> all = plan_direct_gradient(direct_avx512, pass_of(Pass::backward_weights), 1).refetched;
    // Each of 196 x 64 x 64 x 9 products: of 64 a source word, of four inputs a gradient. Three pieces of up to 6 rows.
    const double products = 196.0 * 64 * 64 * 9, sums = 2 * 36864 * 2;
    CHECK(words(all, 0) == Approx(products / 64 + products / 4 + sums - 2 * 12544));
    CHECK(words(all, 8192) == Approx(sums + 3 * 12544));  // four regions, one for each input block, read all gradients
    CHECK(words(all, 10000) == Approx(3 * 12544));
    CHECK(words(all, 12544) == 0);
}

TEST_CASE("Winograd writes and reads transformed maps, weights and sums")
{
    const std::vector<Refetch> all = plan_winograd_maps(winograd_avx512, pass_of(Pass::forward), 1).refetched;
    // 16 tiles of 36 points: 36,864 words of maps, written and read by two blocks, as many sums; 147,456 of weights.
    const double transforms = 3 * 36864 + 2 * 36864 + 2 * 147456;
    CHECK(words(all, 0) == Approx(transforms + 147456 * (16.0 / 14 - 1)));
    CHECK(words(all, 8192) == Approx(transforms));
    CHECK(words(all, 262144) == 0);
}

TEST_CASE("A linear layer loads weights for each group of images, and images for each group of rows")
{
    if (convolution_lanes() != 16) return skip("this processor has no AVX-512");
    const LinearShape shape{.batch = 6, .inputs = 128, .outputs = 256};
    // Tiles of 8 outputs by 3 images; of 64 inputs by 6 images over 64 outputs; of 6 outputs by 64 inputs.
    const auto of = [&](Pass pass) { return linear_refetched(shape, pass, Precision::fp32, 1); };
    CHECK(words(of(Pass::forward), 0) == 256 * 128 + 31 * 6 * 128);
    CHECK(words(of(Pass::forward), 8 * 128) == 0);
    CHECK(words(of(Pass::backward_data), 0) == 6 * 256 + 3 * 2 * 6 * 128);
    CHECK(words(of(Pass::backward_weights), 0) == 42 * 6 * 128 + 6 * 256);
}

TEST_CASE("Attention reads its forms of keys and values for each block of queries")
{
    const AttentionShape shape{.positions = 128, .channels = 64};
    CHECK(shape.refetched_words(false) == 3 * 2 * 128 * 64);       // written once, read by two blocks
    CHECK(shape.refetched_words(true) == (2 * 7 + 3) * 128 * 64);  // three forms, and two sums read and written
    const AttentionShape causal{.positions = 128, .channels = 64, .causal = true};
    CHECK(causal.refetched_words(false) == 2.5 * 2 * 128 * 64);  // three of four blocks of pairs
}
