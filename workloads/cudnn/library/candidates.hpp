// Selects the cuDNN engines that the settings allow for a pass. Needs no device.
#pragma once

#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/engine/ir/list.hpp"
#include "workloads/engine/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

using engine::Algorithm;
using engine::Settings;

/// For fp32, engines that use tensor cores or round their inputs are not allowed.
bool is_allowed(const EngineNotes& notes, const Settings& settings);

/// Returns the allowed engines in the order of the heuristics; those of any algorithm if none has the requested one.
std::vector<Engine> allowed_engines(const ConvolutionPass& shape, const Settings& settings, const Descriptor& device);

struct PlannedEngine {
    Engine engine;
    Plan plan;
};
/// Returns the engine with its plan; nothing if it does not support the device. Compiles an engine that needs it, which
/// takes a good part of a second.
std::optional<PlannedEngine> planned(const Engine& engine, const Descriptor& device);

/// Returns whether cuDNN has an engine of the settings' algorithm, not the automatic one, for 3x3 convolutions on this
/// device. Throws Error.
bool offers(const Settings& settings, const Descriptor& device);

/// Returns the key of stored choices: library, device, and what the settings allow.
std::string chooser_of(const Settings& settings, const std::string& device_model);

/// Returns the candidate as a step reports it.
Choice choice_of(const PlannedEngine& candidate, bool fused);

}  // namespace roof::cudnn
