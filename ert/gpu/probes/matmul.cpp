#include "ert/gpu/probes/matmul.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/formats.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/product_check.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace roof::gpu {

namespace {

constexpr long long most_products = 1 << 12;
/// Longer than other launches: a program of products keeps the card at its power cap, and so is this to do.
constexpr Seconds product_length{0.04};

/// cublasComputeType_t.
constexpr int compute_32f = 68;
constexpr int compute_64f = 70;
constexpr int compute_32i = 72;
constexpr int compute_tf32 = 77;

ProductTypes types_of(Precision precision)
{
    switch (precision) {
        case Precision::fp64:
            return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, compute_64f};
        case Precision::tf32:
            return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_tf32};
        case Precision::fp16:
            return {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, compute_32f};
        case Precision::bf16:
            return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, compute_32f};
        case Precision::fp8:
            return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, compute_32f, true};
        case Precision::int8:
            return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, compute_32i};
        default:
            return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute_32f};
    }
}

std::size_t bytes_of(cudaDataType type)
{
    switch (type) {
        case CUDA_R_64F:
            return 8;
        case CUDA_R_32F:
        case CUDA_R_32I:
            return 4;
        default:
            return 2;
    }
}

double number_in(const std::byte* at, cudaDataType type)
{
    const auto as = [at](auto value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    switch (type) {
        case CUDA_R_64F:
            return as(double{});
        case CUDA_R_32F:
            return as(float{});
        case CUDA_R_32I:
            return as(std::int32_t{});
        case CUDA_R_16F:
            return __half2float(as(__half{}));
        default:
            return __bfloat162float(as(__nv_bfloat16{}));
    }
}

/// The numbers again and again until the buffer is full; each copy doubles what there is.
void repeat(const std::vector<std::byte>& numbers, Buffer<std::byte>& buffer)
{
    std::size_t there = std::min(numbers.size(), buffer.bytes());
    buffer.write(std::span(numbers).first(there));
    while (there < buffer.bytes()) {
        const std::size_t more = std::min(there, buffer.bytes() - there);
        roof::gpu::check(cudaMemcpy(buffer.data() + there, buffer.data(), more, cudaMemcpyDeviceToDevice));
        there += more;
    }
    roof::gpu::check(cudaDeviceSynchronize());
}

class MatmulSubject final : public Subject {
  public:
    MatmulSubject(std::shared_ptr<const CublasLt> library, Precision precision, std::size_t n, DeviceId id,
                  std::shared_ptr<const Nvml> nvml)
        : id_(id),
          precision_(precision),
          n_(n),
          types_(types_of(precision)),
          tuned_(id, std::move(nvml)),
          product_(std::move(library), types_, n),
          a_(n * n * static_cast<std::size_t>(traits(precision).storage_bytes), "matrix A"),
          b_(a_.size(), "matrix B"),
          d_(n * n * bytes_of(types_.result), "the product"),
          workspace_(Product::workspace_bytes, "the library's workspace"),
          numbers_of_a_(product_numbers(precision, 1)),
          numbers_of_b_(product_numbers(precision, 2))
    {
        repeat(encode(format_of(precision), numbers_of_a_), a_);
        repeat(encode(format_of(precision), numbers_of_b_), b_);
        std::vector<Way> ways;
        for (int i = 0; i < product_.algorithms(); ++i) {
            ways.push_back(
                {"algorithm " + std::to_string(i + 1) + " of " + std::to_string(product_.algorithms()) + " suggested",
                 1, [this, i](long long repeats) { enqueue(i, repeats); }});
        }
        tuned_.settle_on_fastest(std::move(ways), most_products, product_length);
    }

    Work work() const override
    {
        const auto n = static_cast<double>(n_);
        const double repeats = tuned_.work();
        const Bytes moved{repeats * static_cast<double>(a_.bytes() + b_.bytes() + d_.bytes())};
        return {Flops{2 * n * n * n * repeats}, moved, moved, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        constexpr int samples = 64;
        const CurrentDevice current(id_);
        roof::gpu::check(cudaMemset(d_.data(), 0xFF, d_.bytes()));
        roof::gpu::check(cudaDeviceSynchronize());
        tuned_.run(1);
        std::minstd_rand random(1);
        const std::size_t width = bytes_of(types_.result);
        for (int i = 0; i < samples; ++i) {
            const std::size_t row = random() % n_;
            const std::size_t column = random() % n_;
            const DueElement due = due_element(precision_, numbers_of_a_, numbers_of_b_, n_, row, column);
            const std::vector<std::byte> bytes = d_.read((column * n_ + row) * width, width);
            const double found = number_in(bytes.data(), types_.result);
            if (std::abs(found - due.value) <= due.tolerance) continue;  // false for NaN
            throw Error("element " + std::to_string(row) + ", " + std::to_string(column) + " of the product is " +
                        std::to_string(found) + ", not " + std::to_string(due.value));
        }
    }

    std::string variant() const override { return tuned_.variant(); }
    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
    Bytes memory() const override
    {
        return {static_cast<double>(a_.bytes() + b_.bytes() + d_.bytes() + workspace_.bytes())};
    }

  private:
    void enqueue(int algorithm, long long repeats) const
    {
        for (long long i = 0; i < repeats; ++i)
            product_.enqueue(algorithm, a_.data(), b_.data(), d_.data(), workspace_.data(), tuned_.stream().get());
    }

    DeviceId id_;
    Precision precision_;
    std::size_t n_;
    ProductTypes types_;
    TunedStream tuned_;
    Product product_;
    Buffer<std::byte> a_;
    Buffer<std::byte> b_;
    Buffer<std::byte> d_;
    Buffer<std::byte> workspace_;
    std::vector<double> numbers_of_a_;
    std::vector<double> numbers_of_b_;
};

class MatmulBench final : public GpuBench {
  public:
    MatmulBench(std::shared_ptr<const CublasLt> library, std::shared_ptr<const Nvml> nvml)
        : GpuBench({"matmul", Role::compute, "gpu",
                    "A large product of square matrices of random numbers by cuBLASLt, in the fastest of the "
                    "algorithms it suggests, checked by some of its elements."},
                   std::move(nvml)),
          library_(std::move(library))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        const std::vector<std::string> precisions{"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
        return {{.name = "operation", .meaning = "a product", .defaults = {"matmul"}, .allowed = {"matmul"}},
                {.name = "isa", .meaning = "whose kernels", .defaults = {"cublaslt"}, .allowed = {"cublaslt"}},
                {.name = "precision", .meaning = "of the operands", .defaults = precisions, .allowed = precisions},
                {.name = "size",
                 .meaning = "n of n x n matrices",
                 .defaults = {"8192"},
                 .allowed = {},
                 .numeric = true,
                 .min = 64,
                 .max = 65536}};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        if (library_ == nullptr)
            return "libcublasLt was not found: install cuBLAS, or put its folder on LD_LIBRARY_PATH";
        if (point.integer("size") % 16 != 0) return "the tensor cores want sizes in steps of 16";
        if (point.precision() == Precision::fp8) return missing_capability(device, 89, "a product in fp8");
        return missing_capability(device, 80, "this build");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        return std::make_unique<MatmulSubject>(library_, point.precision(),
                                               static_cast<std::size_t>(point.integer("size")), id, nvml());
    }

    std::shared_ptr<const CublasLt> library_;
};

}  // namespace

std::unique_ptr<Bench> matmul_bench(std::shared_ptr<const CublasLt> library, std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<MatmulBench>(std::move(library), std::move(nvml));
}

}  // namespace roof::gpu
