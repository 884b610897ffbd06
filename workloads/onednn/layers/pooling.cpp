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

    const Desc winners_desc = passes.forward.workspace_desc();
    Arguments winners;
    if (winners_desc.get_size() > 0) winners = {{DNNL_ARG_WORKSPACE, build.program.tensor(winners_desc)}};
    const auto append = [&build, winners]<class Pass>(const typename Pass::primitive_desc& pass, Arguments arguments) {
        arguments.insert(arguments.end(), winners.begin(), winners.end());
        build.program.append<Pass>(pass, arguments);
        return arguments[1].second;
    };
    write_simple(
        build, unit,
        [&](const Tensor& from) {
            const Tensor y = build.program.tensor(passes.forward.dst_desc());
            return append.template operator()<dnnl::pooling_forward>(passes.forward,
                                                                     {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, y}});
        },
        [=, &build](const Gradient& given) {
            const Tensor dx = build.program.tensor(passes.backward.diff_src_desc());
            return Gradient{append.template operator()<dnnl::pooling_backward>(
                passes.backward, {{DNNL_ARG_DIFF_DST, given.tensor}, {DNNL_ARG_DIFF_SRC, dx}})};
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
