// What every engine's step says of itself: its work from its parts', and the images it had to do without.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/data/source.hpp"
#include "workloads/model/graph.hpp"

#include <string>
#include <vector>

namespace roof::engine {

/// FLOPs: convolution and linear layers, forward and both gradients, the model FLOPs of utilisation figures; the elementwise rest
/// is left out. Executed: the same, as the implementations really compute them. Bytes: the sum over all parts. The parts are those
/// of all ranks together, each of which has such a batch.
Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks = 1);

/// The part of each stage of a program, in their order. Executed FLOPs are said only where they are not the model's.
template <class Stages>
std::vector<TimedPart> parts_of(const Stages& stages)
{
    std::vector<TimedPart> parts;
    for (const auto& stage : stages) {
        parts.push_back(stage.part);
        Work& work = parts.back().work;
        if (work.executed == work.flops) work.executed = {};
    }
    return parts;
}

/// Names the broken images that were skipped; none if there were none.
std::vector<std::string> remarks_on(const data::SourceFacts& facts);

}  // namespace roof::engine
