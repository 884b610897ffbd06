// Probe "latency": the time of one load from the level of memory that holds the working set.
//
// Launched: on one thread, a pointer chase through all 64-byte lines of the working set in one random cycle. Each
//   launch continues where the last one ended.
// Saturates: nothing. A load starts only after the previous one has completed. With small pages the time includes
//   address translation, once the pages exceed the TLB.
// Counts: a line of 64 bytes per load, so seconds x 64 / bytes is the time of a load.
// Falsified by: a chase that is not at the expected line after a number of steps (after one cycle: at its start), or is
//   there too early; a time below the guide's figure for L1.
#include "cpu/probes/probes.hpp"

#include "cpu/kernels/chase.hpp"
#include "cpu/probes/choices.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <optional>

namespace roof::cpu {
namespace {

/// Data that outlives the subjects.
struct Stock {
    std::vector<int> processors;  ///< at most one: taken if no cores are known to be alike
    std::shared_ptr<CoreHistory> history;
    std::shared_ptr<Workspace> workspace;
    std::optional<ChaseKernel> kernel{};  ///< from the first subject on: what measures nothing generates no code
    PointHistory rounds;
};

std::vector<int> one_processor(const Stock& stock)
{
    if (stock.processors.empty()) return {};
    return {stock.history->quietest(stock.processors.front())};
}

/// The lines of whole loop iterations, so that a launch can cover a whole cycle.
std::size_t lines_of(const Point& point)
{
    const auto bytes = static_cast<std::size_t>(point.integer("working_set"));
    return bytes / chase_line / ChaseKernel::unroll * ChaseKernel::unroll;
}

/// Reads twice: a last-level cache that is filled by evictions holds the lines only after the second pass.
void read_in_order(const std::byte* memory, std::size_t lines)
{
    constexpr int passes = 2;
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t i = 0; i < lines; ++i)
            static_cast<void>(*static_cast<const volatile std::byte*>(memory + i * chase_line));
}

class LatencySubject : public Subject {
  public:
    LatencySubject(const Mapping& mapping, std::size_t lines, std::string id, std::shared_ptr<Stock> stock)
        : lines_(lines), id_(std::move(id)), stock_(std::move(stock)), team_(one_processor(*stock_), stock_->history)
    {
        link(mapping);
        settle();
        iterations_ = repetitions_for(
            launch_target, [&](std::size_t n) { team_.run([&](int) { chase(n); }); }, team_.clock());
    }

    Work work() const override
    {
        const Bytes bytes{static_cast<double>(iterations_ * ChaseKernel::unroll * chase_line)};
        return {Flops{}, bytes, bytes, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        settle();
        team_.launch(trace, [&](int) { chase(iterations_); });
    }

    void check() override
    {
        if (stock_->rounds.is_checked(id_)) return;
        const std::size_t half = mark_steps() / 2 / ChaseKernel::unroll * ChaseKernel::unroll;
        const std::byte* half_way = nullptr;
        const std::byte* end = nullptr;
        team_.run([&](int) {
            if (half > 0) half_way = stock_->kernel->run(half, start_);
            end = stock_->kernel->run(mark_steps(), start_);
        });
        if (half_way == start_) throw Error("the chase returns too early, after " + std::to_string(half) + " lines");
        if (end != mark_)
            throw Error("the chase is at the wrong line after " + std::to_string(mark_steps()) + " lines");
        stock_->rounds.checked(id_);
    }

    Bytes memory() const override { return Bytes{static_cast<double>(lines_ * chase_line)}; }

  private:
    /// Touches the lines in the order of the chase, so that the caches are in the state a chase leaves.
    void link(const Mapping& mapping)
    {
        const std::size_t bytes = lines_ * chase_line;
        Workspace& workspace = *stock_->workspace;
        workspace.reserve(mapping, 1, bytes);
        const std::size_t from = workspace.place(mapping, 1, bytes, stock_->rounds.next(id_));
        Slice& slice = workspace.slice(mapping, 0);
        std::byte* const begin = slice.data() + from;
        team_.run([&](int) {
            slice.overwrite(from, bytes);
            mark_ = link_lines(begin, lines_, mark_steps());
        });
        start_ = begin;
        at_ = begin;
    }

    /// A chase is slow, so other tenants' lines may replace its lines in a shared cache. Reading the set in order
    /// brings them back. A short chase then restores the state of the nearer caches.
    void settle()
    {
        constexpr std::size_t most_lines = std::size_t{1} << 18;  // 16 MiB: more would take over a millisecond
        constexpr std::size_t most_chased = std::size_t{1} << 14;
        if (lines_ > most_lines) return;
        const std::size_t chased = std::min(lines_ / 2, most_chased) / ChaseKernel::unroll;
        team_.run([&](int) {
            read_in_order(start_, lines_);
            chase(std::max<std::size_t>(1, chased));
        });
    }

    /// The steps of a check: the whole cycle, or fewer if that takes many milliseconds.
    std::size_t mark_steps() const
    {
        constexpr std::size_t most = std::size_t{1} << 15;
        return std::min(lines_, most);
    }

    void chase(std::size_t iterations) { at_ = stock_->kernel->run(iterations * ChaseKernel::unroll, at_); }

    std::size_t lines_;
    std::string id_;
    std::shared_ptr<Stock> stock_;
    MonitoredTeam team_;
    const std::byte* start_ = nullptr;
    const std::byte* mark_ = nullptr;  ///< the line after mark_steps() steps: the start if these are a cycle
    const std::byte* at_ = nullptr;
    std::size_t iterations_ = 1;
};

class LatencyBench : public Bench {
  public:
    explicit LatencyBench(const ProbeContext& context)
        : Bench({"latency", Role::latency, "cpu",
                 "Time of one load of a chain in which each finds the next one's address, through all lines of the "
                 "working set in one random cycle, on one thread."})
    {
        const std::vector<int>& spread = context.processors.spread;
        if (!spread.empty()) stock_->processors = {spread.front()};
        stock_->history = context.history;
        stock_->workspace = context.workspace;
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        return {pages_axis(), working_set_axis("bytes, all lines together", usual_chase_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&) const override
    {
        constexpr long long most = 1LL << 38;  // 2^32 lines
        if (point.integer("working_set") > most) return "a chase has at most 2^32 lines";
        if (lines_of(point) > 0) return std::nullopt;
        return "the working set is less than " + std::to_string(ChaseKernel::unroll) + " lines";
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine&, const Device&) const override
    {
        if (!stock_->kernel) stock_->kernel.emplace();
        return std::make_unique<LatencySubject>(Mapping{pages_of(point), std::nullopt}, lines_of(point),
                                                point.without("round").str(), stock_);
    }

  private:
    std::shared_ptr<Stock> stock_ = std::make_shared<Stock>();
};

}  // namespace

std::unique_ptr<Bench> latency_bench(const ProbeContext& context)
{
    return std::make_unique<LatencyBench>(context);
}

}  // namespace roof::cpu
