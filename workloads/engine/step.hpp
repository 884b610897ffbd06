// A training step as a subject: what it reports and checks, and its part among ranks. A device brings how it trains.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/parallel/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::engine {

class Step : public Subject {
  public:
    /// Takes later steps with the other ranks of `settings.ranks`. Collective; call before the first launch. Throws
    /// Error.
    void train_with(const parallel::World& world, const parallel::Options& options);

    /// As step_work(); with ranks, the sum over all ranks.
    Work work() const override;
    void launch(Trace& trace) override;
    bool launch_to(Phase last, Trace& trace) override;
    /// Throws as check_losses(), and unless all ranks have the same parameters to the last bit.
    void check() override;
    std::vector<TimedPart> parts() const override;
    /// "convolution passes: 40 direct, 13 winograd; threads on processors 0, 1"
    std::string variant() const override;
    /// Names the broken images that were skipped.
    std::vector<std::string> remarks() const override;
    Bytes memory() const override { return own_memory() * settings_.share().ranks; }

  protected:
    Step(const model::Graph& graph, const Settings& settings) : graph_(graph), settings_(settings) {}

    const Settings& settings() const { return settings_; }
    /// None before train_with().
    const std::optional<parallel::World>& world() const { return world_; }

  private:
    // Of this rank alone:
    virtual std::vector<TimedPart> own_parts() const = 0;
    virtual Bytes own_memory() const = 0;
    /// The number of convolution passes per algorithm.
    virtual const std::map<std::string, int, std::less<>>& algorithms() const = 0;
    virtual data::SourceFacts facts() const = 0;
    /// Takes one step, and tells the trace all but the loss, which it returns.
    virtual double train(Trace& trace) = 0;
    /// The forward pass, or both passes.
    virtual void differentiate(Phase last, Trace& trace) = 0;
    /// How the operations are run: "one CUDA graph; 2 ranks by NCCL 2.28.9, 3 buckets".
    virtual std::string how() const = 0;
    virtual std::vector<std::string> own_remarks() const { return {}; }
    /// What held the device back: of all ranks, in the row.
    virtual std::vector<std::string> device_remarks() const { return {}; }
    // With ranks:
    virtual void join(const parallel::Options& options) = 0;
    /// Ends what waits for other ranks, after a failure.
    virtual void abandon() {}
    /// A line on each parameter with the checksum of its values.
    virtual std::string checksums() = 0;
    /// The warning that the ranks share a device; empty if they do not.
    virtual std::string taking_turns() const = 0;

    /// Of all ranks. Takes down their clocks. Collective.
    double mean_loss(const Trace& trace);

    model::Graph graph_;
    Settings settings_;
    std::vector<std::vector<double>> clocks_;  ///< of each launch: of each rank, hertz; 0: not known
    std::optional<parallel::World> world_;
    std::optional<double> first_loss_;
    double last_loss_ = 0;
};

/// What a device makes a step of.
struct StepRequest {
    const Point& point;
    const Device& device;
    model::Graph graph;
    Settings settings;
    int workers;                   ///< threads that decode images
    const parallel::World* world;  ///< null: no other ranks
};
/// Throws Unsupported, OutOfMemory, InputError or Error.
using MakeStep = std::function<std::unique_ptr<Step>(const StepRequest&)>;

/// FLOPs: convolution and linear layers and attention, forward and all gradients, the model FLOPs of utilisation
/// figures; the elementwise rest is left out. Executed: the same, as the implementations really compute them. Bytes:
/// the sum over all parts. The parts are those of all ranks together, each of which has such a batch. Without `trains`,
/// of the forward pass.
Work step_work(const model::Graph& graph, int batch, Precision precision, const std::vector<TimedPart>& parts,
               int ranks = 1, bool trains = true);

/// Throws Error when training diverged: the last loss is not finite, or the first one, of random parameters, is
/// several times that of guessing, ln(classes).
void check_losses(Parameters parameters, int classes, std::optional<double> first, double last);

/// Throws Error for a label that is not in [0, classes).
void require_labels(const int* labels, std::size_t count, int classes);

/// Of ranks whose clocks are known: their medians over the launches, which differ if they are more than 2% apart.
/// `launches`: of each, the clock of each rank in hertz.
std::vector<std::string> remarks_on_clocks(const std::vector<std::vector<double>>& launches);

/// Names the broken images that were skipped; none if there were none.
std::vector<std::string> remarks_on(const data::SourceFacts& facts);

}  // namespace roof::engine
