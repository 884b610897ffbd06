// The registry: the benches of this binary, the machine they run on, and the parts this binary or machine lacks, each with its
// reason. A part is a folder that exports `void add_<part>(BenchRegistry&)`.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/profiler.hpp"

#include <functional>
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

/// A part whose libraries cost time and memory: it adds itself when something of its kind of device is first looked for.
struct DeferredPart {
    std::string device_kind;
    std::function<void(BenchRegistry&)> add;
};

/// What a registry offers does not depend on when its deferred parts are opened, so that a const one opens them too. The machine is
/// described as far as parts are open; a reference to one of its devices lasts until the next is opened.
class BenchRegistry {
  public:
    BenchRegistry() : contents_(std::make_shared<Contents>()) {}
    BenchRegistry(BenchRegistry&&) = default;
    BenchRegistry& operator=(BenchRegistry&&) = default;
    ~BenchRegistry() = default;

    /// Throws std::logic_error if that device kind has a bench of that name already.
    void add(std::unique_ptr<Bench> bench);
    void add(AbsentPart part);
    void add(Profiler profiler);
    void add(DeferredPart part);
    /// Parts fill in what they know of the machine; the CPU part lays the ground.
    Machine& machine() { return contents_->machine; }
    const Machine& machine() const { return contents_->machine; }

    /// This process is not to obey its command line but `follow`, which another process directs, and which returns the exit
    /// status: a rank of data-parallel training.
    void follow_with(std::function<int(const BenchRegistry&)> follow) { contents_->follow = std::move(follow); }
    /// Empty in a process that obeys its command line.
    const std::function<int(const BenchRegistry&)>& follower() const { return contents_->follow; }
    /// Lasts as long as the registry.
    void keep(std::shared_ptr<void> thing) { contents_->kept.push_back(std::move(thing)); }

    /// Null if there is none of that name for that kind of device: one plan runs on every device that has the bench. Opens parts
    /// for that kind until there is one.
    const Bench* find(std::string_view name, std::string_view device_kind) const;
    /// Null if no part of this build sees into that kind of device. Opens parts likewise.
    const Profiler* profiler(std::string_view device_kind) const;

    /// For who tells of the whole machine.
    void open_all() const;
    /// All there are: opens all parts.
    const std::vector<std::unique_ptr<Bench>>& benches() const;
    const std::vector<AbsentPart>& absent() const;
    /// Names of all benches, those of absent parts included, sorted. Opens all parts.
    std::vector<std::string> bench_names() const;

  private:
    struct Contents {
        Machine machine;
        std::vector<std::unique_ptr<Bench>> benches;
        std::vector<AbsentPart> absent;
        std::function<int(const BenchRegistry&)> follow;
        std::vector<std::shared_ptr<void>> kept;
        std::vector<Profiler> profilers;
        std::vector<DeferredPart> deferred;
    };

    explicit BenchRegistry(std::shared_ptr<Contents> contents) : contents_(std::move(contents)) {}
    const Bench* find_open(std::string_view name, std::string_view device_kind) const;
    const Profiler* open_profiler(std::string_view device_kind) const;
    /// Opens the first part for that kind of device, any if empty; false if none is left.
    bool open_next(std::string_view device_kind) const;

    std::shared_ptr<Contents> contents_;
};

}  // namespace roof
