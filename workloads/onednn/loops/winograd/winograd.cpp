#include "workloads/onednn/loops/winograd/winograd.hpp"

#include "workloads/onednn/loops/winograd/isa.hpp"
#include "workloads/onednn/loops/winograd/maps.hpp"
#include "workloads/onednn/loops/winograd/weights.hpp"

namespace roof::onednn {
namespace {

const WinogradLoops* widest()
{
    static const WinogradLoops* const found = __builtin_cpu_supports("x86-64-v4")   ? &winograd_avx512
                                              : __builtin_cpu_supports("x86-64-v3") ? &winograd_avx2
                                                                                    : nullptr;
    return found;
}

}  // namespace

const WinogradLoops& winograd_loops()
{
    return *widest();
}

int winograd_lanes()
{
    return widest() == nullptr ? 0 : widest()->lanes;
}

const char* winograd_implementation()
{
    return winograd_loops().name;
}

bool winograd_suits(const WinogradShape& shape)
{
    const int wide = 2 * winograd_lanes();
    return wide > 0 && shape.inputs % wide == 0 && shape.outputs % wide == 0;
}

std::size_t winograd_scratch(WinogradPass pass, const WinogradShape& shape, int threads)
{
    switch (pass) {
        case WinogradPass::forward:
            return WinogradMaps(winograd_loops(), shape, shape.inputs, shape.outputs, threads).scratch();
        case WinogradPass::backward_data:
            return WinogradMaps(winograd_loops(), shape, shape.outputs, shape.inputs, threads).scratch();
        default:
            return WinogradWeights(winograd_loops(), shape, threads).scratch();
    }
}

void winograd_forward(const WinogradShape& shape, const float* x, const float* w, const float* bias, bool relu,
                      float* y, float* scratch, int threads)
{
    const WinogradLoops& loops = winograd_loops();
    WinogradMaps(loops, shape, shape.inputs, shape.outputs, threads).run(x, w, loops.weights, {bias, relu}, y, scratch);
}

void winograd_backward_data(const WinogradShape& shape, const float* dy, const float* w, float* dx, float* scratch,
                            int threads)
{
    const WinogradLoops& loops = winograd_loops();
    WinogradMaps(loops, shape, shape.outputs, shape.inputs, threads).run(dy, w, loops.turned_weights, {}, dx, scratch);
}

void winograd_backward_weights(const WinogradShape& shape, const float* x, const float* dy, float* dw, float* db,
                               float* scratch, int threads)
{
    WinogradWeights(winograd_loops(), shape, threads).run(x, dy, dw, db, scratch);
}

}  // namespace roof::onednn
