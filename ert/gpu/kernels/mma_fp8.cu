// mma.sync in fp8, for compute capability 8.9, and 12.0 and later. On 9.0 and 10.0 the assembler replaces it by
// products in fp16, which would not be a ceiling of fp8; these have wgmma and tcgen05.
#include "ert/gpu/kernels/mma_float_sums.cuh"

namespace roof::gpu {

namespace {

struct E4m3 : FloatSums<E4m3> {
    static constexpr char types[] = "m16n8k32.row.col.f32.e4m3.e4m3";
};
struct E5m2 : FloatSums<E5m2> {
    static constexpr char types[] = "m16n8k32.row.col.f32.e5m2.e5m2";
};

}  // namespace

MmaKernel fp8_kernel(TensorFormat format, int chains)
{
    return format == TensorFormat::e4m3 ? mma_with_chains<E4m3, TensorFormat::e4m3>(chains)
                                        : mma_with_chains<E5m2, TensorFormat::e5m2>(chains);
}

}  // namespace roof::gpu
