// Where a program's threads are while it runs: samples of their place in the code, in user mode, by a clock of the
// kernel (perf_event_open, no hardware counter). Each stands for some time of the wall's clock.
#pragma once

#include "ert/base/units.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roof {

struct SampledPlace {
    std::string object;       ///< path of the program or library; "[vdso]": the kernel's; empty: in no file
    std::uint64_t place = 0;  ///< in the file, in bytes
    int samples = 0;
    Seconds time;  ///< of the wall's clock: what threads did at the same time is shared among them
};

/// Samples the programs that the calling thread starts, with their threads and programs.
class Sampler {
  public:
    /// Throws Unsupported with the system's reason.
    explicit Sampler(Seconds period);
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    void start();
    void stop();
    /// All places, after stop(). `lost`: samples that were not kept.
    std::vector<SampledPlace> places(int& lost) const;
    /// The most threads of a process that had a tenth of its samples or more; 0 without samples. Threads that do little
    /// are not counted, nor are processes.
    int threads() const;

  private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

}  // namespace roof
