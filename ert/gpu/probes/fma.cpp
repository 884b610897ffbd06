#include "ert/gpu/probes/fma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/fma_kernel.hpp"
#include "ert/gpu/probes/launch_length.hpp"

#include <cmath>
#include <limits>

namespace roof::gpu {

namespace {

/// Growth by a few units in the last place per step: the values stay normal numbers with busy mantissas, and a chain of
/// one step more or less ends elsewhere. At the most steps of a launch they have grown by e^16.
template <class Real>
constexpr Real growth = Real(1) / Real(1 << 20);
constexpr int most_steps = 1 << 24;
constexpr int pilot_steps = 1 << 12;

template <class Real>
std::vector<Real> starting_values()
{
    std::vector<Real> starts(fma_chains * fma_threads_per_block);
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = Real(1) + Real(i) / Real(starts.size());
    return starts;
}

template <class Real>
class FmaSubject final : public Subject {
  public:
    explicit FmaSubject(DeviceId id)
        : id_(id),
          blocks_(attribute(id, cudaDevAttrMultiProcessorCount) * resident_fma_blocks<Real>()),
          starts_(starting_values<Real>()),
          device_starts_(starts_.size(), "starting values of the FMA chains"),
          sums_(static_cast<std::size_t>(blocks_) * fma_threads_per_block, "sums of the FMA chains")
    {
        device_starts_.write(starts_);
        const Seconds pilot = pilot_time(stream_, [this] { enqueue(pilot_steps); });
        steps_ = static_cast<int>(repeats_for_launch(pilot, most_steps / pilot_steps)) * pilot_steps;
    }

    Work work() const override
    {
        const double fmas = 1.0 * blocks_ * fma_threads_per_block * fma_chains * steps_;
        return {Flops{2 * fmas}, {}, {}, Known::analytic};
    }

    void launch(Trace&) override
    {
        const CurrentDevice current(id_);
        enqueue(steps_);
        stream_.synchronize();
    }

    void check() override
    {
        for (const int thread : {0, 37, fma_threads_per_block - 1}) {
            const Real expected = reference(thread);
            for (int block = 0; block < blocks_; ++block) {
                const auto at =
                    static_cast<std::size_t>(block) * fma_threads_per_block + static_cast<std::size_t>(thread);
                const Real found = sums_.read(at, 1).front();
                if (found == expected) continue;
                throw Error("FMA chains of thread " + std::to_string(thread) + ", block " + std::to_string(block) +
                            " sum to " + std::to_string(found) + ", not " + std::to_string(expected));
            }
        }
    }

    Bytes memory() const override { return {static_cast<double>(device_starts_.bytes() + sums_.bytes())}; }

  private:
    void enqueue(int steps)
    {
        enqueued_steps_ = steps;
        enqueue_fma<Real>({.starts = device_starts_.data(),
                           .sums = sums_.data(),
                           .factor = Real(1) + growth<Real>,
                           .addend = growth<Real>,
                           .blocks = blocks_,
                           .steps = steps},
                          stream_.get());
    }

    /// An FMA rounds once on either side, so host and device agree to the last bit.
    Real reference(int thread) const
    {
        Real sum = 0;
        for (int chain = 0; chain < fma_chains; ++chain) {
            Real x = starts_[static_cast<std::size_t>(chain * fma_threads_per_block + thread)];
            for (int step = 0; step < enqueued_steps_; ++step) x = std::fma(x, Real(1) + growth<Real>, growth<Real>);
            sum += x;
        }
        return sum;
    }

    DeviceId id_;
    int blocks_;
    std::vector<Real> starts_;
    Buffer<Real> device_starts_;
    Buffer<Real> sums_;
    Stream stream_;
    int steps_ = pilot_steps;
    int enqueued_steps_ = 0;  ///< of the last launch or pilot: what the sums hold
};

class FmaBench final : public Bench {
  public:
    std::string_view name() const override { return "flops"; }
    Role role() const override { return Role::compute; }
    std::string_view sentence() const override
    {
        return "Fused multiply-adds, counted as two operations, of independent chains held in registers, on all "
               "multiprocessors.";
    }
    std::string_view device_kind() const override { return "gpu"; }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {
            {.name = "operation", .meaning = "what each chain does", .usual = {"fma"}, .legal = {"fma"}},
            {.name = "isa", .meaning = "the pipe: CUDA cores", .usual = {"cuda"}, .legal = {"cuda"}},
            {.name = "precision", .meaning = "number format", .usual = {"fp32", "fp64"}, .legal = {"fp32", "fp64"}},
        };
    }

    std::optional<std::string> obstacle(const Point&, const Machine&, const Device&) const override { return {}; }

    std::unique_ptr<Subject> make(const Point& point, const Machine&, const Device& device) const override
    {
        const DeviceId id = id_of(device);
        const CurrentDevice current(id);
        if (point.precision() == Precision::fp64) return std::make_unique<FmaSubject<double>>(id);
        return std::make_unique<FmaSubject<float>>(id);
    }
};

}  // namespace

std::unique_ptr<Bench> fma_bench()
{
    return std::make_unique<FmaBench>();
}

}  // namespace roof::gpu
