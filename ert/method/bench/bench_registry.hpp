// The registry: the benches of this binary, the machine, and the parts that are absent here, each with its reason. A
// part is a folder that exports `void add_<part>(BenchRegistry&)`.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/power.hpp"
#include "ert/method/bench/profiler.hpp"
#include "ert/method/bench/trace.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof {

class BenchRegistry;

struct AbsentPart {
    std::string name;
    std::string reason;
    std::string remedy;
    std::string benches{};  ///< names of those it would add, separated by spaces
};

/// A part that is opened only when something of its kind of device is first looked for, since its libraries cost time
/// and memory.
struct DeferredPart {
    std::string device_kind;
    std::function<void(BenchRegistry&)> add;
};

/// A const registry opens deferred parts, too: its content does not depend on when they are opened. The machine's
/// description covers the open parts; a reference to one of its devices is valid until the next part is opened.
class BenchRegistry {
  public:
    BenchRegistry() : contents_(std::make_shared<Contents>()) {}
    BenchRegistry(BenchRegistry&&) = default;
    BenchRegistry& operator=(BenchRegistry&&) = default;
    ~BenchRegistry() = default;

    /// Throws std::logic_error if that device kind has a bench of that name already.
    void add(std::unique_ptr<Bench> bench);
    void add(AbsentPart part) { contents_->absent.push_back(std::move(part)); }
    void add(Profiler profiler) { contents_->profilers.push_back(std::move(profiler)); }
    void add(DeferredPart part) { contents_->deferred.push_back(std::move(part)); }
    /// Filled in by the parts, the CPU part first.
    Machine& machine() { return contents_->machine; }
    const Machine& machine() const { return contents_->machine; }

    /// `join` meets the other ranks of a launcher's job. Commands that measure call it; to the others the environment
    /// of a launcher says nothing.
    void join_with(std::function<void(BenchRegistry&)> join) { contents_->join = std::move(join); }
    void join()
    {
        if (contents_->join) contents_->join(*this);
    }
    /// For a rank of data-parallel training: this process runs `follow`, directed by another process, instead of its
    /// command line. `follow` returns the exit status.
    void follow_with(std::function<int(const BenchRegistry&)> follow) { contents_->follow = std::move(follow); }
    /// Empty in a process that runs its command line.
    const std::function<int(const BenchRegistry&)>& follower() const { return contents_->follow; }
    /// Watches the machine beside the launches of training steps.
    void watch_host_with(MakeHostMonitor make) { contents_->make_host_monitor = std::move(make); }
    /// Null where nothing watches.
    std::unique_ptr<HostMonitor> host_monitor() const
    {
        return contents_->make_host_monitor ? contents_->make_host_monitor() : nullptr;
    }
    /// Measures the power of devices of that kind.
    void measure_power_with(const std::string& device_kind, OpenPowerMeter open)
    {
        contents_->power_meters[device_kind] = std::move(open);
    }
    PowerMeter power_meter(const Device& device) const
    {
        const OpenPowerMeter& open = contents_->power_meters[device.kind];
        return open ? open(device) : PowerMeter{{}, "this build has none for a " + device.kind};
    }
    /// Keeps the object alive as long as the registry.
    void keep(std::shared_ptr<void> thing) { contents_->kept.push_back(std::move(thing)); }

    /// The bench of that name for that kind of device; null if there is none. Opens parts for that kind until one has
    /// it.
    const Bench* find(std::string_view name, std::string_view device_kind) const;
    /// The profiler for that kind of device; null if there is none. Opens parts likewise.
    const Profiler* profiler(std::string_view device_kind) const;

    /// Opens all deferred parts.
    void open_all() const;
    /// All benches; opens all parts.
    const std::vector<std::unique_ptr<Bench>>& benches() const;
    const std::vector<AbsentPart>& absent() const;
    /// Names of all benches, those of absent parts included, sorted. Opens all parts.
    std::vector<std::string> bench_names() const;

  private:
    struct Contents {
        Machine machine;
        std::vector<std::unique_ptr<Bench>> benches;
        std::vector<AbsentPart> absent;
        std::function<void(BenchRegistry&)> join;
        std::function<int(const BenchRegistry&)> follow;
        MakeHostMonitor make_host_monitor;
        std::map<std::string, OpenPowerMeter> power_meters;
        std::vector<std::shared_ptr<void>> kept;
        std::vector<Profiler> profilers;
        std::vector<DeferredPart> deferred;
    };

    explicit BenchRegistry(std::shared_ptr<Contents> contents) : contents_(std::move(contents)) {}
    const Bench* find_open(std::string_view name, std::string_view device_kind) const;
    /// Opens the next part for that kind of device, or of any kind if empty; false if none is left.
    bool open_next(std::string_view device_kind) const;

    std::shared_ptr<Contents> contents_;
};

}  // namespace roof
