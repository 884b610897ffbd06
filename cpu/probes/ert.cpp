// Probe "ert": the rate of work with a given arithmetic intensity over a given working set, as in the Empirical
// Roofline Toolkit.
//
// Launched: on every thread, a generated loop over its own array, repeatedly; each vector is loaded once, and the
//   intensity sets the number of multiply-adds on it. Trials choose the width and length of the loop.
// Saturates: at low intensity the path to the level that holds the working set, at high intensity the multiply-add
//   pipes. The ridge point should lie where the two ceilings cross.
// Counts: 2 FLOPs per multiply-add in every lane, and the bytes loaded. Both are exact, and so is the intensity.
// Falsified by: sums that differ from the host's by one bit (the values are such that no order of additions rounds); a
//   loop whose decoded loads and multiply-adds are not those counted; a point above a ceiling.
#include "cpu/probes/probes.hpp"

#include "cpu/kernels/intensity_kernel.hpp"
#include "cpu/probes/checks.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/pass_driver.hpp"
#include "ert/base/names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace roof::cpu {
namespace {

/// Data that outlives the subjects. Kernels are keyed by instruction set, precision, ratio and length.
struct Stock {
    std::shared_ptr<CoreHistory> history;
    std::shared_ptr<Workspace> workspace;
    std::map<std::tuple<std::string_view, Precision, int, int, int>, IntensityKernel> kernels{};
    PointHistory rounds{};
};

struct IntensityKeyword {
    std::string_view name;
    double flops_per_byte;
};

constexpr std::array<IntensityKeyword, 10> intensities{{
    {"1/32", 1.0 / 32},
    {"1/16", 1.0 / 16},
    {"1/8", 1.0 / 8},
    {"1/4", 1.0 / 4},
    {"1/2", 1.0 / 2},
    {"1", 1},
    {"2", 2},
    {"4", 4},
    {"8", 8},
    {"16", 16},
}};

struct Loops {
    std::vector<Isa> isas;
    Precision precision;
    FmaRatio ratio;
};

/// The instruction sets with a multiply-add that takes a memory operand.
std::vector<Isa> isas_with_fma(const Machine& machine)
{
    std::vector<Isa> isas;
    if (!has_feature(machine, "fma")) return isas;
    for (const std::string& name : machine.isa) {
        const Isa& isa = parse_isa(name);
        if (isa.encoding == Encoding::vex || isa.encoding == Encoding::evex) isas.push_back(isa);
    }
    return isas;
}

Loops loops_of(const Point& point, const Machine& machine)
{
    const double intensity = parse_intensity(point.text("intensity"));
    return {isas_with_fma(machine), point.precision(), fma_ratio(intensity, point.precision())};
}

std::optional<Extent> array_extent(const Loops& loops, const Point& point)
{
    std::vector<std::size_t> iterations;
    for (const Isa& isa : loops.isas)
        for (const int length : IntensityKernel::lengths(loops.ratio))
            iterations.push_back(static_cast<std::size_t>(length * isa.register_bytes));
    const long long share = point.integer("working_set") / point.integer("threads");
    return whole_iterations(static_cast<std::size_t>(share), std::move(iterations));
}

class ErtSubject : public Subject {
  public:
    ErtSubject(const Loops& loops, const Extent& extent, const std::vector<int>& processors, std::string id,
               std::shared_ptr<Stock> stock)
        : loops_(loops),
          extent_(extent),
          id_(std::move(id)),
          stock_(std::move(stock)),
          factor_(1, 64, loops.precision),
          team_(processors, stock_->history)
    {
        factor_.broadcast(0, 1);
        const Mapping mapping;
        stock_->workspace->reserve(mapping, team_.size(), extent_.bytes);
        from_ = stock_->workspace->place(mapping, team_.size(), extent_.bytes, stock_->rounds.next(id_));
        team_.run([&](int thread) {
            stock_->workspace->slice(mapping, thread).ensure(ert_writer(loops_.precision), from_, extent_.bytes);
        });
        for (const Isa& isa : loops_.isas) add_loops(isa);
        pass_driver_.emplace(team_, extent_, variants());
    }

    Work work() const override
    {
        const Bytes loaded{pass_driver_->bytes_per_launch() * team_.size()};
        const IntensityKernel& kernel = *tried_.front().kernel;
        const double per_byte = kernel.flops_per_iteration() / static_cast<double>(kernel.bytes_per_iteration());
        return {Flops{loaded.value * per_byte}, loaded, loaded, Known::analytic};
    }

    void launch(Trace& trace) override { pass_driver_->launch(trace); }

    void check() override
    {
        const std::string what = id_ + " " + variant();
        if (stock_->rounds.is_checked(what)) return;
        const std::size_t passes = std::min<std::size_t>(pass_driver_->passes(), 2);
        const auto loop = std::ranges::find(tried_, variant(), &Loop::name);
        const auto element = static_cast<std::size_t>(traits(loops_.precision).storage_bytes);
        for (const Segment& segment : pass_driver_->samples()) {
            pass_driver_->run(segment, passes);
            const std::size_t first = (from_ + segment.from) / element;
            team_.run(
                [&](int thread) { check_ert(*loop->kernel, first, segment.bytes, passes, loop->results[thread]); });
        }
        stock_->rounds.checked(what);
    }

    std::string variant() const override { return pass_driver_->fastest(); }
    Bytes memory() const override { return Bytes{static_cast<double>(extent_.bytes) * team_.size()}; }

  private:
    struct Loop {
        std::string name;
        const IntensityKernel* kernel;
        std::vector<RegisterFile> results;  ///< one per thread
    };

    void add_loops(const Isa& isa)
    {
        for (const int length : IntensityKernel::lengths(loops_.ratio)) {
            if (extent_.step % static_cast<std::size_t>(length * isa.register_bytes) != 0) continue;
            const FmaRatio& ratio = loops_.ratio;
            const IntensityKernel& kernel =
                stock_->kernels
                    .try_emplace({isa.name, loops_.precision, ratio.fmas, ratio.loads, length}, isa, loops_.precision,
                                 ratio, length)
                    .first->second;
            const RegisterFile result(kernel.accumulators(), isa.register_bytes, loops_.precision);
            tried_.push_back({std::string(isa.name) + ", " + std::to_string(length) + " per iteration", &kernel,
                              std::vector<RegisterFile>(static_cast<std::size_t>(team_.size()), result)});
        }
    }

    std::vector<Variant> variants()
    {
        std::vector<Variant> all;
        for (Loop& loop : tried_) {
            all.push_back({loop.name, [this, &loop](int thread, std::size_t passes, const Segment& segment) {
                               const Slice& slice = stock_->workspace->slice({}, thread);
                               loop.kernel->run(passes, segment.bytes, slice.data() + from_ + segment.from,
                                                factor_.data(), loop.results[thread].data());
                           }});
        }
        return all;
    }

    Loops loops_;
    Extent extent_;
    std::string id_;
    std::shared_ptr<Stock> stock_;
    RegisterFile factor_;
    std::vector<Loop> tried_;
    std::size_t from_ = 0;
    MonitoredTeam team_;
    std::optional<PassDriver> pass_driver_;
};

/// One set in each usual cache, and one in memory.
std::vector<std::string> usual_sets(const Machine& machine)
{
    constexpr long long smallest = 16 << 10;
    constexpr long long apart = 16;
    const std::string largest = usual_memory_set(machine);
    std::vector<std::string> sets;
    for (long long bytes = smallest; bytes * apart <= std::stoll(largest); bytes *= apart)
        sets.push_back(std::to_string(bytes));
    sets.push_back(largest);
    return sets;
}

class ErtBench : public Bench {
  public:
    explicit ErtBench(const ProbeContext& context)
        : Bench({"ert", Role::compute, "cpu",
                 "Multiply-adds on what is loaded, as many for each byte as the intensity says, in the fastest of "
                 "several loops, each checked by its result."}),
          context_(context),
          stock_(std::make_shared<Stock>(Stock{context.history, context.workspace}))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        const Axis intensity{"intensity", "FLOPs for each byte loaded", names_in(intensities), names_in(intensities)};
        const Axis precision{"precision", "number format", {"fp64"}, {"fp64", "fp32"}};
        return {intensity, precision, threads_axis(machine, context_.thread_counts),
                working_set_axis("bytes, all threads together", usual_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device&) const override
    {
        if (auto reason = missing_threads(point, machine)) return reason;
        const Loops loops = loops_of(point, machine);
        if (loops.isas.empty()) return "this machine has no fused multiply-add on vectors of 256 bits or more";
        if (array_extent(loops, point)) return std::nullopt;
        return "the working set is less than one iteration of the loop for every thread";
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device&) const override
    {
        const Loops loops = loops_of(point, machine);
        return std::make_unique<ErtSubject>(loops, *array_extent(loops, point),
                                            processors_for(point, context_.processors, *context_.history),
                                            point.without("round").str(), stock_);
    }

  private:
    ProbeContext context_;
    std::shared_ptr<Stock> stock_;
};

}  // namespace

double parse_intensity(std::string_view name)
{
    return row_in(intensities, "intensity", name).flops_per_byte;
}

std::unique_ptr<Bench> ert_bench(const ProbeContext& context)
{
    return std::make_unique<ErtBench>(context);
}

}  // namespace roof::cpu
