// Probe "flops": the arithmetic ceiling of a core, and of all of them together.
//
// Launched: on every thread, a generated loop of at least 24 operations of each kind in the mix, on independent register
//   chains; no memory is touched inside the loop.
// Saturates: the floating-point pipes that the mix names. `fma` is what most tools call the peak. Cores with add pipes
//   beside their multiply-add pipes do more, and `fma+add` shows it; `mul+add` is the roof of code built without fma.
//   The factor is -1, so multipliers toggle little: where power limits the clock, real data may run somewhat slower.
// Counts: 2 FLOPs per multiply-add, 1 per multiplication or addition, in every lane. Bytes: none.
// Falsified by: a result that differs in one bit from the host reference; a loop whose decoded instructions are not those
//   counted; a rate above clock x pipes x lanes; or any other mix, of any width, that runs faster and is named the same.
#pragma once

#include "cpu/watch.hpp"
#include "ert/method/bench.hpp"

#include <vector>

namespace roof::cpu {

class FlopsBench : public Bench {
  public:
    /// `processors`: in the order in which threads take them.
    FlopsBench(std::vector<int> processors, std::shared_ptr<CoreHistory> history)
        : processors_(std::move(processors)), history_(std::move(history))
    {
    }

    std::string_view name() const override { return "flops"; }
    Role role() const override { return Role::compute; }
    std::string_view sentence() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> obstacle(const Point& point, const Machine& machine,
                                        const Device& device) const override;
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::vector<int> processors_;
    std::shared_ptr<CoreHistory> history_;
};

}  // namespace roof::cpu
