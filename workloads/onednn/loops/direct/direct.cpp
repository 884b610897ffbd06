#include "workloads/onednn/loops/direct/direct.hpp"

#include "workloads/onednn/loops/direct/isa.hpp"
#include "workloads/onednn/loops/direct/maps.hpp"

namespace roof::onednn {
namespace {

const DirectLoops* widest()
{
    static const DirectLoops* const found = __builtin_cpu_supports("x86-64-v4")   ? &direct_avx512
                                            : __builtin_cpu_supports("x86-64-v3") ? &direct_avx2
                                                                                  : nullptr;
    return found;
}

}  // namespace

const DirectLoops& direct_loops()
{
    return *widest();
}

int direct_lanes()
{
    return widest() == nullptr ? 0 : widest()->lanes;
}

const char* direct_implementation()
{
    return direct_loops().name;
}

bool direct_suits(const DirectShape& shape)
{
    const int wide = 2 * direct_lanes();
    return wide > 0 && shape.inputs % wide == 0 && shape.outputs % wide == 0 && shape.window <= direct_largest_window &&
           shape.stride <= direct_largest_window;
}

std::size_t direct_scratch(DirectPass pass, const DirectShape& shape, int threads)
{
    return DirectMaps(direct_loops(), pass, shape, threads).scratch();
}

void direct_forward(const DirectShape& shape, const float* x, const float* w, const float* bias, bool relu, float* y,
                    float* scratch, int threads)
{
    DirectMaps(direct_loops(), DirectPass::forward, shape, threads).run(x, w, bias, relu, y, scratch);
}

void direct_backward_data(const DirectShape& shape, const float* dy, const float* w, float* dx, float* scratch,
                          int threads)
{
    DirectMaps(direct_loops(), DirectPass::backward_data, shape, threads).run(dy, w, nullptr, false, dx, scratch);
}

}  // namespace roof::onednn
