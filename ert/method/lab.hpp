// The lab: the benches of this binary, the machine they run on, and the parts this binary or machine lacks, each with its
// reason. A part is a folder that exports `void add_<part>(Lab&)`.
#pragma once

#include "ert/method/bench.hpp"
#include "ert/method/profiler.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

struct AbsentPart {
    std::string name;
    std::string reason;
    std::string remedy;
};

class Lab {
  public:
    /// Throws std::logic_error if that device kind has a bench of that name already.
    void add(std::unique_ptr<Bench> bench);
    void add(AbsentPart part);
    void add(Profiler profiler);
    /// Parts fill in what they know of the machine; the CPU part lays the ground.
    Machine& machine() { return machine_; }
    const Machine& machine() const { return machine_; }

    /// Null if there is none of that name for that kind of device: one plan runs on every device that has the bench.
    const Bench* find(std::string_view name, std::string_view device_kind) const;
    const std::vector<std::unique_ptr<Bench>>& benches() const { return benches_; }
    const std::vector<AbsentPart>& absent() const { return absent_; }
    /// Null if no part of this build sees into that kind of device.
    const Profiler* profiler(std::string_view device_kind) const;

  private:
    Machine machine_;
    std::vector<std::unique_ptr<Bench>> benches_;
    std::vector<AbsentPart> absent_;
    std::vector<Profiler> profilers_;
};

}  // namespace roof
