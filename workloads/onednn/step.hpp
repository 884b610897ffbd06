// One training step on the CPU: wait for a batch, forward, backward, update.
#pragma once

#include "ert/method/bench/clock.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/onednn/network.hpp"
#include "workloads/onednn/pinned_threads.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::onednn {

class Step : public engine::Step {
  public:
    /// `data`: as in data::open_source, by `workers` threads; `place`: of a rank. Throws as Network and open_source.
    Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers,
         const parallel::Place& place = {});

    const Network& network() const { return network_; }

  private:
    std::vector<TimedPart> own_parts() const override { return network_.parts(); }
    Bytes own_memory() const override { return network_.step_memory().whole() / network_.step_memory().ranks; }
    const std::map<std::string, int, std::less<>>& algorithms() const override { return network_.algorithms(); }
    data::SourceFacts facts() const override { return source_.facts(); }
    double train(Trace& trace) override;
    void differentiate(Phase last, Trace& trace) override;
    std::string how() const override;
    void join(const parallel::Options& options) override;
    std::string checksums() override;
    std::string taking_turns() const override;

    PinnedThreads threads_;  ///< before memory is touched
    Network network_;
    data::Source source_;
    Clock clock_ = steady_clock();
    std::optional<parallel::Exchange> exchange_;  ///< last, because its thread uses the network's gradients
};

/// As engine::MakeStep.
std::unique_ptr<engine::Step> make_step(const engine::StepRequest& request);

}  // namespace roof::onednn
