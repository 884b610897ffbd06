// All variants do the same work in a trial.
#include "cpu/probes/pass_driver.hpp"

#include "cpu/probes/choices.hpp"
#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <cmath>

namespace roof::cpu {
namespace {

/// Long compared with a clock reading and the start of a team. There are some sixty variants.
constexpr Seconds trial_target{15e-6};
constexpr SearchBudget budget{.time = Seconds{2e-3}, .least_turns = 8};

}  // namespace

std::optional<Extent> whole_iterations(std::size_t bytes, std::vector<std::size_t> iterations)
{
    constexpr std::size_t unused_share = 8;
    std::ranges::sort(iterations);
    if (iterations.empty() || iterations.front() > bytes) return std::nullopt;
    std::size_t step = iterations.front();
    for (const std::size_t iteration : iterations)
        if (iteration <= bytes / unused_share) step = iteration;
    return Extent{bytes / step * step, step};
}

PassDriver::PassDriver(MonitoredTeam& team, const Extent& extent, std::vector<Variant> variants, Resources resources)
    : team_(team), extent_(extent), variants_(std::move(variants)), resources_(resources)
{
    // Brings the caches into the state after a pass.
    run_variant(variants_.front(), {0, extent_.bytes}, 1);
    const Seconds fastest = search(time_of_pass());
    cut(plan_for(launch_target, fastest * (static_cast<double>(extent_.bytes) / bytes_per_launch())));
}

void PassDriver::launch(Trace& trace)
{
    const Variant& variant = variants_[chosen_];
    const std::size_t first = window_;
    std::vector<std::size_t> done(static_cast<std::size_t>(team_.size()));
    const auto run = [&](int thread) {
        variant.run(thread, plan_.passes, window((first + done[thread]++) % plan_.windows));
    };
    team_.launch(trace, run, resources_);
    window_ = first + done.front() - 1;
    next_window();
}

std::vector<Segment> PassDriver::samples() const
{
    constexpr std::size_t several = 4;
    const auto before = [&](std::size_t count) { return window((window_ + plan_.windows - count) % plan_.windows); };
    if (plan_.windows < several) return {before(1)};
    return {before(1), before(2)};
}

void PassDriver::run(const Segment& segment, std::size_t passes) const
{
    run_variant(variants_[chosen_], segment, passes);
}

PassDriver::Plan PassDriver::plan_for(Seconds target, Seconds pass) const
{
    const double passes = target / pass;
    if (passes >= 1) return {static_cast<std::size_t>(std::round(passes)), extent_.bytes, 1};
    const std::size_t steps = extent_.bytes / extent_.step;
    const auto windows = std::min(static_cast<std::size_t>(1 / passes), steps);
    return {1, (steps + windows - 1) / windows * extent_.step, windows};
}

/// Long arrays are timed in windows, as in the launches.
Seconds PassDriver::time_of_pass()
{
    constexpr std::size_t longest_piece = std::size_t{512} << 10;
    const std::size_t steps = extent_.bytes / extent_.step;
    const std::size_t pieces = std::min((extent_.bytes + longest_piece - 1) / longest_piece, steps);
    cut({1, (steps + pieces - 1) / pieces * extent_.step, pieces});
    const std::size_t repetitions = repetitions_for(
        trial_target,
        [&](std::size_t n) {
            if (pieces == 1) return run_variant(variants_.front(), {0, extent_.bytes}, n);
            for (std::size_t i = 0; i < n; ++i) run_variant(variants_.front(), next_window(), 1);
        },
        team_.clock());
    return trial_target * static_cast<double>(pieces) / static_cast<double>(repetitions);
}

Seconds PassDriver::search(Seconds pass)
{
    cut(plan_for(trial_target, pass));
    const Clock& clock = team_.clock();
    const Fastest fastest = fastest_of(
        variants_.size(), budget,
        [&](std::size_t variant) {
            const Segment segment = next_window();
            const Seconds begin = clock();
            run_variant(variants_[variant], segment, plan_.passes);
            return (clock() - begin).value;
        },
        clock);
    chosen_ = fastest.candidate;
    return Seconds{fastest.cost};
}

void PassDriver::cut(const Plan& plan)
{
    plan_ = plan;
    window_ = 0;
    while (window_ < plan_.windows && window(window_).from < end_) ++window_;
}

Segment PassDriver::next_window()
{
    const Segment next = window(window_++ % plan_.windows);
    end_ = next.from + next.bytes;
    return next;
}

/// All windows have the same length. If they do not divide the arrays exactly, they overlap by a few steps.
Segment PassDriver::window(std::size_t index) const
{
    if (plan_.windows == 1) return {0, plan_.bytes};
    const std::size_t last = (extent_.bytes - plan_.bytes) / extent_.step;
    return {last * index / (plan_.windows - 1) * extent_.step, plan_.bytes};
}

void PassDriver::run_variant(const Variant& variant, const Segment& segment, std::size_t passes) const
{
    team_.run([&](int thread) { variant.run(thread, passes, segment); });
}

}  // namespace roof::cpu
