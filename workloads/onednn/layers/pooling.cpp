// Pooling, by oneDNN. Max:  y = the maximum of the window; oneDNN stores its position, which receives dy.
// Average:  y = the mean of the window; each position receives dy / size^2. Average windows never include padding.
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

void pool(Builder& build, const Unit& unit, dnnl::algorithm algorithm)
{
    const Tensor x = build.input(unit);
    const PoolingPasses passes = converting_errors(build.layer(unit).name, [&] {
        return describe_pooling(build.program.engine(), x.desc(), build.map(unit.layer), build.layer(unit).window,
                                algorithm);
    });

    const Desc winners_desc = passes.forward.layout_of(DNNL_ARG_WORKSPACE);
    const Tensor winners = winners_desc.get_size() > 0 ? build.program.tensor(winners_desc) : Tensor{};
    const auto append = [&build, winners](const Implementation& pass, const Tensor& from, int read, int written) {
        const Tensor to = build.program.tensor(pass.layout_of(written));
        build.program.append(pass, {{read, from}, {written, to}, {DNNL_ARG_WORKSPACE, winners}});
        return to;
    };
    write_simple(
        build, unit, [&](const Tensor& from) { return append(passes.forward, from, DNNL_ARG_SRC, DNNL_ARG_DST); },
        [=](const Gradient& given) {
            return Gradient{append(passes.backward, given.tensor, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC)};
        });
}

}  // namespace

void max_pool(Builder& build, const Unit& unit)
{
    pool(build, unit, dnnl::algorithm::pooling_max);
}

void average_pool(Builder& build, const Unit& unit)
{
    if (build.layer(unit).window.size == 1) return pass_through(build, unit);
    pool(build, unit, dnnl::algorithm::pooling_avg_exclude_padding);
}

}  // namespace roof::onednn
