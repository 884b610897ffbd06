// What all choosers of implementations have: the step's stream and settings, and the file of choices.
#pragma once

#include "ert/base/error.hpp"
#include "ert/gpu/stream.hpp"
#include "ert/method/bench/search.hpp"
#include "workloads/cudnn/library/candidates.hpp"

#include <array>
#include <functional>
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
    /// Which of two ways a trial chooses; its name is kept. The first, and nothing is kept, where the library has no
    /// implementation of a part or memory does not hold both.
    std::size_t tried(const engine::Question& asked, const std::array<std::string, 2>& ways,
                      const std::function<Fastest()>& trial) const
    {
        try {
            const Fastest fastest = trial();
            keep(asked, ways[fastest.candidate], Seconds{fastest.cost});
            return fastest.candidate;
        } catch (const Unsupported&) {
            return 0;
        } catch (const OutOfMemory&) {
            return 0;
        }
    }

    const gpu::Stream& stream_;
    Settings settings_;

  private:
    std::string device_model_;
};

}  // namespace roof::cudnn
