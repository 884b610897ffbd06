// What all choosers of implementations have: the step's stream and settings, and the file of choices.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/library/candidates.hpp"

#include <optional>
#include <string>
#include <utility>

namespace roof::cudnn {

class Chooser {
  public:
    /// The settings' choices are stored per `device_model` and library version.
    Chooser(const gpu::Stream& stream, const Settings& settings, std::string device_model)
        : stream_(stream), settings_(settings), device_model_(std::move(device_model))
    {
    }

  protected:
    engine::Question question(const std::string& shape, std::string_view pass, Precision precision) const
    {
        return {shape, std::string(pass), std::string(traits(precision).name), 1, chooser_of(settings_, device_model_)};
    }
    std::optional<std::string> known(const engine::Question& asked) const
    {
        return settings_.choices ? settings_.choices->find(asked) : std::nullopt;
    }
    void keep(const engine::Question& asked, const std::string& implementation, Seconds seconds = {}) const
    {
        if (settings_.choices) settings_.choices->remember(asked, implementation, seconds);
    }

    const gpu::Stream& stream_;
    Settings settings_;

  private:
    std::string device_model_;
};

}  // namespace roof::cudnn
