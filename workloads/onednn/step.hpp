// One training step on the CPU as a subject: wait for a batch, forward, backward, update.
#pragma once

#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/data/source.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/onednn/network.hpp"
#include "workloads/onednn/pinned_threads.hpp"
#include "workloads/parallel/options.hpp"
#include "workloads/parallel/world.hpp"

#include <memory>
#include <optional>
#include <string>

namespace roof::onednn {

class Step : public Subject {
  public:
    /// `data`: as in data::open_source, decoded in `workers` threads; `place`: of a rank. Throws what Network and
    /// open_source throw.
    Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers,
         const parallel::Place& place = {});

    /// Takes later steps with the other ranks of `settings.ranks`. Collective; call before the first launch.
    void train_with(const parallel::World& world, const parallel::Options& options);

    /// With ranks, the sum over all ranks.
    /// FLOPs: convolution and linear layers, forward and both gradients (the model FLOPs of utilisation figures),
    /// without elementwise work. Executed: the FLOPs of the same passes as the implementations compute them.
    /// Bytes: the sum over all parts.
    Work work() const override { return work_; }
    void launch(Trace& trace) override;
    bool launch_to(Phase last, Trace& trace) override;
    /// Checks that the loss is finite and, for random parameters, that the first loss is near ln(classes).
    void check() override;
    std::vector<TimedPart> parts() const override;
    /// "convolution passes: 40 direct, 13 winograd; threads on processors 0, 1"
    std::string variant() const override;
    /// Names the broken images that were skipped.
    std::vector<std::string> remarks() const override;
    Bytes memory() const override { return network_.memory() * ranks(); }

    const Network& network() const { return network_; }

  private:
    void train(Trace& trace);
    int ranks() const { return settings_.ranks == nullptr ? 1 : settings_.ranks->size; }

    Settings settings_;
    int classes_;
    PinnedThreads threads_;  ///< before memory is touched
    Network network_;
    data::Source source_;
    Work work_;
    std::optional<double> first_loss_;
    double last_loss_ = 0;
    parallel::World world_;
    Clock clock_ = steady_clock();
    std::optional<parallel::Exchange> exchange_;  ///< last, because its thread uses the network's gradients
};

}  // namespace roof::onednn
