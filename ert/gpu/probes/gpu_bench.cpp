#include "ert/gpu/probes/gpu_bench.hpp"

#include "ert/gpu/clock_watch.hpp"
#include "ert/gpu/probes/device_facts.hpp"

#include <chrono>
#include <map>
#include <thread>

namespace roof::gpu {

namespace {

class DescribedBench final : public Bench {
  public:
    DescribedBench(GpuBench bench, std::shared_ptr<const Nvml> nvml)
        : Bench({bench.name, bench.role, "gpu", bench.description}), bench_(std::move(bench)), nvml_(std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override { return bench_.axes(machine); }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override
    {
        id_of(device);  // throws for a device that is no GPU
        const auto own = bench_.unsupported_reason ? bench_.unsupported_reason(point, machine, device) : std::nullopt;
        return own ? own : missing_in_build(device);
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override
    {
        const DeviceId id = id_of(device);
        const CurrentDevice current(id);
        if (nvmlDevice_st* const known = device_in(nvml_.get(), id); known != nullptr)
            wait_for_clock(
                [&] { return nvml_->look(known); }, highest_clock(id),
                [](Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); });
        return bench_.create(
            {point, machine, device, id, nvml_, turns_[device.name + " " + point.without("round").str()]});
    }

  private:
    GpuBench bench_;
    std::shared_ptr<const Nvml> nvml_;
    mutable std::map<std::string, Turns> turns_;
};

}  // namespace

std::unique_ptr<Bench> make_bench(GpuBench bench, std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<DescribedBench>(std::move(bench), std::move(nvml));
}

}  // namespace roof::gpu
