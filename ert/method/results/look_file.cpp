#include "ert/method/results/look_file.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/fields.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr double parts = 1e4;            ///< of the rate, in which samples are written
constexpr std::size_t most_samples = 9;  ///< of a round; more are thinned
constexpr std::size_t largest_read = 4 * largest_looks;

struct Line {
    long long time{};
    std::string run;  ///< this and the next two stand in the first line of a look
    std::string machine;
    std::string state;
    Ceiling ceiling;
    std::string rounds;
};
/// By time and run.
using LinesOfLooks = std::map<std::pair<long long, std::string>, std::vector<Line>>;

template <auto... members>
constexpr Field<Line> of_ceiling(std::string_view name)
{
    return field<Line, &Line::ceiling, members...>(name, true);
}

const std::vector<Field<Line>>& fields()
{
    static const std::vector<Field<Line>> all{field<Line, &Line::time>("time_s", true),
                                              field<Line, &Line::run>("run", true),
                                              field<Line, &Line::machine>("machine", true),
                                              field<Line, &Line::state>("state", true),
                                              of_ceiling<&Ceiling::kind>("kind"),
                                              of_ceiling<&Ceiling::device>("device"),
                                              of_ceiling<&Ceiling::level>("level"),
                                              of_ceiling<&Ceiling::operation>("operation"),
                                              of_ceiling<&Ceiling::precision>("precision"),
                                              of_ceiling<&Ceiling::isa>("isa"),
                                              of_ceiling<&Ceiling::condition>("condition"),
                                              of_ceiling<&Ceiling::threads>("threads"),
                                              of_ceiling<&Ceiling::working_set_low>("working_set_low"),
                                              of_ceiling<&Ceiling::working_set_high>("working_set_high"),
                                              of_ceiling<&Ceiling::working_set>("working_set"),
                                              of_ceiling<&Ceiling::variant>("variant"),
                                              of_ceiling<&Ceiling::known>("known"),
                                              of_ceiling<&Ceiling::point>("point"),
                                              of_ceiling<&Ceiling::clock, &Estimate<Hertz>::median>("clock_hz"),
                                              of_ceiling<&Ceiling::clock, &Estimate<Hertz>::low>("clock_low_hz"),
                                              of_ceiling<&Ceiling::clock, &Estimate<Hertz>::high>("clock_high_hz"),
                                              of_ceiling<&Ceiling::rate, &Rate::low>("rate"),
                                              field<Line, &Line::rounds>("rounds", true)};
    return all;
}

/// The first column is no "id": these lines belong to no row.
std::string columns_of_looks()
{
    return "time_utc" + header_of(fields()).substr(2);
}

std::string text_of(const Facts& facts)
{
    std::string text;
    for (const auto& [name, value] : facts) text += (text.empty() ? "" : "; ") + name + " " + value;
    return text;
}

std::string name_of(const Machine& machine)
{
    return fmt::format("{:08x}", crc32_of(text_of(identity_of(machine))));
}

/// Of more samples than are kept, those at equal distances in their order.
Round thinned(Round round)
{
    if (round.size() <= most_samples) return round;
    std::ranges::sort(round, {}, &RateSample::rate);
    Round some;
    for (std::size_t i = 0; i < most_samples; ++i) some.push_back(round[i * (round.size() - 1) / (most_samples - 1)]);
    return some;
}

/// Samples that are left out count against a rate if they are faster: only those are kept.
std::string text_of(const Ceiling& ceiling)
{
    std::string text;
    const double scale = ceiling.rate.low.value;
    for (const Round& round : ceiling.samples) {
        Round counted;
        Round faster;
        std::vector<double> clocks;
        for (const RateSample& sample : round) {
            if (!sample.left_out) counted.push_back(sample);
            if (sample.left_out && sample.rate > ceiling.rate.high.value) faster.push_back(sample);
            if (sample.clock > 0) clocks.push_back(sample.clock);
        }
        counted = thinned(std::move(counted));
        counted.insert(counted.end(), faster.begin(), faster.end());
        if (counted.empty()) continue;
        const double clock = clocks.empty() ? 0 : spread_of(clocks).median;
        text += fmt::format("{}{:.5g}:", text.empty() ? "" : ";", clock);
        for (const RateSample& sample : counted) {
            text += fmt::format("{:.0f}{}{}{}", sample.rate / scale * parts, sample.disturbed ? "d" : "",
                                sample.left_out ? "x" : "", sample.is_late ? "l" : "");
            // The sets of a round are measured apart, each at the clock of its moment.
            if (std::abs(sample.clock - clock) > 0.001 * clock)
                text += fmt::format("c{:.0f}", sample.clock / clock * parts);
            text += ' ';
        }
        text.pop_back();
    }
    return text;
}

/// Throws Error.
std::vector<Round> rounds_of(const std::string& text, double scale)
{
    std::vector<Round> rounds;
    for (const std::string& part : split(text, ';')) {
        const std::size_t colon = std::min(part.find(':'), part.size() - 1);
        double clock = 0;
        read_cell(clock, std::string_view(part).substr(0, colon));
        Round& round = rounds.emplace_back();
        for (const std::string& word : split(std::string_view(part).substr(colon + 1), ' ')) {
            RateSample& sample = round.emplace_back(RateSample{0, clock});
            const std::size_t digits = std::min(word.find_first_of("dxlc"), word.size());
            read_cell(sample.rate, std::string_view(word).substr(0, digits));
            sample.rate *= scale / parts;
            sample.disturbed = word.find('d') != std::string::npos;
            sample.left_out = word.find('x') != std::string::npos;
            sample.is_late = word.find('l') != std::string::npos;
            if (const std::size_t at = word.find('c'); at != std::string::npos) {
                read_cell(sample.clock, std::string_view(word).substr(at + 1));
                sample.clock *= clock / parts;
            }
        }
    }
    return rounds;
}

/// Adds the looks of the machine of this name; none of a missing file. Throws InputError for other columns.
void read_looks(const fs::path& file, const std::string& machine, LinesOfLooks& looks,
                std::vector<std::string>& remarks)
{
    if (!is_there(file)) return;
    std::istringstream csv(read_file(file, largest_read));
    CsvLines lines(csv, file.string());
    std::string what;
    if (!lines.next(what) || !lines.has_blocks() || !std::ranges::equal(lines.cells(), split(columns_of_looks(), ',')))
        throw InputError(file.string() + ":1: its columns are not those of looks");
    Places<Line> places;
    for (std::size_t i = 0; i < fields().size(); ++i) places.emplace_back(&fields()[i], i + 1);
    std::vector<Line> block;
    std::string damage;
    while (lines.next(what)) {
        Line& line = block.emplace_back();
        if (what.empty()) {
            try {
                what = read_row(line, lines, places);
                line.ceiling.samples =
                    what.empty() ? rounds_of(line.rounds, line.ceiling.rate.low.value) : std::vector<Round>();
            } catch (const Error& error) {
                what = error.what();
            }
            if (!what.empty()) what = lines.where() + ": " + what;
        }
        line.ceiling.per_clock_compared = line.ceiling.clock.median.value != 0;
        if (damage.empty()) damage = what;
        if (!lines.ends_block()) continue;
        if (damage.empty()) damage = lines.block_damage();
        if (damage.empty() && block.front().machine != machine) damage = lines.where() + ": a look at another machine";
        if (damage.empty())
            looks.try_emplace({block.front().time, block.front().run}, block);
        else
            remarks.push_back(damage + "; the look was passed over");
        block.clear();
        damage.clear();
    }
    if (!block.empty() || lines.cut_off())
        remarks.push_back(lines.where() + ": a look without its end; it was passed over");
}

/// A block of lines without their checksum, of which with_checksums() makes one.
std::string text_of(const std::vector<Line>& look)
{
    std::string text;
    for (const Line& line : look) {
        append_row(text, utc_text(line.time), line, fields());
        text.insert(text.size() - 1, &line == &look.back() ? ",x" : ",");
    }
    return text;
}

/// The whole file. While it is too large, its second look goes.
std::string text_of(const LinesOfLooks& looks)
{
    std::vector<std::string> texts;
    std::size_t bytes{};
    for (const auto& [name, look] : looks) bytes += texts.emplace_back(text_of(look)).size();
    for (; bytes > largest_looks && texts.size() > 2; texts.erase(texts.begin() + 1)) bytes -= texts[1].size();
    return with_column(columns_of_looks(), block_column) + "\n" + join(texts, "");
}

/// Waits for other processes that add a look.
void wait_for(const fs::path& folder, std::optional<FolderLock>& lock)
{
    constexpr int tries = 500;
    constexpr std::chrono::milliseconds pause{10};
    for (int i = 0; !lock; ++i) {
        try {
            lock.emplace(folder);
        } catch (const InUse&) {
            if (i == tries) throw;
            std::this_thread::sleep_for(pause);
        }
    }
}

}  // namespace

fs::path looks_file_of(const fs::path& home, const Machine& machine)
{
    return home / ("looks-" + name_of(machine) + ".csv");
}

Looks looks_at(const fs::path& folder, const Machine& machine)
{
    if (folder.empty() || !is_there(folder / looks_file)) return {};
    return looks_in(
        {looks_file_of(fs::absolute(folder).lexically_normal().parent_path(), machine), folder / looks_file}, machine);
}

Looks looks_in(const std::vector<fs::path>& files, const Machine& machine)
{
    Looks looks;
    LinesOfLooks lines;
    for (const fs::path& file : files) try {
            read_looks(file, name_of(machine), lines, looks.remarks);
        } catch (const Error& error) {
            looks.remarks.push_back(std::string(error.what()) + "; its looks were passed over");
        }
    if (lines.empty()) return looks;
    const std::string now = lines.rbegin()->second.front().state;
    std::string state;
    std::string changed;
    for (auto& [name, look] : lines) {
        const bool is_of_now = look.front().state == now;
        if (!state.empty() && look.front().state != state)
            changed = fmt::format(
                "the machine's state changed between {} and {}: {}, before {}; looks before confirm a "
                "rate and do not change it",
                utc_text(looks.newest()), utc_text(name.first), look.front().state, state);
        state = look.front().state;
        for (Line& line : look) looks.seen.push_back({name.first, is_of_now, std::move(line.ceiling)});
    }
    if (!changed.empty()) looks.remarks.push_back(changed);
    return looks;
}

void add_look(const fs::path& folder, const fs::path& home, bool is_home, const Machine& machine,
              std::span<const Ceiling> ceilings, long long time)
{
    const fs::path file = looks_file_of(home, machine);
    const bool is_kept = is_home || is_there(file);
    std::optional<FolderLock> lock;
    if (is_kept) wait_for(home, lock);
    LinesOfLooks looks;
    std::vector<std::string> passed_over;
    for (const fs::path& there : {file, folder / looks_file}) read_looks(there, name_of(machine), looks, passed_over);
    std::vector<Line> look;
    for (const Ceiling& ceiling : ceilings) {
        const bool is_path = level_traits(ceiling.level).kind == LevelKind::path;
        if (is_path || ceiling.known != Known::measured || ceiling.samples.empty() || ceiling.rate.low.value <= 0)
            continue;
        Line& line = look.emplace_back(Line{time, "", "", "", ceiling, text_of(ceiling)});
        if (!ceiling.per_clock_compared) line.ceiling.clock = {};
    }
    const bool is_new = !look.empty();
    if (is_new) {
        Line& first = look.front();
        first.run = run_of(folder);
        first.machine = name_of(machine);
        first.state = text_of(state_of(machine));
        looks[{time, first.run}] = std::move(look);
    }
    if (looks.empty()) return;
    const std::string text = text_of(looks);
    if (is_kept && is_new) write_file(file, with_checksums(text));
    write_file(folder / looks_file, with_checksums(text, run_of(folder)));
}

}  // namespace roof
