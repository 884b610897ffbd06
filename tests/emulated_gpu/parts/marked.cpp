#include "tests/emulated_gpu/parts/marked.hpp"

namespace roof::emulated {

namespace {

constexpr const char* words = "Emulated, not a measurement";

class MarkedSubject final : public Subject {
  public:
    explicit MarkedSubject(std::unique_ptr<Subject> subject) : subject_(std::move(subject)) {}

    Work work() const override { return marked(subject_->work()); }
    void launch(Trace& trace) override { subject_->launch(trace); }
    bool launch_to(Phase last, Trace& trace) override { return subject_->launch_to(last, trace); }
    void check() override { subject_->check(); }
    std::vector<TimedPart> parts() const override
    {
        std::vector<TimedPart> all = subject_->parts();
        for (TimedPart& part : all) part.work = marked(part.work);
        return all;
    }
    std::string variant() const override { return "Emulated: " + subject_->variant(); }
    std::vector<std::string> remarks() const override
    {
        std::vector<std::string> all = subject_->remarks();
        all.insert(all.begin(), words);
        return all;
    }
    Bytes memory() const override { return subject_->memory(); }

  private:
    static Work marked(Work work)
    {
        work.known = Known::simulated;
        return work;
    }

    std::unique_ptr<Subject> subject_;
};

/// `from` stays in its own registry, which is kept.
class MarkedBench final : public Bench {
  public:
    explicit MarkedBench(const Bench& from)
        : Bench({from.name(), from.role(), from.device_kind(), std::string(words) + ". " + from.description(),
                 Known::emulated}),
          from_(from)
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override { return from_.axes(machine); }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override
    {
        return from_.unsupported_reason(point, machine, device);
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override
    {
        return std::make_unique<MarkedSubject>(from_.create(point, machine, device));
    }

  private:
    const Bench& from_;
};

}  // namespace

void add_marked(BenchRegistry& registry, void (*add_part)(BenchRegistry&))
{
    const auto real = std::make_shared<BenchRegistry>();
    add_part(*real);
    Machine& machine = registry.machine();
    const Machine& found = real->machine();
    machine.devices.insert(machine.devices.end(), found.devices.begin(), found.devices.end());
    machine.capabilities.insert(machine.capabilities.end(), found.capabilities.begin(), found.capabilities.end());
    machine.versions.insert(found.versions.begin(), found.versions.end());
    machine.inconsistencies.insert(machine.inconsistencies.end(), found.inconsistencies.begin(),
                                   found.inconsistencies.end());
    // Another machine than the real one, so that neither uses the other's calibrations.
    if (!machine.name.ends_with("-emulated")) machine.name += "-emulated";
    if (!found.devices.empty())
        machine.inconsistencies.push_back("its GPUs are emulated: their rows are no measurements");
    for (const auto& bench : real->benches()) registry.add(std::make_unique<MarkedBench>(*bench));
    registry.keep(real);
}

}  // namespace roof::emulated
