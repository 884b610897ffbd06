// A probe tries several variants of the same work when it is made, and repeats the fastest in each launch, so often
// that neither the events' resolution nor the cost of a launch shows in its rate.
#pragma once

#include "ert/gpu/kernels/launch.hpp"
#include "ert/gpu/noise_monitor.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/method/bench/subject.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace roof::gpu {

/// Launches are sized to last about this long, trials a part of it.
inline constexpr Seconds launch_length{0.004};
inline constexpr Seconds trial_length{0.001};

struct Variant {
    std::string name;
    Work work;                                       ///< of one repetition
    std::function<void(long long repeats)> enqueue;  ///< puts that many repetitions into the stream
};

/// That instructions of tensor cores ran on no card of this compute capability, by its file; empty of others.
std::string untried(const GpuPoint& at);

/// The work of a probe that counts only FLOPs, and of one that counts only bytes.
Work work_of_flops(double flops);
Work work_of_bytes(double bytes);

struct Tuned {
    std::size_t variant = 0;  ///< index
    long long repeats = 1;    ///< of a launch
};

/// The variant with the most FLOPs, or if it has none bytes, per second, after launches long enough for the clock to
/// settle. One launch of it takes about `length`. No launch repeats more than `max_repeats` times. `variants` is not
/// empty. `turns`: those of earlier rounds of the point, to which it adds. Throws Error.
Tuned tune(const MonitoredStream& stream, const std::vector<Variant>& variants, long long max_repeats, Turns& turns,
           Seconds length = launch_length);

/// Repeats one variant in each launch. A probe derives from it, calls settle_on_fastest() at the end of its
/// constructor, and adds check(). Its memory must be filled by then.
class TunedSubject : public Subject {
  public:
    Work work() const override;
    void launch(Trace& trace) override;
    std::string variant() const override { return chosen_.name; }
    std::vector<std::string> remarks() const override;

  protected:
    /// `holds`: as for MonitoredStream.
    explicit TunedSubject(const GpuPoint& at, bool holds = true)
        : stream_(at.id, at.nvml, holds), turns_(at.turns), untried_(untried(at))
    {
    }

    /// As tune(); returns the index of the variant chosen.
    std::size_t settle_on_fastest(const std::vector<Variant>& variants, long long max_repeats,
                                  Seconds length = launch_length);

    const MonitoredStream& stream() const { return stream_; }
    void watch(std::function<void(Seconds)> while_running) { stream_.watch(std::move(while_running)); }
    /// That many repetitions of the chosen variant, without monitoring.
    void run(long long repeats = 1) const;

  private:
    MonitoredStream stream_;
    Turns& turns_;
    std::string untried_;
    Variant chosen_;
    long long repeats_ = 1;
};

/// A launch of a kernel as a variant.
template <class Launch>
struct KernelVariant {
    std::string name;
    Work work;  ///< of one repetition
    Kernel<Launch> kernel;
    Launch launch;                     ///< of one repetition, without the reading of the clock
    bool has_blocks_for_each = false;  ///< more repetitions take more blocks

    /// Of all blocks.
    std::size_t threads() const
    {
        return static_cast<std::size_t>(launch.blocks) * static_cast<std::size_t>(kernel.threads);
    }
};

/// A probe whose variants are launches of kernels, which repeat their work as often as their member `repetitions` says.
template <class Launch, int Launch::*repetitions>
class KernelSubject : public TunedSubject {
  protected:
    using Variants = std::vector<KernelVariant<Launch>>;
    using TunedSubject::TunedSubject;

    /// As that of TunedSubject.
    std::size_t settle_on_fastest(const Variants& variants, long long max_repeats)
    {
        std::vector<Variant> all;
        for (const KernelVariant<Launch>& one : variants)
            all.push_back({one.name, one.work, [this, one](long long repeats) { enqueue(one, repeats); }});
        const std::size_t fastest = TunedSubject::settle_on_fastest(all, max_repeats);
        chosen_ = variants[fastest];
        return fastest;
    }
    void enqueue(const KernelVariant<Launch>& variant, long long repeats) const
    {
        Launch launch = variant.launch;
        launch.reading = stream().reading();
        launch.*repetitions = static_cast<int>(repeats);
        if (variant.has_blocks_for_each) launch.blocks *= launch.*repetitions;
        gpu::enqueue(variant.kernel, launch, stream().get());
    }
    const KernelVariant<Launch>& chosen() const { return chosen_; }

    /// Makes an array as large as the variants need, whose size is what `size` says of each, and tells it to all.
    template <class Element, class Pointer, class Size>
    static Buffer<Element> array_for(Variants& variants, Pointer Launch::*array, const std::string& what_for, Size size)
    {
        std::size_t most = 0;
        for (const KernelVariant<Launch>& one : variants) most = std::max(most, size(one));
        Buffer<Element> made(most, what_for);
        for (KernelVariant<Launch>& one : variants) one.launch.*array = made.data();
        return made;
    }

  private:
    KernelVariant<Launch> chosen_{};
};

}  // namespace roof::gpu
