// Facts of a step that all engines report: its work, its passes of convolutions, images that were skipped.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/recipe.hpp"
#include "workloads/model/graph.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace roof::engine {

/// FLOPs: convolution and linear layers, forward and both gradients, the model FLOPs of utilisation figures; the
/// elementwise rest is left out. Executed: the same, as the implementations really compute them. Bytes: the sum over
/// all parts. The parts are those of all ranks together, each of which has such a batch.
Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks = 1);

/// Throws Error when training diverged: the last loss is not finite, or the first one, of random parameters, is
/// several times that of guessing, ln(classes).
void check_losses(Parameters parameters, int classes, std::optional<double> first, double last);

/// "convolution passes: 40 direct, 13 winograd"; empty where there are none.
std::string describe_passes(const std::map<std::string, int, std::less<>>& algorithms);

/// Throws Error for a label that is not in [0, classes).
void require_labels(const int* labels, std::size_t count, int classes);

/// Names the broken images that were skipped; none if there were none.
std::vector<std::string> remarks_on(const data::SourceFacts& facts);

}  // namespace roof::engine
