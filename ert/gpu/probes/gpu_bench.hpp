// What all benches of a GPU have in common: their kind of device, what they refuse, and the device that is current while a subject is
// made.
#pragma once

#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

class GpuBench : public Bench {
  public:
    /// Unless a bench says otherwise: what every kernel of this build needs.
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;

    /// As Bench::create(); Error if the device is no GPU.
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const final;

  protected:
    /// `nvml` may be null.
    GpuBench(BenchTraits traits, std::shared_ptr<const Nvml> nvml) : Bench(std::move(traits)), nvml_(std::move(nvml)) {}

    const std::shared_ptr<const Nvml>& nvml() const { return nvml_; }

  private:
    /// `device`, whose number is `id`, is current, and the point is supported.
    virtual std::unique_ptr<Subject> make_here(const Point& point, const Machine& machine, const Device& device,
                                               DeviceId id) const = 0;

    std::shared_ptr<const Nvml> nvml_;
};

}  // namespace roof::gpu
