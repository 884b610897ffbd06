// Which of the engines that cuDNN offers may compute a pass, under what the settings allow: the precision they spec, the
// algorithm they ask for, the same bits each time. No device is needed to tell.
#pragma once

#include "workloads/cudnn/library/convolution_graph.hpp"
#include "workloads/cudnn/program/choose.hpp"
#include "workloads/cudnn/program/settings.hpp"

#include <string>
#include <vector>

namespace roof::cudnn {

/// fp32 means fp32: engines that use tensor cores or round their inputs are none for it.
bool is_allowed(const EngineNotes& notes, const Settings& settings);

/// The engines that are allowed, in the order of the library's heuristics; of an algorithm that a pass is not offered in, though other
/// passes may be, those of any. Empty if cuDNN has none.
std::vector<Engine> allowed_engines(const ConvolutionShape& shape, const Settings& settings, const Descriptor& device);

struct Candidate {
    Engine engine;
    Plan plan;
};
/// Those of the engines that serve the device, with their plans. Of engines that are compiled at run time, which takes a good part of a
/// second each, the first few alone.
std::vector<Candidate> candidates(const std::vector<Engine>& engines, const Descriptor& device);

/// Whether cuDNN has an engine of the algorithm for 3x3 convolutions on this device. Throws Error.
bool offers(Algorithm algorithm, const Settings& settings, const Descriptor& device);

/// Who chose among what, for what is remembered: library, device, and what the settings allow. The best of some is not the best of all.
std::string chooser_of(const Settings& settings, const std::string& device_model);

/// What a step says of the candidate.
Choice choice_of(const Candidate& candidate, bool fused);

}  // namespace roof::cudnn
