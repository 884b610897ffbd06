// Bench "matmul" of a GPU: the rate of NVIDIA's own library on a large product of square matrices.
//
// Launched    cuBLASLt's D = A' * B, the fastest of the algorithms that the library suggests. fp32 on the CUDA cores,
//             tf32 with fp32 numbers; fp8 (e4m3) with fast sums and a result in bf16; int8 with a result in int32.
// Saturates   the arithmetic units, as far as a program of products can. It is below the rate of bench "flops" by the
//             cost of moving operands and by the power cap.
// FLOPs       2 n^3. Dense only. Operands are random numbers with all bits of the significand in use.
// Bytes       the three matrices, each once.
// Time        device events. The clock is what the driver reports: the kernels are not ours.
// Falsified   if elements of the product differ from the host's by more than rounding allows.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/matrices.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/bench/chip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace roof::gpu {

namespace {

constexpr long long max_products = 1 << 12;
constexpr int max_algorithms = 8;
/// Longer than other launches, to keep the card at its power cap as a program of products does.
constexpr Seconds product_length{0.04};

struct ProductOf {
    Precision precision;
    ProductTypes types;
    Format result;  ///< as stored
};

constexpr std::array products{
    ProductOf{Precision::fp64, {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, compute_64f}, fp64_format},
    ProductOf{Precision::fp32, {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_32f}, fp32_format},
    ProductOf{Precision::tf32, {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_tf32}, tf32_format},
    ProductOf{Precision::fp16, {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, compute_32f}, fp16_format},
    ProductOf{Precision::bf16, {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, compute_32f}, bf16_format},
    ProductOf{Precision::fp8, {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, compute_32f, true}, bf16_format},
    ProductOf{Precision::int8, {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, compute_32i}, int32_format},
};

const ProductOf& product_of(Precision precision)
{
    return *std::ranges::find(products, precision, &ProductOf::precision);
}

/// D = A' * B of n x n matrices.
ProductShape square(std::uint64_t n)
{
    return {.left = {n, n}, .right = {n, n}, .result = {n, n}, .transposes_left = true};
}

class MatmulSubject final : public TunedSubject {
  public:
    MatmulSubject(const std::shared_ptr<const CublasLt>& library, const GpuPoint& at)
        : TunedSubject(at),
          precision_(at.point.precision()),
          n_(static_cast<std::size_t>(at.point.integer("size"))),
          product_of_(product_of(precision_)),
          product_(library, library->context(), product_of_.types, square(n_), max_algorithms),
          a_(n_ * n_ * static_cast<std::size_t>(traits(precision_).storage_bytes), "matrix A"),
          b_(a_.size(), "matrix B"),
          d_(n_ * n_ * result_bytes(), "the product"),
          workspace_(Product::max_workspace, "the library's workspace"),
          numbers_of_a_(product_numbers(precision_, 1)),
          numbers_of_b_(product_numbers(precision_, 2))
    {
        repeat(encode(format_of(precision_), numbers_of_a_), a_);
        repeat(encode(format_of(precision_), numbers_of_b_), b_);
        const auto n = static_cast<double>(n_);
        Work work = work_of_bytes(static_cast<double>(a_.bytes() + b_.bytes() + d_.bytes()));
        work.flops = Flops{2 * n * n * n};
        std::vector<Variant> variants;
        for (int i = 0; i < product_.algorithms(); ++i) {
            variants.push_back(
                {"algorithm " + std::to_string(i + 1) + " of " + std::to_string(product_.algorithms()) + " suggested",
                 work, [this, i](long long repeats) { enqueue(i, repeats); }});
        }
        settle_on_fastest(variants, max_products, product_length);
    }

    void check() override
    {
        constexpr int samples = 64;
        const CurrentDevice current(stream().id());
        roof::gpu::check(cudaMemset(d_.data(), 0xFF, d_.bytes()));
        roof::gpu::check(cudaDeviceSynchronize());
        run();
        std::minstd_rand random(1);
        const std::size_t width = result_bytes();
        for (int i = 0; i < samples; ++i) {
            const std::size_t row = random() % n_;
            const std::size_t column = random() % n_;
            const ExpectedElement expected =
                expected_element(precision_, numbers_of_a_, numbers_of_b_, n_, row, column);
            const std::vector<std::byte> bytes = d_.read((column * n_ + row) * width, width);
            const double found = decode(product_of_.result, bytes.data());
            if (std::abs(found - expected.value) <= expected.tolerance) continue;  // false for NaN
            throw Error("element " + std::to_string(row) + ", " + std::to_string(column) + " of the product is " +
                        std::to_string(found) + ", not " + std::to_string(expected.value));
        }
    }

    Bytes memory() const override
    {
        return {static_cast<double>(a_.bytes() + b_.bytes() + d_.bytes() + workspace_.bytes())};
    }

  private:
    /// Of one number.
    std::size_t result_bytes() const { return static_cast<std::size_t>(product_of_.result.storage_bits) / 8; }

    void enqueue(int algorithm, long long repeats) const
    {
        for (long long i = 0; i < repeats; ++i)
            product_.enqueue(algorithm, a_.data(), b_.data(), d_.data(), workspace_.data(), workspace_.bytes(),
                             stream().get());
    }

    Precision precision_;
    std::size_t n_;
    const ProductOf& product_of_;
    Product product_;
    Buffer<std::byte> a_;
    Buffer<std::byte> b_;
    Buffer<std::byte> d_;
    Buffer<std::byte> workspace_;
    std::vector<double> numbers_of_a_;
    std::vector<double> numbers_of_b_;
};

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "a product", {"matmul"}), word_axis("isa", "whose kernels", {"cublaslt"}),
            word_axis("precision", "of the operands", {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"}),
            number_axis("size", "n of n x n matrices", {"8192"}, 64, 65536)};
}

}  // namespace

GpuBench matmul_bench(const Libraries& libraries)
{
    return {.name = "matmul",
            .role = Role::compute,
            .description =
                "A large product of square matrices of random numbers by cuBLASLt, in the fastest of the "
                "algorithms it suggests, checked by some of its elements.",
            .axes = axes,
            .unsupported_reason = [library = libraries.cublaslt](const Point& point, const Machine&,
                                                                 const Device& device) -> std::optional<std::string> {
                if (library == nullptr)
                    return "libcublasLt was not found: install cuBLAS, or put its folder on LD_LIBRARY_PATH";
                if (point.integer("size") % 16 != 0) return "the tensor cores want sizes in steps of 16";
                if (!multiplies(capability_of(device), point.text("precision")))
                    return "this GPU" + of_capability(device) + " has no product in " + point.text("precision");
                return std::nullopt;
            },
            .create = [library = libraries.cublaslt](
                          const GpuPoint& at) { return std::make_unique<MatmulSubject>(library, at); }};
}

}  // namespace roof::gpu
