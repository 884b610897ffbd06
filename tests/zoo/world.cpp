#include "tests/zoo/world.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace roof::zoo {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// A neighbour takes this share of memory's rate for each share of the core.
constexpr double sibling_of_memory = 0.3;

/// The machine at one of its looks.
Model at_look(Model model, int look, int looks)
{
    const Change change = model.kind->change;
    const bool lasts = change == Change::throttle || change == Change::memory_throttle || change == Change::leaves ||
                       change == Change::migration;
    const int changes_in = static_cast<int>(model.change_in * looks);
    if (lasts && look != changes_in) model.change_at = look < changes_in ? never : 0;
    return model;
}

}  // namespace

Neighbour::Neighbour(double duty, double burst, const Range& strength, Random& random, bool is_regular)
    : duty_(duty), burst_(burst), range_(strength), is_regular_(is_regular)
{
    if (duty_ <= 0 || burst_ <= 0) return;
    until_ = 0;
    begin(random.chance(duty_), 0, random);
}

void Neighbour::begin(bool works, double now, Random& random)
{
    works_ = works;
    if (works_) strength_ = random.within(range_);
    const double mean = works_ ? burst_ : burst_ * (1 - duty_) / duty_;
    until_ = duty_ >= 1 ? never : now + (is_regular_ ? mean : random.exponential(mean));
}

void Neighbour::go_to(double seconds, Random& random)
{
    // After that many bursts and rests the state no longer depends on the one before, and the time to the next change
    // never does.
    constexpr double forgotten = 30;
    if (until_ < seconds && seconds - until_ > forgotten * burst_ / duty_) {
        begin(random.chance(duty_), seconds, random);
        return;
    }
    while (until_ <= seconds) begin(!works_, until_, random);
}

World::World(Model given, const World* earlier, int looks)
    : look_(earlier == nullptr ? 0 : earlier->look_ + 1),
      model_(at_look(std::move(given), look_, looks)),
      random_(model_.seed ^ 0x5eed ^ static_cast<std::uint64_t>(look_) << 20),
      begin_(0)
{
    const Model& model = model_;
    *clock_.now = 1000 + look_ * limits::between_looks_seconds;
    if (earlier != nullptr) {
        fastest_clock_ = earlier->fastest_clock_;
        kept_ = earlier->kept_;
    }
    begin_ = counted_to_ = now();
    const Source source = model.kind->source;
    const auto add = [&](std::vector<Neighbour>& to, int count, double duty, double burst, const Range& strength) {
        for (int i = 0; i < count; ++i) {
            to.emplace_back(duty, burst, strength, random_, model.kind->is_regular);
            to.back().go_to(now(), random_);
        }
    };
    const double takes = model.sibling_takes;
    if (source == Source::sibling || source == Source::sibling_and_bus)
        add(siblings_, model.cores, model.duty, model.burst, {0.95 * takes, 1.05 * takes});
    if (source == Source::bus || source == Source::sibling_and_bus)
        add(memory_, model.kind->neighbours, model.duty, model.burst, limits::bus_takes);
    if (source == Source::two_rates)
        add(memory_, 1, model.duty, model.burst, {model.second_rate_takes, model.second_rate_takes});
    if (source == Source::steal) add(thieves_, model.cores, model.duty, model.burst, {1, 1});
    if (model.clock_step > 0)
        add(slow_clock_, 1, model.clock_step_duty, model.clock_step_seconds, {model.clock_step, model.clock_step});
    tokens_ = model.bucket;
    tokens_from_ = now();
    stolen_.assign(static_cast<std::size_t>(model.cores), 0);
}

void World::go_to(double seconds)
{
    const double share = clock_share();
    clock_sum_ += share * (seconds - counted_to_);
    clock_time_ += seconds - counted_to_;
    fastest_clock_ = std::max(fastest_clock_, share);
    counted_to_ = seconds;
    *clock_.now = seconds;
    for (auto* const group : {&siblings_, &thieves_, &memory_, &slow_clock_})
        for (Neighbour& neighbour : *group) neighbour.go_to(seconds, random_);
}

/// Over the nominal one, without vectors.
double World::clock_share() const
{
    double share = 1;
    if (!slow_clock_.empty()) share -= slow_clock_.front().takes();
    const Change change = model_.kind->change;
    if (change == Change::thermal)
        share *= 1 - limits::thermal_share * std::min(1.0, (now() - begin_) / limits::thermal_seconds);
    if (change == Change::turbo && !has_changed()) share *= model_.changes_by;
    if (change == Change::migration && has_changed()) share *= model_.changes_clock;
    if (model_.clock_rises > 0)
        share *= 1 - (1 - model_.rested_clock) * std::max(0.0, 1 - (now() - rested_at_) / model_.clock_rises);
    if (model_.clock_drift > 0)
        share += model_.clock_drift *
                 std::sin(2 * std::numbers::pi * (now() / model_.clock_drift_seconds + model_.clock_drift_phase));
    return share;
}

Parts World::paced(Parts parts) const
{
    const Change change = model_.kind->change;
    const bool has_passed = has_changed();
    if (change == Change::throttle && has_passed) return parts * (1 / model_.changes_by);
    if ((change == Change::memory_throttle && has_passed) || (change == Change::leaves && !has_passed))
        parts.memory /= model_.changes_by;
    if (change == Change::migration && has_passed) {
        parts.shared /= model_.changes_by;
        parts.memory /= model_.changes_by;
    }
    return parts;
}

double World::cache_held() const
{
    return std::ranges::any_of(memory_, &Neighbour::works) ? model_.cache_held : 1;
}

double World::lasting(Parts parts, bool follows_clock) const
{
    const double nominal = parts.sum();
    parts = paced(parts);
    if (model_.kind->change == Change::bucket) parts.memory /= model_.changes_by;
    return nominal / parts.sum() * (follows_clock ? clock_share() : 1);
}

/// What so much traffic of memory takes: at the full rate while the bucket has tokens, then at the rate at which it
/// fills.
double World::in_memory(double seconds) const
{
    const double refill = model_.changes_by;
    const double tokens = std::min(model_.bucket, tokens_ + refill * (now() - tokens_from_));
    const double full = std::min(seconds, tokens / (1 - refill));
    return full + (seconds - full) / refill;
}

double World::hertz_now(bool is_wide)
{
    return model_.hertz * clock_share() * (is_wide ? model_.wide_clock : 1);
}

void World::wait_for_quota()
{
    if (model_.quota <= 0) return;
    const double number = std::floor(now() / limits::quota_period_seconds);
    if (number != period_) used_ = 0;
    period_ = number;
}

/// Of the control group; later than now, whatever rounding does.
double World::end_of_period() const
{
    return std::max((period_ + 1) * limits::quota_period_seconds, now() + 1e-9);
}

double World::until_throttled(int threads) const
{
    if (model_.quota <= 0) return never;
    return std::max(0.0, model_.quota * limits::quota_period_seconds - used_) / threads;
}

void World::pass(double seconds)
{
    if (model_.quota <= 0) return go_to(now() + seconds);
    while (seconds > 0) {
        wait_for_quota();
        if (until_throttled(1) <= 0) {
            go_to(end_of_period());
            continue;
        }
        const double step = std::min({seconds, until_throttled(1), end_of_period() - now()});
        used_ += step;
        seconds -= step;
        go_to(now() + step);
    }
}

int World::core_of(const Task& task, int thread) const
{
    return task.packs_cores ? thread / model_.threads_of_core() : thread % model_.cores;
}

/// Seconds of the whole task for this thread, as things are now.
Parts World::slowed(const Task& task, int thread, double clock) const
{
    const int core = core_of(task, thread);
    const double sibling = siblings_.empty() ? 0 : siblings_[static_cast<std::size_t>(core)].takes();
    double left = 1;  // of memory
    for (const Neighbour& neighbour : memory_) left *= 1 - neighbour.takes();
    const double memory = 1 - left;
    const bool slows_cache = model_.kind->source == Source::two_rates && model_.second_rate_of_cache;
    Parts parts = paced(task.parts);
    parts.core /= (1 - sibling) * clock * model_.core_rate(core);
    parts.shared /=
        (1 - sibling_of_memory * sibling) * (slows_cache ? 1 - memory : 1) * (model_.shared_follows_clock ? clock : 1);
    parts.memory /= (1 - sibling_of_memory * sibling) * (1 - memory);
    return parts;
}

double World::next_change(int cores) const
{
    double next = never;
    for (const auto* const group : {&siblings_, &thieves_})
        for (std::size_t i = 0; i < std::min(group->size(), static_cast<std::size_t>(cores)); ++i)
            next = std::min(next, (*group)[i].next_change());
    for (const Neighbour& neighbour : memory_) next = std::min(next, neighbour.next_change());
    return next;
}

World::Attempt World::attempt(const Task& task, double clock)
{
    Attempt result;
    const auto count = static_cast<std::size_t>(task.threads);
    result.threads.resize(count);
    std::vector<double> left(count, 1.0);  // of the task
    const std::vector<double> stolen_before = stolen_;
    const double begin = now();
    std::size_t running = count;
    while (running > 0) {
        wait_for_quota();
        if (until_throttled(static_cast<int>(running)) <= 0) {
            result.is_throttled = true;
            go_to(end_of_period());
            continue;
        }
        double step = std::min(next_change(model_.cores) - now(), until_throttled(static_cast<int>(running)));
        if (model_.quota > 0) step = std::min(step, end_of_period() - now());
        std::vector<double>& speed = speeds_;
        speed.assign(count, 0);
        for (std::size_t i = 0; i < count; ++i) {
            if (left[i] <= 0) continue;
            const auto core = static_cast<std::size_t>(core_of(task, static_cast<int>(i)));
            if (!siblings_.empty() && siblings_[core].works()) result.threads[i].is_touched = true;
            if (!thieves_.empty() && thieves_[core].works()) continue;
            speed[i] = 1 / slowed(task, static_cast<int>(i), clock).sum();
            step = std::min(step, left[i] / speed[i]);
        }
        step = std::max(step, 1e-12);
        for (std::size_t core = 0; core < thieves_.size(); ++core)
            if (thieves_[core].works()) stolen_[core] += step;
        used_ += step * static_cast<double>(running);
        go_to(now() + step);
        for (std::size_t i = 0; i < count; ++i) {
            if (left[i] <= 0) continue;
            left[i] -= speed[i] * step;
            if (left[i] > 1e-9) continue;
            left[i] = 0;
            result.threads[i].seconds = now() - begin;
            --running;
        }
    }
    result.seconds = now() - begin;
    for (std::size_t i = 0; i < count && !thieves_.empty(); ++i) {
        const auto core = static_cast<std::size_t>(core_of(task, static_cast<int>(i)));
        const auto ticks = [](double seconds) { return std::floor(seconds / limits::steal_tick_seconds); };
        result.threads[i].is_stolen = ticks(stolen_[core]) > ticks(stolen_before[core]);
    }
    return result;
}

Timing World::launch(const Task& given)
{
    Task task = given;
    constexpr int launches_to_know_cores = 12;  // two readings each; the monitor wants 24
    constexpr int most_attempts = 3;
    constexpr double most_change_of_clock = 0.02;
    const bool shares_own_cores = task.threads > model_.cores || (task.packs_cores && task.threads > 1);
    Timing result;

    go_to(now() + limits::reading_seconds);
    const double clock_before = clock_share() * (task.is_wide ? model_.wide_clock : 1);
    const double clock = clock_before / (task.is_wide ? model_.wide_clock : 1);

    if (model_.bucket > 0 && !task.is_waiting) {
        const double wanted = task.parts.memory;
        task.parts.memory = in_memory(wanted);
        tokens_ = std::min(model_.bucket, tokens_ + model_.changes_by * (now() - tokens_from_));
        tokens_ = std::max(0.0, tokens_ - wanted + model_.changes_by * task.parts.memory);
        tokens_from_ = now() + task.parts.sum();
    }

    const int tries = task.is_in_cores && task.threads > 1 && !shares_own_cores ? most_attempts : 1;
    std::vector<ThreadRun> runs;
    std::vector<std::string_view> seen;
    bool is_throttled = false;
    double elapsed = 0;
    for (int attempt_number = 0; attempt_number < tries; ++attempt_number) {
        const Attempt now_run = attempt(task, clock);
        if (attempt_number == 0) {
            runs = now_run.threads;
            seen.assign(runs.size(), {});
            elapsed = now_run.seconds;
        }
        is_throttled = now_run.is_throttled;
        bool is_disturbed = false;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (attempt_number > 0 && seen[i].empty()) continue;
            const ThreadRun& run = now_run.threads[i];
            runs[i] = run;
            seen[i] = is_throttled    ? "throttled by the control group's limit"
                      : run.is_stolen ? "processor time was stolen by the host"
                      : run.is_touched && random_.chance(limits::sibling_seen) ? "a core was shared"
                      : random_.chance(model_.marked_by_chance)                ? "a core was shared"
                                                                               : std::string_view{};
            if (!seen[i].empty()) is_disturbed = true;
        }
        if (!is_disturbed) break;
    }
    if (tries > 1) {
        double rates = 0;
        for (const ThreadRun& run : runs) rates += 1 / run.seconds;
        elapsed = static_cast<double>(runs.size()) / rates;
    }
    for (const std::string_view what : seen)
        if (result.disturbed.empty()) result.disturbed = what;
    ++launches_;
    if (shares_own_cores) result.disturbed = "a core was shared";
    if (launches_ <= launches_to_know_cores && result.disturbed.empty())
        result.disturbed = "what the core does alone was not known yet";

    // What the launch would have taken without neighbours, at the same clock.
    double alone = 0;
    double alone_rates = 0;
    for (int thread = 0; thread < task.threads; ++thread) {
        Parts parts = given.parts;
        parts.core /= clock * model_.core_rate(core_of(task, thread));
        parts.shared /= model_.shared_follows_clock ? clock : 1;
        alone = std::max(alone, parts.sum());
        alone_rates += 1 / parts.sum();
    }
    if (tries > 1) alone = task.threads / alone_rates;
    result.kept = std::min(1.0, alone / elapsed);

    const double whole = task.parts.sum();
    const double noise = (task.parts.core * model_.noise_near + task.parts.shared * model_.noise_shared +
                          task.parts.memory * model_.noise_memory) /
                         whole;
    result.seconds = elapsed * task.slower * std::max(0.2, 1 + noise * random_.normal());
    if (model_.kind->has_heavy_tails)
        result.seconds *= 1 + limits::tail_scale * (std::pow(1 - random_.uniform(), -1 / limits::tail_exponent) -
                                                    std::pow(0.5, -1 / limits::tail_exponent));
    go_to(now() + limits::reading_seconds);
    const double clock_after = clock_share() * (task.is_wide ? model_.wide_clock : 1);
    const bool changed = std::abs(clock_after / clock_before - 1) > most_change_of_clock;
    if (changed && result.disturbed.empty()) result.disturbed = "the clock changed";
    if (model_.kind->clocks != Clocks::unread && !changed)
        result.clock = model_.hertz * (clock_before + clock_after) / 2 * task.clock_read_as *
                       (1 + limits::clock_reading_noise * random_.normal());
    return result;
}

}  // namespace roof::zoo
