#include "analysis/import/phases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

namespace roof::analysis {

namespace {

struct Word {
    std::string_view begin;  ///< of a range's name, in small letters
    std::string_view phase;
};

constexpr std::array phase_words{Word{"forward", "forward"},  Word{"backward", "backward"}, Word{"optimizer", "update"},
                                 Word{"optimiser", "update"}, Word{"update", "update"},     Word{"dataloader", "data"},
                                 Word{"data", "data"}};
constexpr std::array step_words{std::string_view("profilerstep#"), std::string_view("step"),
                                std::string_view("iteration")};

std::string small_letters(std::string_view text)
{
    std::string small(text);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

struct Stretch {
    Seconds begin, end;
    std::string_view phase;
};

/// Outer ranges first: of nested ones, the last that holds a moment is the innermost.
std::vector<Stretch> mark(std::vector<RangeRecord>& ranges)
{
    std::vector<Stretch> stretches;
    for (RangeRecord& range : ranges) {
        const std::string name = small_letters(range.name);
        const auto begins = [&](std::string_view word) { return name.starts_with(word); };
        const auto word = std::ranges::find_if(phase_words, [&](const Word& w) { return begins(w.begin); });
        if (word != phase_words.end()) {
            range.kind = RangeKind::phase;
            if (range.start) stretches.push_back({*range.start, *range.start + range.duration, word->phase});
        } else if (std::ranges::any_of(step_words, begins)) {
            range.kind = RangeKind::step;
        }
    }
    std::ranges::stable_sort(stretches, {}, &Stretch::begin);
    return stretches;
}

/// Stretches may nest, though phases hardly do: the latest to begin that is still open.
std::string_view phase_at(Seconds moment, const std::vector<Stretch>& stretches)
{
    constexpr int deepest = 16;
    auto after = std::ranges::upper_bound(stretches, moment, {}, &Stretch::begin);
    for (int i = 0; i < deepest && after != stretches.begin(); ++i)
        if (moment < (--after)->end) return after->phase;
    return {};
}

}  // namespace

void attribute_phases(ImportedRow& row)
{
    const std::vector<Stretch> stretches = mark(row.ranges);
    if (stretches.empty()) return;
    std::unordered_map<std::uint64_t, std::string_view> caused;
    for (ApiRecord& call : row.calls) {
        if (!call.start) continue;
        const std::string_view phase = phase_at(*call.start, stretches);
        call.phase = phase;
        if (call.correlation && !phase.empty()) caused[*call.correlation] = phase;
    }
    const auto attribute = [&](Cause& cause) {
        const auto found = cause.correlation ? caused.find(*cause.correlation) : caused.end();
        if (found != caused.end()) cause.phase = found->second;
    };
    for (KernelRecord& kernel : row.kernels) attribute(kernel.cause);
    for (CopyRecord& copy : row.copies) attribute(copy.cause);
}

}  // namespace roof::analysis
