#include "tests/emulated_gpu/parts/trap_bench.hpp"

#include "ert/gpu/check.hpp"
#include "ert/gpu/device.hpp"
#include "tests/emulated_gpu/planted/planted.hpp"

namespace roof::emulated {
namespace {

class TrapSubject final : public Subject {
  public:
    explicit TrapSubject(gpu::DeviceId id) : id_(id) {}

    Work work() const override { return {{}, Bytes{1}, Bytes{1}, Known::analytic}; }
    void launch(Trace&) override
    {
        const gpu::CurrentDevice current(id_);
        planted::enqueue_trap(nullptr);
        gpu::check(cudaDeviceSynchronize());
    }
    void check() override {}

  private:
    gpu::DeviceId id_;
};

class TrapBench final : public Bench {
  public:
    TrapBench() : Bench({"trap", Role::latency, "gpu", "A kernel that traps."}) {}

    std::vector<Axis> axes(const Machine&) const override { return {}; }
    std::optional<std::string> unsupported_reason(const Point&, const Machine&, const Device&) const override
    {
        return std::nullopt;
    }
    std::unique_ptr<Subject> create(const Point&, const Machine&, const Device& device) const override
    {
        return std::make_unique<TrapSubject>(gpu::id_of(device));
    }
};

}  // namespace

void add_trap(BenchRegistry& registry)
{
    registry.add(std::make_unique<TrapBench>());
}

}  // namespace roof::emulated
