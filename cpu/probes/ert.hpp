// Probe "ert": the curve under the roofs, as the Empirical Roofline Toolkit measures it: the rate of work of a given
// arithmetic intensity over a given working set.
//
// Launched: on every thread, a generated loop over its own array, again and again; each vector is loaded once, and as many
//   multiply-adds are done with the vectors as the intensity asks for. Width and length of the loop are found by trying.
// Saturates: the path to the level that holds the working set where the intensity is low, the multiply-add pipes where it is
//   high; the knee in between is to fall where the two roofs cross.
// Counts: 2 FLOPs for each multiply-add in every lane, and the bytes loaded. Both exact, so intensity is too.
// Falsified by: sums that differ from the host's by one bit (the numbers are such that no order of adding rounds); a loop
//   whose decoded loads and multiply-adds are not those counted; a point above a roof.
#pragma once

#include "cpu/kernels/intensity_kernel.hpp"
#include "cpu/noise_monitor.hpp"
#include "cpu/probes/point_history.hpp"
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"
#include "ert/method/bench/bench.hpp"

#include <map>
#include <memory>
#include <tuple>

namespace roof::cpu {

class ErtBench : public Bench {
  public:
    ErtBench(Processors processors, std::shared_ptr<CoreHistory> history, std::shared_ptr<Workspace> workspace);

    std::string_view name() const override { return "ert"; }
    Role role() const override { return Role::compute; }
    std::string_view description() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    /// A subject borrows the workspace: of all that share it, only the one made last may be launched.
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

    /// What outlives the subjects. Kernels by instruction set, precision, ratio and length.
    struct Stock {
        std::shared_ptr<CoreHistory> history;
        std::shared_ptr<Workspace> workspace;
        std::map<std::tuple<std::string_view, Precision, int, int, int>, IntensityKernel> kernels{};
        PointHistory rounds{};
    };

  private:
    Processors processors_;
    std::shared_ptr<Stock> stock_;
};

/// FLOPs per byte, of "1/32" … "16". Throws InputError naming the legal words.
double parse_intensity(std::string_view word);

}  // namespace roof::cpu
