// What all choosers of implementations have: the step's stream and settings, and the file of choices.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/engine/choices.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace roof::cudnn {

class Chooser {
  public:
    /// Choices are stored per `device_model` and library version; null: not at all.
    Chooser(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
            std::string device_model)
        : stream_(stream), settings_(settings), choices_(std::move(choices)), device_model_(std::move(device_model))
    {
    }

  protected:
    engine::Question question(const std::string& shape, std::string_view pass, Precision precision) const
    {
        return {shape, std::string(pass), std::string(traits(precision).name), 1, chooser_of(settings_, device_model_)};
    }
    std::optional<std::string> known(const engine::Question& asked) const
    {
        return choices_ ? choices_->find(asked) : std::nullopt;
    }
    void keep(const engine::Question& asked, const std::string& implementation, Seconds seconds = {}) const
    {
        if (choices_) choices_->remember(asked, implementation, seconds);
    }

    const gpu::Stream& stream_;
    Settings settings_;

  private:
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
};

}  // namespace roof::cudnn
