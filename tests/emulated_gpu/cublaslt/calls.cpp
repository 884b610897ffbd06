// libcublasLt.so.13 on emulated GPUs, with the calls that the program uses and the prototypes and numbers of
// cublasLt.h. As strict as the real one: handles, descriptions and layouts that it did not make or that are destroyed,
// attributes of another size, matrices that do not fit together, algorithms of another product, workspaces that are too
// small, and memory that is not aligned as its suggestions assume are refused with its status. The products are done on
// the host when the stream reaches them.
#include "tests/emulated_gpu/cublaslt/description.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

using namespace roof::emulated;

struct cublasLtContext {
    int device = 0;
};

namespace {

constexpr std::uint32_t assumed_alignment = 256;  ///< of matrices, unless a preference says less, and workspaces
constexpr std::array<std::size_t, 3> workspaces{std::size_t{1} << 20, 0, std::size_t{32} << 20};  ///< of the algorithms

template <class Object>
class Alive {
  public:
    Object* make(Object object)
    {
        const std::lock_guard lock(machine().mutex());
        ++machine().library_objects;
        return all_.insert(std::make_unique<Object>(std::move(object))).first->get();
    }
    /// Null for what is not alive.
    Object* find(const void* handle)
    {
        const std::lock_guard lock(machine().mutex());
        const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.get() == handle; });
        return found == all_.end() ? nullptr : found->get();
    }
    cublasStatus_t end(const void* handle)
    {
        const std::lock_guard lock(machine().mutex());
        const auto count = std::erase_if(all_, [&](const auto& one) { return one.get() == handle; });
        machine().library_objects -= static_cast<long>(count);
        return count == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    }

  private:
    std::set<std::unique_ptr<Object>> all_;
};

Alive<cublasLtContext> contexts;
Alive<Description> descriptions;
Alive<Layout> layouts;
struct Preference {
    std::uint64_t workspace = 0;
    std::array<std::uint32_t, 4> alignments{assumed_alignment, assumed_alignment, assumed_alignment, assumed_alignment};
};
Alive<Preference> preferences;

/// Null if one of the parts is not alive.
std::unique_ptr<Operands> operands_of(const void* a, const void* b, const void* c, const void* d)
{
    const Layout* all[]{layouts.find(a), layouts.find(b), layouts.find(c), layouts.find(d)};
    if (std::find(std::begin(all), std::end(all), nullptr) != std::end(all)) return nullptr;
    return std::make_unique<Operands>(Operands{*all[0], *all[1], *all[2], *all[3]});
}

std::vector<const void*> left_matrices;  ///< of all calls

/// What an algorithm was suggested for: it serves nothing else.
struct Algorithm {
    std::uint64_t key;
    std::uint64_t workspace;
    std::array<std::uint32_t, 4> alignments;  ///< of A, B, C, D
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

std::uint64_t key_of(const Description& what, const Operands& with)
{
    std::uint64_t key = 0xCBF29CE484222325U;
    const auto mix = [&key](std::uint64_t value) { key = (key ^ value) * 0x100000001B3U; };
    for (const Layout* layout : {&with.a, &with.b, &with.c, &with.d}) {
        mix(static_cast<std::uint64_t>(layout->type));
        mix(layout->rows);
        mix(layout->columns);
        mix(static_cast<std::uint64_t>(layout->leading));
        mix(static_cast<std::uint64_t>(layout->matrices));
        mix(static_cast<std::uint64_t>(layout->apart));
    }
    mix(static_cast<std::uint64_t>(what.compute));
    mix(static_cast<std::uint64_t>(what.transposes_a * 4 + what.transposes_b));
    mix(what.epilogue);
    return key;
}

bool is_aligned(const void* memory, std::uint32_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(memory) % alignment == 0;
}

bool is_on(int device, const void* memory, std::size_t bytes)
{
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const auto range = machine().memory().find(address, bytes);
    return range.contains(address, bytes) && range.device == device;
}

double scale_at(cudaDataType type, const void* at)
{
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof(value));
        return static_cast<double>(value);
    };
    return type == CUDA_R_64F ? as(double{}) : type == CUDA_R_32I ? as(std::int32_t{}) : as(float{});
}

double seconds_of(const Operands& with, std::uint64_t k, const Card& card)
{
    const double of_half = with.a.type == CUDA_R_64F ? 1.0 / 16 : 2.0 / static_cast<double>(bytes_of(with.a.type));
    const double products = 2.0 * static_cast<double>(with.d.rows) * static_cast<double>(with.d.columns * k);
    return (card.launch_cycles + products / (of_half * card.half_flops_per_cycle * card.multiprocessors)) /
           card.clock_hz;
}

/// The same product again and again gives the same result: a probe repeats one thousands of times.
struct Last {
    std::uint64_t key = 0;
    std::vector<std::byte> a, b, bias, d;
    double alpha = 0;
};

void multiply_or_repeat(const Description& what, const Operands& with, double alpha, double beta, const void* a,
                        const void* b, const void* c, void* d)
{
    static Last last;
    const auto bytes = [](const void* from, std::size_t count) {
        const auto* const begin = static_cast<const std::byte*>(from);
        return std::vector<std::byte>(begin, begin + count);
    };
    const auto is = [](const std::vector<std::byte>& former, const void* now, std::size_t count) {
        return former.size() == count && std::memcmp(former.data(), now, count) == 0;
    };
    const std::size_t bias = what.has_bias() ? with.d.rows * bytes_of(with.d.type) : 0;
    const std::uint64_t key = key_of(what, with);
    const bool has_gaps = with.d.matrices > 1 || with.d.leading > static_cast<std::int64_t>(with.d.rows);
    if (has_gaps) return multiply(what, with, alpha, beta, a, b, c, d);
    if (beta == 0 && !what.has_sums() && what.before_gelu == nullptr && last.key == key && last.alpha == alpha &&
        is(last.a, a, with.a.bytes()) && is(last.b, b, with.b.bytes()) && is(last.bias, what.bias, bias)) {
        std::memcpy(d, last.d.data(), last.d.size());
        return;
    }
    multiply(what, with, alpha, beta, a, b, c, d);
    last = {key,  bytes(a, with.a.bytes()), bytes(b, with.b.bytes()), bytes(what.bias, bias), bytes(d, with.d.bytes()),
            alpha};
}

/// Takes the value of an attribute, whose size must be the attribute's.
template <class Value>
cublasStatus_t take(Value& to, const void* from, std::size_t bytes)
{
    if (from == nullptr || bytes != sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion()
{
    return 130000;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle)
{
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = contexts.make({current_device()});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return contexts.end(handle) == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t scale)
{
    if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *made = reinterpret_cast<cublasLtMatmulDesc_t>(descriptions.make({.compute = compute, .scale = scale}));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description)
{
    return descriptions.end(description);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t bytes)
{
    Description* const found = descriptions.find(description);
    if (found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (which) {
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return take(found->transposes_a, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return take(found->transposes_b, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return take(found->epilogue, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return take(found->bias, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
            return take(found->before_gelu, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
            return take(found->before_rows, value, bytes);
        case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
            take(found->fast_sums, value, bytes);
            return bytes == 1 && found->fast_sums == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
        default:
            return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading)
{
    if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *made = reinterpret_cast<cublasLtMatrixLayout_t>(layouts.make({type, rows, columns, leading}));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, std::size_t bytes)
{
    Layout* const found = layouts.find(layout);
    if (found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (which) {
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return take(found->matrices, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return take(found->apart, value, bytes);
        default:
            return CUBLAS_STATUS_INVALID_VALUE;
    }
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    return layouts.end(layout);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made)
{
    if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *made = reinterpret_cast<cublasLtMatmulPreference_t>(preferences.make({}));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    return preferences.end(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which, const void* value,
                                                    std::size_t bytes)
{
    Preference* const found = preferences.find(preference);
    if (found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (which) {
        case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
            return take(found->workspace, value, bytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
            return take(found->alignments.at(which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES), value, bytes);
        default:
            return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* count)
{
    const std::lock_guard lock(machine().mutex());
    const cublasLtContext* const context = contexts.find(handle);
    if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const Description* const what = descriptions.find(description);
    const std::unique_ptr<Operands> with = operands_of(a, b, c, d);
    const Preference* const limits = preferences.find(preference);
    if (what == nullptr || !with || limits == nullptr || wanted < 1 || results == nullptr || count == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    *count = 0;
    const Card& card = machine().device(context->device).card;
    const cublasStatus_t status = status_of(*what, *with, card, machine().libraries_fuse);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    for (const std::size_t workspace : workspaces) {
        if (*count == wanted) break;
        if (workspace > limits->workspace) continue;
        cublasLtMatmulHeuristicResult_t& result = results[(*count)++];
        result = {};
        const Algorithm algorithm{key_of(*what, *with), workspace, limits->alignments};
        std::memcpy(&result.algo, &algorithm, sizeof(algorithm));
        result.workspaceSize = workspace;
        result.state = CUBLAS_STATUS_SUCCESS;
        result.wavesCount = 1;
    }
    if (*count < wanted) (results[(*count)++] = {}).state = CUBLAS_STATUS_NOT_SUPPORTED;  // which it may also list
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, std::size_t workspace_bytes,
                              cudaStream_t stream)
{
    const std::lock_guard lock(machine().mutex());
    const cublasLtContext* const context = contexts.find(handle);
    if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const Description* const what = descriptions.find(description);
    const std::unique_ptr<Operands> with = operands_of(a_layout, b_layout, c_layout, d_layout);
    if (what == nullptr || !with || alpha == nullptr || beta == nullptr || algo == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    const int device = context->device;
    const Card& card = machine().device(device).card;
    const cublasStatus_t status = status_of(*what, *with, card, machine().libraries_fuse);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    machine().fast_products += what->fast_sums;
    Algorithm algorithm{};
    std::memcpy(&algorithm, algo, sizeof(algorithm));
    if (algorithm.key != key_of(*what, *with) || workspace_bytes < algorithm.workspace)
        return CUBLAS_STATUS_INVALID_VALUE;
    const double of_c = scale_at(what->scale, beta);
    if (of_c != 0 && c == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    const std::uint64_t bias = what->has_bias() ? with->d.rows : what->has_sums() ? with->d.columns : 0;
    const bool has_memory =
        is_on(device, a, with->a.bytes()) && is_on(device, b, with->b.bytes()) && is_on(device, d, with->d.bytes()) &&
        (algorithm.workspace == 0 || is_on(device, workspace, algorithm.workspace)) &&
        (bias == 0 || is_on(device, what->bias, bias * bytes_of(with->d.type))) &&
        ((!what->has_gelu() && !what->has_gelu_gradient()) ||
         is_on(device, what->before_gelu, with->d.columns * what->before_rows * bytes_of(with->d.type)));
    const auto& [of_a, of_b, of_c_matrix, of_d] = algorithm.alignments;
    if (!has_memory || !is_aligned(a, of_a) || !is_aligned(b, of_b) || !is_aligned(c, of_c_matrix) ||
        !is_aligned(d, of_d) || !is_aligned(workspace, assumed_alignment))
        return CUBLAS_STATUS_INVALID_VALUE;
    Stream& in = machine().stream(stream, current_device());
    if (in.device != device) return CUBLAS_STATUS_EXECUTION_FAILED;
    const std::uint64_t k = what->transposes_a == CUBLAS_OP_N ? with->a.columns : with->a.rows;
    left_matrices.push_back(a);
    constexpr std::uint64_t most_written = std::uint64_t{64} << 10;
    const std::uint64_t written = std::min(algorithm.workspace, most_written);
    const auto run = [=, what = *what, with = *with, of_product = scale_at(what->scale, alpha),
                      taken = seconds_of(*with, k, card)](double& seconds) {
        if (written > 0) std::memset(workspace, 0xff, written);
        multiply_or_repeat(what, with, of_product, of_c, a, b, c, d);
        if (machine().engine().spoils == "product") std::memset(d, 0, with.d.bytes());
        seconds += taken;
    };
    return machine().enqueue(in, {.run = run}) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// For tests.
std::vector<const void*>* emulated_left_matrices()
{
    return &left_matrices;
}
}
