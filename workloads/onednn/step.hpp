// One training step on the CPU: wait for a batch, forward, backward, update.
#pragma once

#include "ert/base/processors.hpp"
#include "ert/method/bench/clock.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/onednn/operations/trained.hpp"
#include "workloads/onednn/program/program.hpp"
#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/place.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::onednn {

// Keeps threads on processors, so that memory that a thread touched first stays local to it.

class PinnedThreads {
  public:
    /// Pins the calling thread and those of its parallel regions of this size to one processor each, cores before their
    /// second hardware threads. Does nothing for 0 threads, or with fewer allowed processors.
    explicit PinnedThreads(int threads);
    /// Restricts the calling thread and `threads` of its parallel regions to the rank's processors, if roof started it.
    PinnedThreads(const parallel::Place& place, int threads);
    /// Restores the previous affinity of every thread.
    ~PinnedThreads();
    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;

    bool hold() const { return !processors_.empty(); }
    /// Processor per thread; empty if threads are not pinned.
    const std::vector<int>& processors() const { return processors_; }
    /// "threads on processors 0, 1"; "threads not pinned".
    std::string describe() const;

    /// Returns the result of `work`. Threads that it starts may run on all processors of this process.
    template <class Work>
    auto starting_free_threads(Work work) const
    {
        if (hold()) keep_thread_to(allowed_);
        auto made = work();
        if (hold()) keep_thread_to({processors_.front()});
        return made;
    }

  private:
    void keep_threads_to(const std::vector<int>& cpus) const;

    int threads_ = 0;  ///< restricted ones
    std::vector<int> allowed_;
    std::vector<int> processors_;
};

// A trainable network: a graph as a program with its memory. The constructor allocates everything, a step no tensors.

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

class Network {
  public:
    /// Throws OutOfMemory before it allocates, Error when oneDNN refuses a layer.
    Network(const model::Graph& graph, const Settings& settings);

    /// `images`: [batch][channels][height][width]; `labels`: [batch][of an image], class indices. Returns the mean
    /// loss.
    double forward(const float* images, const int* labels, Trace& trace);
    /// Calls `ready` for each parameter as soon as its gradient is complete.
    void backward(Trace& trace, const std::function<void(std::size_t parameter)>& ready = {});
    void update(Trace& trace);
    /// For a rank that receives its parameters from another rank: only counts the step.
    void leave_update_to_another() { ++state_.step; }

    /// With ranks: the size of each parameter's gradient. place_gradients() sets their addresses; call it before the
    /// first backward pass. The memory must outlive the network.
    std::vector<parallel::GradientSize> gradient_sizes() const;
    void place_gradients(const std::function<float*(std::size_t parameter)>& place);
    /// A line on each parameter: what must be the same on all ranks so that they add the same gradients in the same
    /// order.
    std::string exchanged_layouts() const;
    /// All memory that training changes, for rank 0 to send.
    std::vector<std::span<std::byte>> trained_bytes() const;
    /// A line on each parameter with the checksum of its values.
    std::string checksums() const;

    std::vector<TimedPart> parts() const { return program_.parts(); }
    /// The number of convolution passes per algorithm: {{"direct", 40}, {"winograd", 13}}.
    const std::map<std::string, int, std::less<>>& algorithms() const { return algorithms_; }
    /// The size of the arena, which holds everything but the images.
    Bytes memory() const { return {static_cast<double>(program_.arena_bytes())}; }
    /// Of this and all ranks here, with the program itself.
    const engine::StepMemory& step_memory() const { return memory_; }

    /// In the order of PyTorch's named_parameters().
    const std::vector<model::Parameter>& parameters() const { return parameters_; }
    const std::vector<Trained>& trained() const { return trained_; }
    const std::vector<Running>& running() const { return running_; }
    /// Writes the values that `fill` stores, those from `first` on, in PyTorch's shape OIHW, [out][in] or [channels].
    void set(std::size_t parameter, const std::function<void(std::span<float> values, std::size_t first)>& fill);

  private:
    Settings settings_;
    int classes_;
    std::size_t labels_;  ///< of a batch
    std::vector<model::Parameter> parameters_;
    StepState state_;
    engine::StepMemory memory_;
    Program program_;
    Tensor images_;
    std::vector<Trained> trained_;
    std::vector<Running> running_;
    std::map<std::string, int, std::less<>> algorithms_;
};

// The step.

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
