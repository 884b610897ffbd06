#include "ert/gpu/probes/sides.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <string>

namespace roof::gpu {

namespace {

constexpr double max_unexplained = 0.1;
constexpr std::size_t least_share = 4;  ///< each part has at least a quarter of the values

/// Prefix sums of the sorted values.
class Sums {
  public:
    explicit Sums(std::span<const double> values) : sums_(values.size() + 1), squares_(values.size() + 1)
    {
        for (std::size_t i = 0; i < values.size(); ++i) {
            sums_[i + 1] = sums_[i] + values[i];
            squares_[i + 1] = squares_[i] + values[i] * values[i];
        }
    }

    std::size_t size() const { return sums_.size() - 1; }
    double mean(std::size_t from, std::size_t to) const
    {
        return (sums_[to] - sums_[from]) / static_cast<double>(to - from);
    }
    /// Sum of squared distances from the mean.
    double squares(std::size_t from, std::size_t to) const
    {
        return squares_[to] - squares_[from] - (sums_[to] - sums_[from]) * mean(from, to);
    }
    double unexplained(std::size_t lower) const { return squares(0, lower) + squares(lower, size()); }

  private:
    std::vector<double> sums_;
    std::vector<double> squares_;
};

/// The size of the lower part; each part has at least `least` values.
std::size_t best_split(const Sums& sums, std::size_t least)
{
    std::size_t best = least;
    for (std::size_t lower = least; lower + least <= sums.size(); ++lower) {
        if (sums.unexplained(lower) < sums.unexplained(best)) best = lower;
    }
    return best;
}

constexpr double most_without = 0.1;     ///< of the multiprocessors, may see no two distances
constexpr double least_alike = 0.95;     ///< of the lines, on the same side for two multiprocessors
constexpr double least_in_favour = 0.9;  ///< of the multiprocessors, for a line to be on a side

using Cycles = std::span<const std::uint32_t>;
using Bits = std::vector<bool>;  ///< of lines: whether it is on side 1

bool is_measured(Cycles cycles)
{
    return std::ranges::find(cycles, 0U) == cycles.end();
}

std::optional<Bits> far_lines(Cycles cycles)
{
    const std::optional<Halves> halves = halves_of(cycles);
    if (!halves) return std::nullopt;
    Bits far(cycles.size(), false);
    for (const int line : halves->far) far[static_cast<std::size_t>(line)] = true;
    return far;
}

double share_alike(const Bits& a, const Bits& b)
{
    std::size_t alike = 0;
    for (std::size_t i = 0; i < a.size(); ++i) alike += a[i] == b[i] ? 1 : 0;
    return static_cast<double>(alike) / static_cast<double>(a.size());
}

/// The side of each line as each multiprocessor sees it, in terms of the first one's sides. Multiprocessors that see no
/// two distances are left out. Throws Unsupported.
std::vector<Bits> votes_of(const std::vector<Cycles>& measured)
{
    std::vector<Bits> votes;
    for (const Cycles cycles : measured) {
        std::optional<Bits> far = far_lines(cycles);
        if (!far) continue;
        const double alike = votes.empty() ? 1 : share_alike(*far, votes.front());
        if (alike < 0.5) far->flip();
        if (std::max(alike, 1 - alike) >= least_alike) votes.push_back(*std::move(far));
    }
    const auto without = static_cast<double>(measured.size() - votes.size());
    if (votes.empty() || without > most_without * static_cast<double>(measured.size()))
        throw Unsupported("this GPU's L2 shows no near and far half: only " + std::to_string(votes.size()) + " of " +
                          std::to_string(measured.size()) +
                          " multiprocessors find its lines at two distances, and the same lines together");
    return votes;
}

std::array<std::vector<int>, 2> lines_of(const std::vector<Bits>& votes)
{
    std::array<std::vector<int>, 2> lines;
    const auto enough = least_in_favour * static_cast<double>(votes.size());
    for (std::size_t line = 0; line < votes.front().size(); ++line) {
        const auto far = std::ranges::count_if(votes, [line](const Bits& vote) { return vote[line]; });
        const auto near = static_cast<std::ptrdiff_t>(votes.size()) - far;
        if (static_cast<double>(near) >= enough) lines[0].push_back(static_cast<int>(line));
        if (static_cast<double>(far) >= enough) lines[1].push_back(static_cast<int>(line));
    }
    return lines;
}

double mean_over(Cycles cycles, const std::vector<int>& lines)
{
    double sum = 0;
    for (const int line : lines) sum += cycles[static_cast<std::size_t>(line)];
    return lines.empty() ? 0 : sum / static_cast<double>(lines.size());
}

/// Sets the side of a multiprocessor, and adds its cycles to the sums of near and far.
void set_side(Cycles cycles, std::size_t multiprocessor, Sides& sides)
{
    const std::array<double, 2> means{mean_over(cycles, sides.lines[0]), mean_over(cycles, sides.lines[1])};
    sides.of_multiprocessors[multiprocessor] = means[0] <= means[1] ? 0 : 1;
    sides.near_cycles += std::min(means[0], means[1]);
    sides.far_cycles += std::max(means[0], means[1]);
}

}  // namespace

std::optional<Halves> halves_of(std::span<const std::uint32_t> cycles)
{
    std::vector<double> sorted(cycles.begin(), cycles.end());
    std::ranges::sort(sorted);
    const std::size_t least = std::max<std::size_t>(1, sorted.size() / least_share);
    if (sorted.size() < 2 * least) return std::nullopt;
    const Sums sums(sorted);
    const std::size_t lower = best_split(sums, least);
    if (sums.unexplained(lower) >= max_unexplained * sums.squares(0, sums.size())) return std::nullopt;
    Halves halves;
    halves.near_cycles = sums.mean(0, lower);
    halves.far_cycles = sums.mean(lower, sums.size());
    const double border = (sorted[lower - 1] + sorted[lower]) / 2;
    for (std::size_t i = 0; i < cycles.size(); ++i)
        (cycles[i] < border ? halves.near : halves.far).push_back(static_cast<int>(i));
    return halves;
}

Sides sides_of(Cycles cycles, std::size_t lines)
{
    std::vector<Cycles> measured;
    std::vector<std::size_t> numbers;
    const std::size_t multiprocessors = cycles.size() / lines;
    for (std::size_t i = 0; i < multiprocessors; ++i) {
        if (!is_measured(cycles.subspan(i * lines, lines))) continue;
        measured.push_back(cycles.subspan(i * lines, lines));
        numbers.push_back(i);
    }
    if (measured.empty()) throw Error("no line of the L2 was measured from any multiprocessor");
    Sides sides{.of_multiprocessors = std::vector<int>(multiprocessors, -1), .lines = lines_of(votes_of(measured))};
    for (std::size_t i = 0; i < measured.size(); ++i) set_side(measured[i], numbers[i], sides);
    sides.near_cycles /= static_cast<double>(measured.size());
    sides.far_cycles /= static_cast<double>(measured.size());
    if (std::ranges::find(sides.of_multiprocessors, 1) == sides.of_multiprocessors.end())
        throw Unsupported("this GPU's L2 has no two sides: the same lines are near to all multiprocessors");
    return sides;
}

std::vector<std::uint32_t> list_of(std::span<const int> lines, std::size_t count)
{
    if (lines.size() < count)
        throw Unsupported("a side of this GPU's L2 has only " + std::to_string(lines.size()) +
                          " of the lines, and the probe takes " + std::to_string(count));
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < count; ++i)
        chosen.push_back(static_cast<std::uint32_t>(lines[i * lines.size() / count]));
    return chosen;
}

}  // namespace roof::gpu
