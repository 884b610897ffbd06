// Products by cuBLASLt: the program's own calls, on a stand-in that refuses what the real library refuses, and the
// refusals of the stand-in itself. Expected numbers are made here.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/stream.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"

#include <cublasLt.h>

#include <cmath>
#include <cstring>
#include <map>

using namespace roof;
using namespace roof::gpu;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using emulated::Array;

namespace {

constexpr std::uint64_t rows = 16;
constexpr std::uint64_t columns = 32;
constexpr std::uint64_t inner = 48;

struct Case {
    const char* name;
    ProductTypes types;
    Format operands, result;
};
const std::vector<Case> cases{
    {"fp64", {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, compute_64f}, fp64_format, fp64_format},
    {"fp32", {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_32f}, fp32_format, fp32_format},
    {"tf32", {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_tf32}, tf32_format, fp32_format},
    {"fp16", {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, compute_32f}, fp16_format, fp16_format},
    {"bf16 to fp32", {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, compute_32f}, bf16_format, fp32_format},
    {"fp8", {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, compute_32f, true}, e4m3_format, bf16_format},
    {"int8", {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, compute_32i}, int8_format, int32_format},
};

double left_number(std::uint64_t row, std::uint64_t k)
{
    return static_cast<double>((row * 7 + k * 3) % 5) - 2;
}
double right_number(std::uint64_t k, std::uint64_t column)
{
    return static_cast<double>((k * 5 + column) % 3) - 1;
}
double bias_number(std::uint64_t row)
{
    return static_cast<double>(row) - 8;
}

ProductShape shape_of(bool turns_left, bool turns_right, ProductShape::Epilogue epilogue)
{
    using Extent = ProductShape::Extent;
    return {turns_left ? Extent{inner, rows} : Extent{rows, inner},
            turns_right ? Extent{columns, inner} : Extent{inner, columns},
            {rows, columns},
            turns_left,
            turns_right,
            epilogue};
}

/// Column after column, as the library reads them.
std::vector<std::byte> left_matrix(const Format& format, bool is_turned)
{
    std::vector<double> all;
    for (std::uint64_t outer = 0; outer < (is_turned ? rows : inner); ++outer) {
        for (std::uint64_t i = 0; i < (is_turned ? inner : rows); ++i)
            all.push_back(is_turned ? left_number(outer, i) : left_number(i, outer));
    }
    return encode(format, all);
}
std::vector<std::byte> right_matrix(const Format& format, bool is_turned)
{
    std::vector<double> all;
    for (std::uint64_t outer = 0; outer < (is_turned ? inner : columns); ++outer) {
        for (std::uint64_t i = 0; i < (is_turned ? columns : inner); ++i)
            all.push_back(is_turned ? right_number(outer, i) : right_number(i, outer));
    }
    return encode(format, all);
}
std::vector<std::byte> expected(const Format& format, ProductShape::Epilogue epilogue)
{
    std::vector<double> all;
    for (std::uint64_t column = 0; column < columns; ++column) {
        for (std::uint64_t row = 0; row < rows; ++row) {
            double sum = epilogue == ProductShape::Epilogue::none ? 0 : bias_number(row);
            for (std::uint64_t k = 0; k < inner; ++k) sum += left_number(row, k) * right_number(k, column);
            all.push_back(epilogue == ProductShape::Epilogue::bias_relu ? std::max(sum, 0.0) : sum);
        }
    }
    return encode(format, all);
}

std::shared_ptr<const CublasLt> library()
{
    std::shared_ptr<const CublasLt> opened = CublasLt::open();
    REQUIRE(opened != nullptr);
    REQUIRE(opened->version() == "13.0.0");  // that of the stand-in
    return opened;
}

/// Everything for one product.
struct Tried {
    Tried(const Case& which, const ProductShape& shape)
        : product(library(), library()->context(), which.types, shape, 8),
          left(left_matrix(which.operands, shape.transposes_left)),
          right(right_matrix(which.operands, shape.transposes_right)),
          result(rows * columns * static_cast<std::size_t>(which.result.storage_bits) / 8),
          workspace(Product::max_workspace)
    {
    }
    void enqueue(int algorithm, std::size_t shift = 0, std::size_t bytes = Product::max_workspace) const
    {
        product.enqueue(algorithm, left.data(), right.data(), result.data(), workspace.data() + shift, bytes,
                        stream.get());
        stream.synchronize();
    }

    gpu::Stream stream;
    Product product;
    Array<std::byte> left, right, result, workspace;
};

const Case& case_of(const std::string& name)
{
    return *std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return name == one.name; });
}

constexpr auto none = ProductShape::Epilogue::none;

std::vector<float> floats_of(const std::vector<std::byte>& bytes)
{
    std::vector<float> all(bytes.size() / sizeof(float));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

}  // namespace

TEST_CASE("every algorithm of cuBLASLt gives the product in each of the types, transposed or not")
{
    for (const Case& one : cases) {
        for (const bool turns_left : {false, true}) {
            for (const bool turns_right : {false, true}) {
                INFO(one.name << " " << turns_left << turns_right);
                if (one.name == std::string("fp8") && !(turns_left && !turns_right)) {
                    CHECK_THROWS_AS(Tried(one, shape_of(turns_left, turns_right, none)), Unsupported);
                    continue;
                }
                emulated::machine().fast_products = 0;
                const Tried tried(one, shape_of(turns_left, turns_right, none));
                CHECK(tried.product.algorithms() == 3);
                for (int algorithm = 0; algorithm < tried.product.algorithms(); ++algorithm) {
                    REQUIRE(cudaMemset(tried.result.data(), 0, tried.result.values().size()) == cudaSuccess);
                    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
                    tried.enqueue(algorithm);
                    CHECK((tried.result.values() == expected(one.result, none)));
                }
                CHECK(emulated::machine().fast_products == (one.types.fast_sums ? 3 : 0));
            }
        }
    }
}

TEST_CASE("cuBLASLt adds the bias of a row and applies ReLU where it is asked to")
{
    for (const auto epilogue : {ProductShape::Epilogue::bias, ProductShape::Epilogue::bias_relu}) {
        const Case& fp16 = case_of("fp16");
        const Tried tried(fp16, shape_of(true, false, epilogue));
        CHECK_THROWS_WITH(tried.enqueue(0), Contains("status 7"));  // no bias yet
        std::vector<double> numbers;
        for (std::uint64_t row = 0; row < rows; ++row) numbers.push_back(bias_number(row));
        const Array<std::byte> bias(encode(fp16_format, numbers));
        tried.product.set_bias(bias.data());
        tried.enqueue(0);
        CHECK((tried.result.values() == expected(fp16_format, epilogue)));
    }
    emulated::machine().libraries_fuse = false;
    CHECK_THROWS_AS(Tried(case_of("fp16"), shape_of(true, false, ProductShape::Epilogue::bias)), Unsupported);
    emulated::machine().libraries_fuse = true;
}

TEST_CASE("cuBLASLt sums the columns of the right matrix where it is asked to")
{
    const Case& one = case_of("bf16 to fp32");
    for (const bool turns_right : {false, true}) {
        const Tried tried(one, shape_of(false, turns_right, ProductShape::Epilogue::sums_of_right));
        CHECK_THROWS_WITH(tried.enqueue(0), Contains("status 7"));  // no place for them yet
        const Array<std::byte> sums(columns * sizeof(float));
        tried.product.set_bias(sums.data());
        std::vector<double> due;
        for (std::uint64_t column = 0; column < columns; ++column) {
            double sum = 0;
            for (std::uint64_t k = 0; k < inner; ++k) sum += right_number(k, column);
            due.push_back(sum);
        }
        tried.enqueue(1);
        CHECK((sums.values() == encode(fp32_format, due)));
        CHECK((tried.result.values() == expected(fp32_format, none)));
    }
}

TEST_CASE("cuBLASLt applies GELU by tanh and keeps what is before it, and multiplies by its slope there")
{
    const Case& fp32 = case_of("fp32");
    const Array<float> before(rows * columns);
    std::vector<float> wide;
    for (std::uint64_t row = 0; row < rows; ++row) wide.push_back(static_cast<float>(bias_number(row) / 16));
    const Array<float> bias(wide);
    const Tried forward(fp32, shape_of(true, false, ProductShape::Epilogue::bias_gelu));
    CHECK_THROWS_WITH(forward.enqueue(0), Contains("status 7"));  // no place for the sums
    forward.product.set_bias(bias.data());
    forward.product.set_before_gelu(before.data());
    forward.enqueue(0);
    const Tried backward(fp32, shape_of(false, false, ProductShape::Epilogue::gelu_gradient));
    backward.product.set_before_gelu(before.data());
    backward.enqueue(1);
    // PyTorch 2.14: gelu(x, approximate="tanh") and its gradient in double, by what is before it.
    const std::map<float, std::array<double, 2>> known{
        {-2.375F, {-0.0204554073, -0.0482344669}}, {-2.0625F, {-0.0402317625, -0.0793628051}},
        {-1.75F, {-0.0702046177, -0.111596981}},   {-2.0F, {-0.0454023059, -0.0860992566}},
        {2.5F, {2.48491573, 1.03795158}},          {3.0F, {2.99636261, 1.01158417}}};
    int found = 0;
    const std::vector<float> sums = before.values();
    const std::vector<float> activated = floats_of(forward.result.values()),
                             slopes = floats_of(backward.result.values());
    for (std::uint64_t column = 0; column < columns; ++column) {
        for (std::uint64_t row = 0; row < rows; ++row) {
            double sum = 0;
            for (std::uint64_t k = 0; k < inner; ++k) sum += left_number(row, k) * right_number(k, column);
            const std::size_t at = column * rows + row;
            CHECK(sums[at] == sum + bias_number(row) / 16);
            const auto due = known.find(sums[at]);
            if (due == known.end()) continue;
            ++found;
            CHECK(activated[at] == Approx(due->second[0]).epsilon(1e-6));
            CHECK(slopes[at] == Approx(sum * due->second[1]).epsilon(1e-6));
        }
    }
    CHECK(found > 10);
    CHECK_THROWS_AS(Product(library(), library()->context(), fp32.types,
                            {{16, 12}, {16, 8}, {12, 8}, true, false, ProductShape::Epilogue::bias_gelu}, 1),
                    Unsupported);
}

TEST_CASE("cuBLASLt refuses a workspace that is too small or not aligned to 256 bytes, and matrices that are not")
{
    const Tried tried(case_of("fp32"), shape_of(false, false, none));
    CHECK(tried.product.workspace(1) == 0);
    CHECK(tried.product.workspace(2) == std::size_t{32} << 20);
    CHECK_NOTHROW(tried.enqueue(2));
    CHECK_THROWS_WITH(tried.enqueue(2, 0, std::size_t{16} << 20), Contains("status 7"));
    CHECK_THROWS_WITH(tried.enqueue(0, 128, std::size_t{1} << 20), Contains("status 7"));
    CHECK_THROWS_WITH(tried.product.enqueue(1, tried.left.data() + 128, tried.right.data(), tried.result.data(),
                                            nullptr, 0, tried.stream.get()),
                      Contains("status 7"));
    const std::vector<float> of_host(rows * inner);
    CHECK_THROWS_WITH(tried.product.enqueue(1, of_host.data(), tried.right.data(), tried.result.data(), nullptr, 0,
                                            tried.stream.get()),
                      Contains("status 7"));
}

TEST_CASE("cuBLASLt refuses what the card lacks, and matrices that do not fit together")
{
    emulated::Card& card = emulated::machine().device(0).card;
    const long objects = emulated::machine().library_objects;
    const int major = std::exchange(card.major, 8);
    CHECK_THROWS_AS(Tried(case_of("fp8"), shape_of(true, false, none)), Unsupported);
    CHECK_NOTHROW(Tried(case_of("tf32"), shape_of(true, false, none)));
    card.major = major;
    ProductShape wrong = shape_of(false, false, none);
    ++wrong.left.columns;
    CHECK_THROWS_WITH(Tried(case_of("fp32"), wrong),
                      Equals("cublasLtMatmulAlgoGetHeuristic ended with cuBLAS status 7"));
    const ProductShape large{{1 << 13, 1 << 13}, {1 << 13, 1 << 13}, {1 << 13, 1 << 13}};
    CHECK_THROWS_AS(Product(library(), library()->context(), case_of("fp32").types, large, 1), Unsupported);
    Case mixed = case_of("fp32");
    mixed.types.compute = compute_64f;
    CHECK_THROWS_AS(Tried(mixed, shape_of(false, false, none)), Unsupported);
    CHECK(emulated::machine().library_objects == objects);  // also of products that were not made
}

TEST_CASE(
    "the stand-in of cuBLASLt refuses attributes of another size, foreign handles, and algorithms of other products")
{
    const std::vector<std::string> names{"libcublasLt.so.13"};
    const Library real = Library::open(names).value();
    const auto status = [](cublasStatus_t found) { return static_cast<int>(found); };
    cublasLtMatmulDesc_t description = nullptr;
    CHECK(status(real.function<decltype(cublasLtMatmulDescCreate)>("cublasLtMatmulDescCreate")(
              &description, CUBLAS_COMPUTE_32F, CUDA_R_32F)) == 0);
    const auto set = real.function<decltype(cublasLtMatmulDescSetAttribute)>("cublasLtMatmulDescSetAttribute");
    const std::int64_t turned = 1;
    CHECK(status(set(description, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof(turned))) == 7);
    CHECK(status(set(description, CUBLASLT_MATMUL_DESC_TRANSA, &turned, 4)) == 0);
    CHECK(status(set(description, CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4)) == 7);
    const auto destroy = real.function<decltype(cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy");
    CHECK(status(destroy(description)) == 0);
    CHECK(status(destroy(description)) == 7);
    CHECK(status(set(description, CUBLASLT_MATMUL_DESC_TRANSA, &turned, 4)) == 7);
    const auto end = real.function<decltype(cublasLtDestroy)>("cublasLtDestroy");
    CHECK(status(end(nullptr)) == CUBLAS_STATUS_NOT_INITIALIZED);
}
