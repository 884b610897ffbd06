// The trial by which a step chooses cuDNN's attention, without its choice, and whole matrices on the host beside it.
#pragma once

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "tests/engine/layers/host_run.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/cudnn/library/plans.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <cmath>
#include <vector>

namespace roof::cudnn {

/// Way 0: our kernels; way 1: cuDNN's first engine.
class AttentionTrial : public Trial {
  public:
    /// The stream must outlive it. Throws Unsupported if cuDNN has no engine.
    AttentionTrial(const gpu::Stream& stream, const AttentionPass& pass) : Trial(stream), handle_(stream.get())
    {
        const Descriptor device = current_device();
        const std::vector<Engine> engines = engines_for(graph_of(pass), device);
        if (engines.empty()) throw Unsupported("cuDNN has no engine for " + text(pass) + " on this GPU");
        const Plan plan = plan_of(engines.front(), device);
        plans_.emplace_back(PlannedEngine{engines.front(), plan});
        add_passes(*this, pass, {{.plan = 0, .workspace = static_cast<std::size_t>(plan.workspace)}});
        place("trying attention", [&](const ir::Operation& operation, const Memory& memory) {
            return bound(operation, memory, stream, PlansByNumber{plans_, handle_});
        });
    }

    const std::string& engine() const { return plans_.front()->engine.name; }
    std::int64_t workspace() const { return plans_.front()->plan.workspace; }
    /// The last result of the way, run on fresh memory behind our own.
    std::vector<float> result(std::size_t way)
    {
        is_right(way);
        std::vector<std::byte> bytes = copied();
        return numbers(bytes, way);
    }
    /// The same by whole matrices in double, from what our kernels read.
    std::vector<float> by_whole_matrices()
    {
        is_right(0);
        std::vector<std::byte> bytes = copied();
        Program::Stage stage;
        stage.operations.push_back(ways()[0].timed.back());
        run_on_host(stage, Memory(program(), bytes.data()));
        return numbers(bytes, 0);
    }

  private:
    std::vector<std::byte> copied()
    {
        const Tensor& any = ways()[0].results.back();
        std::vector<std::byte> bytes(program().place());
        gpu::check(cudaMemcpy(bytes.data(), memory().at<std::byte>(any) - program().offset(any), bytes.size(),
                              cudaMemcpyDeviceToHost));
        return bytes;
    }
    std::vector<float> numbers(std::vector<std::byte>& bytes, std::size_t way)
    {
        const Tensor& tensor = ways()[way].results.back();
        const Values values(Memory(program(), bytes.data()), tensor);
        std::vector<float> all;
        for (std::size_t k = 0; k < tensor.elements(); ++k) all.push_back(values[k]);
        return all;
    }

    Handle handle_;
    NumberedPlans plans_;
};

/// The distance as a share of the length of `due`.
inline double distance_of(const std::vector<float>& found, const std::vector<float>& due)
{
    double apart = 0, length = 0;
    for (std::size_t k = 0; k < due.size(); ++k) {
        apart += std::pow(static_cast<double>(found[k]) - static_cast<double>(due[k]), 2);
        length += std::pow(static_cast<double>(due[k]), 2);
    }
    return std::sqrt(apart / length);
}

}  // namespace roof::cudnn
