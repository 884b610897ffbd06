// See flops.hpp for what is launched and counted.
#include "cpu/probes/flops.hpp"

#include "cpu/buffer.hpp"
#include "cpu/kernels/compute_kernel.hpp"
#include "cpu/kernels/reference.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/repeat.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <bit>
#include <cmath>

namespace roof::cpu {

namespace {

class FlopsSubject : public Subject {
  public:
    FlopsSubject(const Isa& isa, Precision precision, const Mix& mix, const std::vector<int>& processors,
                 std::shared_ptr<CoreHistory> history)
        : kernel_(isa, precision, mix),
          precision_(precision),
          start_(kernel_.chains(), isa.register_bytes, precision),
          steady_(constants(steady_constants)),
          telling_(constants(telling_constants)),
          results_(processors.size(), start_),
          team_(processors, std::move(history))
    {
        for (int chain = 0; chain < kernel_.chains(); ++chain) {
            for (int lane = 0; lane < kernel_.register_elements(); ++lane) {
                start_.set(chain, lane, std::bit_cast<double>(content(chain * kernel_.register_elements() + lane)));
            }
        }
        iterations_ = repetitions_for(
            launch_target, [&](std::size_t n) { run(n, steady_); }, steady_clock());
    }

    Work work() const override
    {
        const double per_thread = kernel_.flops_per_iteration() * static_cast<double>(iterations_);
        return {Flops{per_thread * team_.size()}, Bytes{}, Bytes{}, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        team_.launch(trace, [&](int thread) {
            kernel_.run(iterations_, start_.data(), steady_.data(), results_[thread].data());
        });
    }

    void check() override
    {
        for (const RegisterFile& result : results_) check_normal(result);
        constexpr int iterations = 3;
        run(iterations, telling_);
        for (const RegisterFile& result : results_) check_exact(result, iterations);
    }

  private:
    RegisterFile constants(const Constants& values) const
    {
        RegisterFile file(2, kernel_.isa().register_bytes, precision_);
        file.broadcast(0, values.factor);
        file.broadcast(1, values.addend);
        return file;
    }

    void run(std::size_t iterations, const RegisterFile& constants)
    {
        team_.run(
            [&](int thread) { kernel_.run(iterations, start_.data(), constants.data(), results_[thread].data()); });
    }

    /// A denormal or infinite chain would time the handling of exceptions.
    void check_normal(const RegisterFile& result) const
    {
        for (int chain = 0; chain < kernel_.chains(); ++chain) {
            for (int lane = 0; lane < kernel_.lanes(); ++lane) {
                const double value = result.at(chain, lane);
                if (!std::isnormal(value)) {
                    throw Error("chain " + std::to_string(chain) + " ended at " + format_exact(value));
                }
            }
        }
    }

    void check_exact(const RegisterFile& result, int iterations) const
    {
        for (int lane = 0; lane < kernel_.lanes(); ++lane) {
            std::vector<double> values;
            for (int chain = 0; chain < kernel_.chains(); ++chain) values.push_back(start_.at(chain, lane));
            const std::vector<double> expected =
                reference(kernel_.steps(), telling_constants, iterations, precision_, values);
            for (int chain = 0; chain < kernel_.chains(); ++chain) {
                if (result.at(chain, lane) == expected[chain]) continue;
                throw Error("chain " + std::to_string(chain) + ", lane " + std::to_string(lane) + " is " +
                            format_exact(result.at(chain, lane)) + " and should be " + format_exact(expected[chain]));
            }
        }
    }

    ComputeKernel kernel_;
    Precision precision_;
    RegisterFile start_;
    RegisterFile steady_;
    RegisterFile telling_;
    std::vector<RegisterFile> results_;
    WatchedTeam team_;
    std::size_t iterations_ = 1;
};

}  // namespace

std::string_view FlopsBench::sentence() const
{
    return "Arithmetic on registers alone: independent chains of the named instructions, every result checked; a fused "
           "multiply-add counts as two operations.";
}

std::vector<Axis> FlopsBench::axes(const Machine& machine) const
{
    Axis operation{"operation", "mix of instructions, in equal numbers", {}, {}};
    for (const Mix& mix : mix_table) operation.usual.emplace_back(mix.name);
    operation.legal = operation.usual;
    const Axis precision{"precision", "number format", {"fp32", "fp64"}, {"fp32", "fp64"}};
    return {operation, isa_axis(machine.isa), precision, threads_axis(machine)};
}

std::optional<std::string> FlopsBench::obstacle(const Point& point, const Machine& machine, const Device&) const
{
    if (const auto reason = missing_isa(point, machine)) return reason;
    if (parse_mix(point.text("operation")).needs_fma() && !has_feature(machine, "fma")) {
        return "this machine has no fused multiply-add";
    }
    return missing_threads(point, machine);
}

std::unique_ptr<Subject> FlopsBench::make(const Point& point, const Machine&, const Device&) const
{
    return std::make_unique<FlopsSubject>(parse_isa(point.text("isa")), point.precision(),
                                          parse_mix(point.text("operation")), processors_for(point, processors_),
                                          history_);
}

}  // namespace roof::cpu
