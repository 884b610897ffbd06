// One training step on a GPU as a subject. The first launch enqueues each operation; later ones launch a captured
// graph. Once in a few launches, a second graph with an event between stages measures the parts.
#pragma once

#include "ert/gpu/clock_watch.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/cudnn/device_program.hpp"
#include "workloads/cudnn/input.hpp"
#include "workloads/cudnn/ranks.hpp"
#include "workloads/cudnn/step_graph.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

struct StepOptions {
    gpu::DeviceId device;
    std::string device_model;
    std::string data = "synthetic";  ///< as in data::open_source()
    int workers = 1;                 ///< decoding threads
    bool graph = true;               ///< false: each launch enqueues each operation
    std::shared_ptr<engine::Choices> choices{};
    std::shared_ptr<const gpu::Nvml> nvml{};
    GradientHooks gradients{};
};

class Step : public Subject {
  public:
    /// Throws OutOfMemory, Unsupported, InputError or Error.
    Step(const model::Graph& graph, const Settings& settings, const StepOptions& options);

    /// Makes each step run with the other ranks of `settings.share`. Collective; before the first launch. Throws Error.
    void train_with(const parallel::World& world, std::shared_ptr<const gpu::Nccl> library,
                    const parallel::Options& options, bool shares_gpu = false);

    /// With ranks: the work of all of them.
    Work work() const override { return work_; }
    void launch(Trace& trace) override;
    bool launch_to(Phase last, Trace& trace) override;
    /// Throws if the loss is not finite, the first loss of random parameters is far above that of guessing, or ranks have other parameters.
    void check() override;
    std::vector<TimedPart> parts() const override;
    /// Returns "convolution passes: 40 gemm, 13 winograd; one CUDA graph; 2 ranks by NCCL 2.28.9, 3 buckets".
    std::string variant() const override;
    std::vector<std::string> remarks() const override;
    Bytes memory() const override { return Bytes{static_cast<double>(program_.bytes())} * settings_.share.ranks; }

    const DeviceProgram& program() const { return program_; }

  private:
    void train(Trace& trace);
    bool prepare_graph(const Trace& trace);
    void run_watched(const Trace& trace);
    void run(std::optional<StepGraph>& graph, const std::function<void()>& work);
    /// The stages before `end`; `between`, which may be null, records an event before each and after all.
    void enqueue(const Trace& trace, const std::vector<gpu::Event>* between = nullptr, std::size_t end = SIZE_MAX);
    Communication wait() const;
    void look(Trace& trace);
    void read_parts();

    gpu::CurrentDevice current_;
    model::Graph graph_;
    Settings settings_;
    StepOptions options_;
    gpu::Stream stream_;
    DeviceProgram program_;
    std::optional<Ranks> ranks_;  ///< must outlive the graphs that contain its communication
    Input input_;
    Work work_;
    gpu::Event begin_, end_;
    gpu::Event graph_begin_, graph_end_;  ///< nodes of the graph
    gpu::Event images_read_;
    std::size_t first_update_;
    std::vector<gpu::Event> between_;  ///< number of stages + 1
    gpu::Event update_begin_;          ///< after the wait for other ranks, which belongs to no part
    std::optional<StepGraph> step_graph_;
    std::optional<StepGraph> watched_graph_;
    std::map<Phase, std::optional<StepGraph>> graphs_to_;  ///< for launch_to()
    std::vector<Seconds> part_seconds_;
    gpu::HostBuffer state_;
    nvmlDevice_st* watched_device_ = nullptr;
    gpu::ClockWatch clocks_;
    std::optional<double> first_loss_;
    double last_loss_ = 0;
    int launches_ = 0;
    Seconds exposed_{};  ///< waits for batches in all launches
    Seconds carried_{};  ///< the next launch's wait, if a timed step before it has already waited
};

}  // namespace roof::cudnn
