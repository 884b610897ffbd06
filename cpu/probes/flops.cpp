// Probe "flops": the arithmetic ceiling of one core, and of all cores together.
//
// Launched: on every thread, a generated loop of at least 24 instructions of the operation's kinds, on independent
//   register chains, without memory accesses. Trials choose the number and order of chains: see `candidates` in
//   operations.hpp. `best` tries all kinds.
// Saturates: the arithmetic pipes of the operation. `best` is the ceiling of the precision. `fma` is what most tools
//   call the peak; cores with separate add pipes do more, and `fma+add` shows it. `mul+add` is the ceiling of code
//   built without fma; `dot` and `tile` are the products of vectors and of tiles in bf16 and int8. The factor of a
//   multiplication is -1, so multipliers toggle few bits: where power limits the clock, real data may run somewhat
//   slower.
// Counts: 2 FLOPs per multiply-add, fused or in a product, 1 per addition, multiplication, division or root, in every
//   lane. Integer operations count alike. Bytes: none.
// Falsified by: a result that differs in one bit from the host reference; a loop whose decoded instructions are not
//   those counted; a rate above clock x pipes x lanes; another mix, of any width, that runs faster than `best`.
#include "cpu/probes/probes.hpp"

#include "cpu/kernels/compute_kernel.hpp"
#include "cpu/kernels/operations.hpp"
#include "cpu/kernels/reference.hpp"
#include "cpu/probes/choices.hpp"
#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <optional>

namespace roof::cpu {
namespace {

/// A trial enters the loop several times: the speed of a loop may change from entry to entry, and no mix must win by
/// chance.
constexpr int entries_of_a_trial = 6;
constexpr Seconds entry_target{6e-6};
constexpr SearchBudget budget{.time = Seconds{1e-3}, .least_turns = 3};

struct MixChoice {
    MixChoice(const Isa& isa, Precision precision, const Mix& mix)
        : kernel(isa, precision, mix), steady(steady_operands(kernel))
    {
    }

    void run(std::size_t count, const Operands& operands, RegisterFile& result) const
    {
        kernel.run(count, operands.start.data(), operands.constants.data(), result.data());
    }

    double flops() const { return kernel.flops_per_iteration() * static_cast<double>(iterations); }

    ComputeKernel kernel;
    Operands steady;
    std::size_t iterations = 1;  ///< per entry in a trial, later per launch
};

using Candidates = std::vector<std::unique_ptr<MixChoice>>;

/// Registers for each thread, enough for any of the candidates. All candidates have the same format.
std::vector<RegisterFile> results_for(const Candidates& candidates, int threads)
{
    int most = 0;
    for (const auto& candidate : candidates) most = std::max(most, candidate->kernel.mix().chains());
    const ComputeKernel& any = candidates.front()->kernel;
    return std::vector<RegisterFile>(threads, RegisterFile(most, any.isa().register_bytes, any.accumulator_format()));
}

/// Time per FLOP of the slowest thread.
double cost(const MixChoice& candidate, const MonitoredTeam& team, std::vector<RegisterFile>& results,
            const Clock& clock)
{
    std::vector<Seconds> taken(team.size());
    team.run([&](int thread) {
        const Seconds begin = clock();
        for (int i = 0; i < entries_of_a_trial; ++i)
            candidate.run(candidate.iterations, candidate.steady, results[thread]);
        taken[thread] = clock() - begin;
    });
    return std::max_element(taken.begin(), taken.end())->value / candidate.flops();
}

std::unique_ptr<MixChoice> fastest(Candidates candidates, const MonitoredTeam& team, std::vector<RegisterFile>& results)
{
    if (candidates.size() == 1) return std::move(candidates.front());
    const Clock& clock = team.clock();
    for (const auto& candidate : candidates)
        candidate->iterations = repetitions_for(
            entry_target, [&](std::size_t n) { candidate->run(n, candidate->steady, results.front()); }, clock);
    const Fastest found = fastest_of(
        candidates.size(), budget, [&](std::size_t i) { return cost(*candidates[i], team, results, clock); }, clock);
    return std::move(candidates[found.candidate]);
}

class FlopsSubject : public Subject {
  public:
    /// `mixes`: at least one, all with the same accumulator format.
    FlopsSubject(const Isa& isa, Precision precision, const std::vector<Mix>& mixes, const std::vector<int>& processors,
                 std::shared_ptr<CoreHistory> history, Resources resources)
        : team_(processors, std::move(history)), resources_(resources)
    {
        if (isa.encoding == Encoding::tile) clock_before_ = team_.read_clock();
        Candidates candidates;
        for (const Mix& mix : mixes) candidates.push_back(std::make_unique<MixChoice>(isa, precision, mix));
        results_ = results_for(candidates, team_.size());
        chosen_ = fastest(std::move(candidates), team_, results_);
        chosen_->iterations = repetitions_for(
            launch_target, [&](std::size_t n) { run(n, chosen_->steady); }, team_.clock());
    }

    /// Tiles draw so much power that the clock falls, on a Xeon to a third, and rises again over some 50 ms. The next
    /// row starts after that.
    ~FlopsSubject() override
    {
        if (clock_before_) team_.wait_for_clock(*clock_before_);
    }

    Work work() const override { return {Flops{chosen_->flops() * team_.size()}, Bytes{}, Bytes{}, Known::analytic}; }

    void launch(Trace& trace) override
    {
        team_.launch(
            trace, [&](int thread) { chosen_->run(chosen_->iterations, chosen_->steady, results_[thread]); },
            resources_);
    }

    void check() override
    {
        constexpr int iterations = 2;
        for (const RegisterFile& result : results_) check_normal(chosen_->kernel, result);
        const Operands telling = telling_operands(chosen_->kernel);
        const RegisterFile expected = reference(chosen_->kernel, telling, iterations);
        run(iterations, telling);
        for (const RegisterFile& result : results_) check_same(chosen_->kernel, result, expected);
    }

    std::string variant() const override { return chosen_->kernel.mix().description(); }

  private:
    void run(std::size_t count, const Operands& operands)
    {
        team_.run([&](int thread) { chosen_->run(count, operands, results_[thread]); });
    }

    MonitoredTeam team_;
    Resources resources_;
    std::optional<Hertz> clock_before_;  ///< of tiles
    std::vector<RegisterFile> results_;  ///< one per thread
    std::unique_ptr<MixChoice> chosen_;
};

bool has_tiles(const Machine& machine)
{
    return has_feature(machine, "amx_bf16") || has_feature(machine, "amx_int8");
}

std::optional<std::string> missing_instruction(std::string_view operation, const Isa& isa, Precision precision,
                                               const Machine& machine)
{
    const std::string missing = missing_feature(operation, isa, precision, machine.features);
    if (missing.empty()) return std::nullopt;
    if (missing == "fma") return "this machine has no fused multiply-add";
    return "this machine does not offer " + missing;
}

class FlopsBench : public Bench {
  public:
    explicit FlopsBench(const ProbeContext& context)
        : Bench({"flops", Role::compute, "cpu",
                 "Arithmetic on registers alone: independent chains of the named instructions, as many as were found "
                 "to be fastest, every result checked; a multiply-add counts as two operations."}),
          context_(context)
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        Axis operation{"operation", "kinds of instruction", {std::string(best_operation), "fma", "mul+add", "add"}, {}};
        operation.allowed = operation_names();
        Axis isa = isa_axis(machine.isa);
        isa.allowed.emplace_back(tile_isa.name);
        if (has_tiles(machine)) isa.defaults.emplace_back(tile_isa.name);
        const Axis precision{"precision", "number format", {"fp64", "fp32"}, {"fp64", "fp32", "fp16", "bf16", "int8"}};
        return {operation, isa, precision, threads_axis(machine, context_.thread_counts), placement_axis()};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device&) const override
    {
        const std::string& operation = point.text("operation");
        const Isa& isa = parse_isa(point.text("isa"));
        const Precision precision = point.precision();
        if (auto reason = contradiction(operation, isa, precision)) return reason;
        // Machine::isa does not list tiles; Machine::features does.
        if (isa.encoding != Encoding::tile)
            if (auto reason = missing_isa(point, machine)) return reason;
        if (auto reason = missing_instruction(operation, isa, precision, machine)) return reason;
        if (auto reason = missing_siblings(point, machine)) return reason;
        return missing_threads(point, machine);
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device&) const override
    {
        const Isa& isa = parse_isa(point.text("isa"));
        const std::vector<Mix> mixes = candidates(point.text("operation"), isa, point.precision(), machine.features);
        return std::make_unique<FlopsSubject>(isa, point.precision(), mixes,
                                              processors_for(point, context_.processors, *context_.history),
                                              context_.history, resources_in_cores(point, machine));
    }

  private:
    ProbeContext context_;
};

}  // namespace

std::unique_ptr<Bench> flops_bench(const ProbeContext& context)
{
    return std::make_unique<FlopsBench>(context);
}

}  // namespace roof::cpu
