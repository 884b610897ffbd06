// The trial by which a step chooses moments, without its choice.
#pragma once

#include "workloads/cudnn/library/plans.hpp"
#include "workloads/cudnn/library/trial.hpp"

namespace roof::cudnn {

/// Way 0: passes over the map between a 1x1 convolution and its batch norm; way 1: moments.
struct MomentsTrial : Trial {
    /// `source`: of the convolution, which makes four times as many channels. All must outlive it.
    MomentsTrial(const gpu::Stream& stream, const Settings& settings, const model::Shape& source, Plans& plans,
                 const Products& products)
        : Trial(stream),
          forward{{.batch = settings.batch,
                   .source = source,
                   .result = {4 * source.channels, source.height, source.width},
                   .window = {.size = 1, .stride = 1, .padding = 0}},
                  Pass::forward,
                  settings.precision}
    {
        Choosers passes = plans.choosers();
        passes.moments = {};
        add_moments(*this, forward, passes);
        place("trying moments", [&](const ir::Operation& operation, const Memory& memory) {
            return bound(operation, memory, stream, plans.by_number(), products);
        });
    }

    ConvolutionPass forward;
};

}  // namespace roof::cudnn
