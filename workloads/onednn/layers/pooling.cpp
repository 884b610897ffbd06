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

    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor y = build.program.tensor(passes.forward.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}};
    const Desc winners_desc = passes.forward.workspace_desc();
    const bool has_winners = winners_desc.get_size() > 0;
    Tensor winners;
    if (has_winners) {
        winners = build.program.tensor(winners_desc);
        arguments.emplace_back(DNNL_ARG_WORKSPACE, winners);
    }
    build.program.append<dnnl::pooling_forward>(passes.forward, arguments);
    build.put(unit, y);

    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_work(build.work(unit.layer).backward_data);
        const Tensor dx = build.program.tensor(passes.backward.diff_src_desc());
        Arguments back{{DNNL_ARG_DIFF_DST, build.gradient(unit.layer).tensor}, {DNNL_ARG_DIFF_SRC, dx}};
        if (has_winners) back.emplace_back(DNNL_ARG_WORKSPACE, winners);
        build.program.append<dnnl::pooling_backward>(passes.backward, back);
        build.give(build.source(unit), {dx});
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
