// Probe "bandwidth": the rate at which bytes move between the registers and whichever level of memory holds the working set.
//
// Launched: on every thread, a generated loop over its own arrays, each walked from end to end many times. The working set
//   is the sum over all arrays and threads; swept from 8 KiB up, it passes through every cache into memory.
// Saturates: the load and store ports while the set fits L1; beyond, the path to the level that holds it. Which level that
//   is follows from the sweep alone; no reported cache size is used here.
// Counts: the bytes that the instructions read and write, per 8-byte element: load 8, store 8, copy 16, triad 24 (and 2
//   FLOPs). Not counted: the line that a missing store reads first (write-allocate), and what prefetchers fetch in vain; so
//   store, copy and triad move up to twice, 3/2 and 4/3 of their count beyond the caches.
// Falsified by: a sum, copy or triad that differs from the host's by one bit; a loop whose decoded loads and stores are not
//   those counted; an L1 rate above ports x width x clock.
#pragma once

#include "cpu/buffer.hpp"
#include "cpu/watch.hpp"
#include "ert/method/bench.hpp"

#include <vector>

namespace roof::cpu {

class BandwidthBench : public Bench {
  public:
    /// `processors`: in the order in which threads take them.
    BandwidthBench(std::vector<int> processors, std::shared_ptr<CoreHistory> history);

    std::string_view name() const override { return "bandwidth"; }
    Role role() const override { return Role::bandwidth; }
    std::string_view sentence() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> obstacle(const Point& point, const Machine& machine,
                                        const Device& device) const override;
    /// A subject borrows the bench's memory: only the one made last may be launched.
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::vector<int> processors_;
    std::shared_ptr<CoreHistory> history_;
    std::shared_ptr<Workspace> workspace_;
};

/// Two for each octave, from 8 KiB to 256 MiB or four times the largest level of cache reported, all its instances
/// together: what is reported only ever makes the sweep longer.
std::vector<std::string> usual_working_sets(const Machine& machine);

}  // namespace roof::cpu
