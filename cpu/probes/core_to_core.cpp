// Probe "core_to_core": the time to transfer a line from one core to another. Cores with a common last-level cache
// transfer it there; between last-level caches it takes longer. If a host migrates its guest's vCPUs, two times appear,
// and with several threads also two rates of the last-level cache and of memory.
//
// Launched: two threads, each on its core, that write one line in turns: each waits until it reads the other's number,
//   and writes the next.
// Saturates: nothing; one line is transferred at a time.
// Counts: a line of 64 bytes per transfer, so seconds x 64 / bytes is the time of one transfer.
// Falsified by: a last number that differs from the number of transfers.
#include "cpu/probes/probes.hpp"

#include "cpu/probes/choices.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/search.hpp"

#include <atomic>
#include <cstdint>

namespace roof::cpu {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::string_view next_core = "next core";
constexpr std::string_view last_core = "last core";

class CoreToCoreSubject : public Subject {
  public:
    CoreToCoreSubject(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history)
        : team_(processors, std::move(history))
    {
        rounds_ = repetitions_for(
            launch_target, [&](std::size_t n) { run(n); }, team_.clock());
    }

    Work work() const override
    {
        const Bytes bytes{static_cast<double>(2 * rounds_ * line_bytes)};
        return {Flops{}, bytes, bytes, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        line_.number = 0;
        team_.launch(trace, [&](int thread) { exchange(thread, rounds_); });
    }

    void check() override
    {
        constexpr std::size_t some = 100;
        run(some);
        if (line_.number != 2 * some)
            throw Error("after " + std::to_string(2 * some) + " transfers the line holds " +
                        std::to_string(line_.number.load()));
    }

    Bytes memory() const override { return Bytes{line_bytes}; }

  private:
    void run(std::size_t rounds)
    {
        line_.number = 0;
        team_.run([&](int thread) { exchange(thread, rounds); });
    }

    void exchange(int thread, std::size_t rounds)
    {
        for (std::uint64_t number = static_cast<std::uint64_t>(thread); number < 2 * rounds; number += 2) {
            while (line_.number.load(std::memory_order_acquire) != number) {
            }
            line_.number.store(number + 1, std::memory_order_release);
        }
    }

    struct alignas(2 * line_bytes) SharedLine {  // a prefetcher may load lines in pairs
        std::atomic<std::uint64_t> number{0};
    };

    SharedLine line_;
    MonitoredTeam team_;
    std::size_t rounds_ = 1;
};

class CoreToCoreBench : public Bench {
  public:
    explicit CoreToCoreBench(const ProbeContext& context)
        : Bench({"core_to_core", Role::latency, "cpu",
                 "Time to transfer a line between two cores that write it in turns."}),
          spread_(context.processors.spread),
          history_(context.history)
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        std::vector<std::string> usual{std::string(next_core)};
        if (spread_.size() > 2) usual.emplace_back(last_core);
        return {{"path",
                 "the core that exchanges the line with the first one",
                 usual,
                 {std::string(next_core), std::string(last_core)}}};
    }

    std::optional<std::string> unsupported_reason(const Point&, const Machine&, const Device&) const override
    {
        if (spread_.size() > 1) return std::nullopt;
        return "it takes two processors, and this process may use one";
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine&, const Device&) const override
    {
        const int other = point.text("path") == last_core ? spread_.back() : spread_[1];
        return std::make_unique<CoreToCoreSubject>(std::vector<int>{spread_.front(), other}, history_);
    }

  private:
    std::vector<int> spread_;  ///< one processor of each core in turn
    std::shared_ptr<CoreHistory> history_;
};

}  // namespace

std::unique_ptr<Bench> core_to_core_bench(const ProbeContext& context)
{
    return std::make_unique<CoreToCoreBench>(context);
}

}  // namespace roof::cpu
