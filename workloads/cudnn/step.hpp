// One training step on a GPU as a subject. The first launch goes operation by operation; from the second on, a step is a captured
// graph, launched by one call. What its parts take is seen by a second graph of the same step, with an event between stages, which
// runs beside every few launches; the launch's own time is that of the graph without them.
#pragma once

#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/cudnn/device_program.hpp"
#include "workloads/cudnn/events.hpp"
#include "workloads/cudnn/input.hpp"
#include "workloads/cudnn/ranks.hpp"
#include "workloads/cudnn/step_graph.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

struct StepOptions {
    gpu::DeviceId device;
    std::string device_model;
    std::string data = "synthetic";  ///< as data::open_source takes it
    int workers = 1;                 ///< threads that decode
    bool graph = true;               ///< false: each launch goes operation by operation
    std::shared_ptr<engine::Choices> choices{};
    std::shared_ptr<const gpu::Nvml> nvml{};
    GradientHooks gradients{};
};

class Step : public Subject {
  public:
    /// Throws OutOfMemory, Unsupported, InputError or Error.
    Step(const model::Graph& graph, const Settings& settings, const StepOptions& options);

    /// From now on a step is taken with the other ranks of `settings.share`. Collective; before the first launch. Throws Error.
    void train_with(const parallel::World& world, std::shared_ptr<const gpu::Nccl> library,
                    const ExchangeOptions& options);

    /// With ranks, what all of them do together.
    Work work() const override { return work_; }
    void launch(Trace& trace) override;
    /// The loss is finite, and the first one of random parameters near that of guessing.
    void check() override;
    std::vector<TimedPart> parts() const override;
    /// "convolution passes: 40 gemm, 13 winograd; one CUDA graph; 2 ranks by NCCL 2.28.9, 3 buckets"
    std::string variant() const override;
    std::vector<std::string> remarks() const override;
    Bytes memory() const override { return Bytes{static_cast<double>(program_.bytes())} * settings_.share.ranks; }

    const DeviceProgram& program() const { return program_; }

  private:
    void train(Trace& trace);
    bool prepare_graph(const Trace& trace);
    void run_watched(const Trace& trace);
    void enqueue(const Trace& trace, const std::vector<Event>* between, bool is_captured);
    Communication wait() const;
    void look(Trace& trace);
    void read_parts();

    gpu::CurrentDevice current_;
    model::Graph graph_;
    Settings settings_;
    StepOptions options_;
    gpu::Stream stream_;
    DeviceProgram program_;
    std::optional<Ranks> ranks_;  ///< goes after the graphs that hold its communication
    Input input_;
    Work work_;
    Event begin_, end_;
    Event graph_begin_, graph_end_;  ///< nodes of the graph
    Event images_read_;
    std::size_t first_update_;
    std::vector<Event> between_;  ///< one more than there are stages
    Event update_begin_;          ///< after the wait for other ranks, which is no part's time
    std::optional<StepGraph> step_graph_;
    std::optional<StepGraph> watched_graph_;
    std::vector<Seconds> part_seconds_;
    gpu::HostBuffer state_;
    nvmlDevice_st* watched_device_ = nullptr;
    std::optional<double> first_loss_;
    double last_loss_ = 0;
    int launches_ = 0;
    int capped_ = 0;
    Seconds exposed_{};  ///< waits for batches, of all launches
    Seconds carried_{};  ///< the next launch's wait, where a step between has had it
};

}  // namespace roof::cudnn
