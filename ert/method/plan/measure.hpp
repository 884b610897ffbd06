// The measuring loop: every ceiling and every training step goes through these two functions.
#pragma once

#include "ert/base/error.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

#include <filesystem>
#include <functional>

namespace roof {

/// Called after each launch, warm-up included; returning false interrupts the row.
using SampleObserver = std::function<bool(const Sample& sample, int launches_so_far)>;

/// Warm up, check, then launch until the rule is content. Throws what the subject throws; throws Interrupted when the
/// observer says so.
std::vector<Sample> collect(Subject& subject, const StoppingOptions& options, const Clock& clock,
                            std::vector<PartMeasurement>& parts, const SampleObserver& observer);

/// The same with a trace of the caller's, for as many parts as the subject declares.
std::vector<Sample> collect(Subject& subject, Trace& trace, const StoppingOptions& options, const Clock& clock,
                            std::vector<PartMeasurement>& parts, const SampleObserver& observer);

/// One item to one row. Errors of the subject become the row's status and reason; only Interrupted and InputError pass. What an
/// item that is to be profiled records goes to `folder` before this returns; what hinders that is a remark of the row.
Measurement measure(const Item& item, const BenchRegistry& registry, const Clock& clock,
                    const SampleObserver& observer = {}, const std::filesystem::path& folder = {});

/// A person pressed Ctrl-C: the row under way is dropped.
class Interrupted : public Error {
  public:
    Interrupted() : Error("interrupted") {}
};

}  // namespace roof
