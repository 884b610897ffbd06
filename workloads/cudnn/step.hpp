// One training step on a GPU. The first launch enqueues each operation; later ones launch a captured
// graph. Once in a few launches, a second graph with an event between stages measures the parts.
#pragma once

#include "ert/base/processors.hpp"
#include "ert/gpu/clock_watch.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/device_program.hpp"
#include "workloads/cudnn/input.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/nccl/device_exchange.hpp"

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
    std::shared_ptr<const gpu::Nvml> nvml{};
    std::shared_ptr<const gpu::Nccl> nccl{};  ///< for ranks
    bool is_rank = false;                     ///< of several: its threads, and those of NCCL, keep near the GPU
    bool shares_gpu = false;                  ///< several ranks use this GPU
};

class Step : public engine::Step {
  public:
    /// Throws OutOfMemory, Unsupported, InputError or Error.
    Step(const model::Graph& graph, const Settings& settings, const StepOptions& options);
    ~Step() override;

    const DeviceProgram& program() const { return program_; }

  private:
    std::vector<TimedPart> own_parts() const override { return program_.list().parts(); }
    Bytes own_memory() const override { return Bytes{static_cast<double>(program_.bytes())}; }
    const std::map<std::string, int, std::less<>>& algorithms() const override { return program_.list().algorithms; }
    data::SourceFacts facts() const override { return input_.facts(); }
    double train(Trace& trace) override;
    void differentiate(Phase last, Trace& trace) override;
    std::string how() const override;
    std::vector<std::string> own_remarks() const override;
    std::vector<std::string> device_remarks() const override { return clocks_.remarks(); }
    void join(const parallel::Options& options) override;
    void abandon() override;
    std::string checksums() override;
    std::string taking_turns() const override;

    bool prepare_graph(const Trace& trace);
    void run_watched(const Trace& trace);
    void run(std::optional<gpu::Graph>& graph, const std::function<void()>& work);
    /// The stages before `end`; `between`, which may be null, records an event before each and after all.
    void enqueue(const Trace& trace, const std::vector<gpu::Event>* between = nullptr, std::size_t end = SIZE_MAX);
    Communication wait() const;
    void look(Trace& trace);
    StepState state() const;
    void read_parts();

    OnProcessors near_;
    gpu::CurrentDevice current_;
    StepOptions options_;
    gpu::Stream stream_;
    DeviceProgram program_;
    // With ranks; both must outlive the graphs that contain their communication.
    std::shared_ptr<nccl::Ranks> ranks_;
    std::unique_ptr<nccl::DeviceExchange> exchange_;
    Input input_;
    gpu::Event begin_, end_;
    gpu::Event graph_begin_, graph_end_;  ///< nodes of the graph
    gpu::Event images_read_;
    std::size_t first_update_;
    std::vector<gpu::Event> between_;  ///< number of stages + 1
    gpu::Event update_begin_;          ///< after the wait for other ranks, which belongs to no part
    std::optional<gpu::Graph> step_graph_;
    std::optional<gpu::Graph> watched_graph_;
    std::map<Phase, std::optional<gpu::Graph>> graphs_to_;  ///< for differentiate()
    std::vector<Seconds> part_seconds_;
    gpu::HostBuffer state_;
    nvmlDevice_st* watched_device_ = nullptr;
    gpu::ClockWatch clocks_;
    int launches_ = 0;
    Seconds exposed_{};  ///< waits for batches in all launches
    Seconds carried_{};  ///< the next launch's wait, if a timed step before it has already waited
};

/// `nvml` may be null.
engine::MakeStep step_maker(std::shared_ptr<const gpu::Nvml> nvml);

}  // namespace roof::cudnn
