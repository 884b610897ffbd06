// The index arithmetic of the tensor cores' probes, and the matrices laid out by it.
#include "ert/gpu/kernels/fragments.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"
#include "ert/gpu/kernels/wgmma.hpp"
#include "ert/gpu/probes/tensor_operands.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

using namespace roof;
using namespace roof::gpu;

namespace {

using Places = std::set<std::pair<int, int>>;

const std::vector<TensorFormat> instructions{TensorFormat::fp64_small,  TensorFormat::fp64,  TensorFormat::tf32,
                                             TensorFormat::fp16,        TensorFormat::bf16,  TensorFormat::int8,
                                             TensorFormat::e4m3,        TensorFormat::e5m2,  TensorFormat::turing_fp16,
                                             TensorFormat::turing_int8, TensorFormat::mxfp8, TensorFormat::mxfp4,
                                             TensorFormat::nvfp4};
const std::vector<TensorFormat> warpgroup_instructions{TensorFormat::tf32, TensorFormat::fp16, TensorFormat::bf16,
                                                       TensorFormat::int8, TensorFormat::e4m3, TensorFormat::e5m2};

/// Fails for an element outside the matrix.
void add(Places& places, const Element& element, int rows, int columns)
{
    CHECK((element.row >= 0 && element.row < rows && element.column >= 0 && element.column < columns));
    places.emplace(element.row, element.column);
}

}  // namespace

TEST_CASE("the lanes of a warp hold each element of A, B and the sums once")
{
    for (const TensorFormat instruction : instructions) {
        const MmaShape shape = shape_of(instruction);
        INFO(static_cast<int>(instruction));
        Places a;
        Places b;
        Places sums;
        for (int lane = 0; lane < 32; ++lane) {
            for (int place = 0; place < shape.packed; ++place) {
                for (int reg = 0; reg < shape.a_registers; ++reg)
                    add(a,
                        shape.m == 8 ? element_of_small_a(lane, place, shape.packed)
                                     : element_of_a(lane, reg, place, shape.packed),
                        shape.m, shape.k);
                for (int reg = 0; reg < shape.b_registers; ++reg)
                    add(b, element_of_b(lane, reg, place, shape.packed), shape.k, shape.n);
            }
            for (int reg = 0; reg < shape.sum_registers; ++reg) add(sums, element_of_sums(lane, reg), shape.m, shape.n);
        }
        CHECK(a.size() == static_cast<std::size_t>(shape.m * shape.k));
        CHECK(b.size() == static_cast<std::size_t>(shape.k * shape.n));
        CHECK(sums.size() == static_cast<std::size_t>(shape.m * shape.n));
    }
}

TEST_CASE("the four products of Volta's mma hold each element of A, B and the sums once")
{
    const MmaShape shape = shape_of(TensorFormat::volta_fp16);
    Places a;
    Places b;
    Places sums;
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < shape.packed * shape.a_registers; ++i) {
            add(a, element_of_volta_a(lane, i / 2, i % 2), shape.m, shape.k);
            add(b, element_of_volta_b(lane, i / 2, i % 2), shape.k, shape.n);
        }
        for (int reg = 0; reg < shape.sum_registers; ++reg)
            add(sums, element_of_volta_sums(lane, reg), shape.m, shape.n);
    }
    CHECK(a.size() == 32 * 4);
    CHECK(b.size() == 4 * 32);
    CHECK(sums.size() == 4 * 8 * 8);
    for (const auto& [row, column] : sums) CHECK(row / 8 == column / 8);
}

TEST_CASE("an instruction has the FLOPs of its shape")
{
    // 2 m n k by hand; Volta's warp has four products of 8 x 8 x 4.
    CHECK(shape_of(TensorFormat::volta_fp16).flops() == 4 * 512);
    CHECK(shape_of(TensorFormat::turing_fp16).flops() == 2048);
    CHECK(shape_of(TensorFormat::turing_int8).flops() == 2048);
    CHECK(shape_of(TensorFormat::fp16).flops() == 4096);
    CHECK(shape_of(TensorFormat::mxfp8).flops() == 8192);
    CHECK(shape_of(TensorFormat::nvfp4).flops() == 16384);
}

TEST_CASE("fragments match the layouts of CUTLASS")
{
    // mma_traits_sm70.hpp: an offset of A and B is m + 8 k, of the sums m + 8 n; thread 6 of the second four lanes is
    // lane 22.
    CHECK(element_of_volta_a(22, 1, 1) == Element{8 + 6, 3});
    CHECK(element_of_volta_b(22, 0, 1) == Element{1, 8 + 6});
    // Thread 6 has bits 0, 1, 1 of strides 1, 16, 4; register 5 bits 1, 0, 1 of strides 8, 2, 32: 20 + 40 is row 4,
    // column 7.
    CHECK(element_of_volta_sums(22, 5) == Element{8 + 4, 8 + 7});
    // mma_traits_sm75.hpp, int8: lane 6 is 2 x 32 + 1, place 3 is 3 x 8: row 1, k 11.
    CHECK(element_of_small_a(6, 3, 4) == Element{1, 11});
    // mma_traits_sm120.hpp, 4 bits: lane 6 is 2 x 128 + 1, place 5 is 5 x 16, register 3 is 8 + 512: 857 is row 9, k
    // 53.
    CHECK(element_of_a(6, 3, 5, 8) == Element{9, 53});
    // Of B, offsets n + 8 k: lane 6 is 2 x 64 + 1, place 5 is 40, register 1 is 256: column 1, k 53.
    CHECK(element_of_b(6, 1, 5, 8) == Element{53, 1});
    // Scales of A: lane 7 is 1 x 8 + 1 x 0 + 1; of B 0 + 1.
    CHECK(row_of_scale(7) == 9);
    CHECK(column_of_scale(7) == 1);
}

TEST_CASE("fragments match the figures of the PTX manual")
{
    // m16n8k16, 16 bits: a4 and a5 of lane 5 stand in row 1, columns 10 and 11; b2 in row 10, column 1; c3 in row 9,
    // column 3.
    CHECK(element_of_a(5, 2, 0, 2) == Element{1, 10});
    CHECK(element_of_a(5, 2, 1, 2) == Element{1, 11});
    CHECK(element_of_b(5, 1, 0, 2) == Element{10, 1});
    CHECK(element_of_sums(5, 3) == Element{9, 3});
    // m16n8k32, 8 bits: a4..a7 of lane 6 in row 9, columns 8..11; b4 in row 24, column 1.
    CHECK(element_of_a(6, 1, 0, 4) == Element{9, 8});
    CHECK(element_of_b(6, 1, 0, 4) == Element{24, 1});
    // m16n8k8, tf32: a3 of lane 31 in row 15, column 7.
    CHECK(element_of_a(31, 3, 0, 1) == Element{15, 7});
    // wgmma: d[5] of thread 97 (warp 3, lane 1) in row 48, column 11.
    CHECK(element_of_wgmma_sums(97, 5) == Element{48, 11});
}

TEST_CASE(
    "each byte of the operands of wgmma has a place of its own in shared memory, in core matrices of 8 rows of 16 "
    "bytes")
{
    std::set<int> offsets;
    for (int row = 0; row < wgmma_n; ++row) {
        for (int byte = 0; byte < wgmma_row_bytes; ++byte) offsets.insert(wgmma_offset(row, byte));
    }
    CHECK(offsets.size() == static_cast<std::size_t>(wgmma_b_bytes));
    CHECK(*offsets.rbegin() == wgmma_b_bytes - 1);
    CHECK(wgmma_offset(0, 16) == 128);
    CHECK(wgmma_offset(1, 0) == 16);
    CHECK(wgmma_offset(8, 0) == 1024);
    CHECK(wgmma_descriptor(0x400) == 0x0000004000080040);
    CHECK(tcgen05_descriptor(0x400) == 0x0000404000080040);
}

TEST_CASE("products on the host equal those of a plain triple loop")
{
    const Matrix a{2, 3, {1, 2, 3, 4, 5, 6}};
    const Matrix b{3, 1, {7, 8, 9}};
    const Matrix sums = sums_of_products({a, negated(a), a}, b, 2);
    CHECK(sums.values == std::vector<double>{100, 244});
}

TEST_CASE("random numbers keep the sums at zero, whole numbers do not")
{
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    for (const TensorFormat instruction : instructions) {
        INFO(static_cast<int>(instruction));
        const auto still = lanes_of_sums(instruction, 4, mma_operands(instruction, Numbers::random), 5);
        // Of fp64 the host itself rounds.
        const bool is_exact = shape_of(instruction).register_bytes < 8;
        CHECK((!is_exact || std::ranges::all_of(still, is_zero)));
        const auto moved = lanes_of_sums(instruction, 4, mma_operands(instruction, Numbers::whole), 1);
        CHECK_FALSE(std::ranges::all_of(moved, is_zero));
    }
    for (const TensorFormat instruction : warpgroup_instructions) {
        INFO(static_cast<int>(instruction));
        const auto still = sums_of_block(instruction, wgmma_operands(instruction, Numbers::random), 5);
        CHECK(std::ranges::all_of(still, is_zero));
        const auto moved = sums_of_block(instruction, wgmma_operands(instruction, Numbers::whole), 1);
        CHECK_FALSE(std::ranges::all_of(moved, is_zero));
    }
}

TEST_CASE("the descriptor of tcgen05 has formats, sign and shape, and its sums are row by row")
{
    // Bits 4: sums, 7 and 10: operands, 13: A negated, 17: columns in eights, 24: rows in sixteens.
    CHECK(tcgen05_instruction(TensorFormat::fp16, false) == 0x08400010);
    CHECK(tcgen05_instruction(TensorFormat::bf16, true) == 0x08402490);
    CHECK(tcgen05_instruction(TensorFormat::tf32, false) == 0x08400910);
    CHECK(tcgen05_instruction(TensorFormat::int8, false) == 0x084004A0);
    CHECK(tcgen05_instruction(TensorFormat::e4m3, false) == 0x08400010);
    CHECK(tcgen05_instruction(TensorFormat::e5m2, true) == 0x08402490);
    // With scales bits 4 and 29 are their places in a word of B and A, and 23 says that they are exponents alone.
    CHECK(tcgen05_instruction(TensorFormat::mxfp8, true, 0) == 0x08C02000);
    CHECK(tcgen05_instruction(TensorFormat::mxfp8, false, 3) == 0x68C00030);
    CHECK(tcgen05_instruction(TensorFormat::mxfp4, false, 1) == 0x48C004A0);
    CHECK(tcgen05_instruction(TensorFormat::mxfp4, false, 2) == 0x08C00480);
    CHECK(tcgen05_instruction(TensorFormat::nvfp4, false, 2) == 0x08400480);
    const Tile tile{tcgen05_m, tcgen05_n};
    std::vector<TensorFormat> formats = warpgroup_instructions;
    formats.insert(formats.end(), {TensorFormat::mxfp8, TensorFormat::mxfp4, TensorFormat::nvfp4});
    for (const TensorFormat format : formats) {
        INFO(static_cast<int>(format));
        const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
        const WgmmaOperands busy = wgmma_operands(format, Numbers::random, tile);
        const auto image_bytes = static_cast<std::size_t>(tcgen05_operand_bytes + 128 * scale_columns(format));
        CHECK(image_of(format, busy).size() == image_bytes);
        const auto still = sums_by_row(format, busy, 5);
        CHECK(still.size() == std::size_t{tcgen05_m} * tcgen05_n * 4);
        CHECK(std::ranges::all_of(still, is_zero));
        CHECK_FALSE(std::ranges::all_of(sums_by_row(format, wgmma_operands(format, Numbers::whole, tile), 1), is_zero));
    }
}

TEST_CASE("scales are bytes behind the operands: columns of 32 rows, four along k in a word, B after A")
{
    const Tile tile{tcgen05_m, tcgen05_n};
    const auto scale_at = [](const std::vector<std::byte>& image, int column, int lane, int place) {
        return std::to_integer<int>(
            image[static_cast<std::size_t>(tcgen05_operand_bytes + 4 * (32 * column + lane) + place)]);
    };
    const auto exponent = [](double scale) { return 127 + std::ilogb(scale); };
    const WgmmaOperands fp8 = wgmma_operands(TensorFormat::mxfp8, Numbers::whole, tile);
    CHECK(fp8.scales_of_a.columns == 4);
    const auto image = image_of(TensorFormat::mxfp8, fp8);
    CHECK(scale_at(image, 1, 5, 3) == exponent(fp8.scales_of_a.at(37, 3)));
    CHECK(scale_at(image, 4 + 7, 31, 0) == exponent(fp8.scales_of_b.at(255, 0)));
    const WgmmaOperands fp4 = wgmma_operands(TensorFormat::mxfp4, Numbers::whole, tile);
    CHECK(fp4.scales_of_a.columns == 8);
    CHECK(scale_at(image_of(TensorFormat::mxfp4, fp4), 4 + 2, 1, 2) == exponent(fp4.scales_of_a.at(65, 6)));
    const WgmmaOperands nvidia = wgmma_operands(TensorFormat::nvfp4, Numbers::whole, tile);
    CHECK(nvidia.scales_of_b.columns == 16);
    const auto ue4m3 = static_cast<int>(encode(e4m3_format, nvidia.scales_of_b.at(40, 9)));
    CHECK(scale_at(image_of(TensorFormat::nvfp4, nvidia), 16 + 2 * 8 + 1, 8, 1) == ue4m3);
}

TEST_CASE("numbers of 4 bits lie two in a byte, the first in the lower half")
{
    WgmmaOperands operands = wgmma_operands(TensorFormat::mxfp4, Numbers::whole, {tcgen05_m, tcgen05_n});
    operands.a[0].values[0] = 3;
    operands.a[0].values[1] = -2;
    CHECK(image_of(TensorFormat::mxfp4, operands).front() == std::byte{0xC5});
}

TEST_CASE("sums of whole numbers are small enough to be exact in any order of adding")
{
    // 14 bits: what the tensor cores of compute capability 9.0 keep of sums in fp8.
    for (const TensorFormat instruction : warpgroup_instructions) {
        const double most = std::ldexp(1, std::min(14, sum_format(instruction).significand_bits) - 1);
        const WgmmaOperands operands = wgmma_operands(instruction, Numbers::whole);
        Matrix turned{operands.b.columns, operands.b.rows, {}};
        for (int k = 0; k < turned.rows; ++k) {
            for (int n = 0; n < turned.columns; ++n) turned.values.push_back(operands.b.at(n, k));
        }
        for (const double sum : sums_of_products(operands.a, turned, 2).values) CHECK(std::abs(sum) < most);
    }
}

TEST_CASE("no operand is zero, and random ones use all bits of their significands")
{
    for (const Numbers numbers : {Numbers::random, Numbers::whole}) {
        const Matrix matrix = random_matrix(16, 16, bf16_format, numbers, 1);
        CHECK(std::ranges::count(matrix.values, 0.0) == 0);
    }
    int odd = 0;
    for (const double value : random_matrix(16, 16, bf16_format, Numbers::random, 1).values)
        odd += static_cast<int>(encode(bf16_format, value) & 1);
    CHECK(odd > 64);
}
