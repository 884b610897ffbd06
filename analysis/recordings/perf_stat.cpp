// `perf stat -j`: a JSON object on each line; `perf stat -x`: values between separators. An event may have a line for each core or memory
// channel.
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/import_units.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace roof::analysis {

namespace {

using Json = nlohmann::json;

std::string capitals(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string text_in(const Json& line, const char* key)
{
    const auto found = line.find(key);
    if (found == line.end()) return {};
    return found->is_string() ? found->get<std::string>() : found->dump();
}

struct Events {
    Metrics metrics;
    std::vector<std::string> uncounted;
    bool scaled = false;  ///< some counted only part of the time
};

bool is_aggregated(const Json& line)
{
    return std::ranges::any_of(std::initializer_list<const char*>{"cpu", "core", "socket", "die", "node"},
                               [&](const char* key) { return line.contains(key); });
}

void add(Events& events, const Json& line, const std::string& where)
{
    if (line.contains("interval"))
        throw InputError(where + ": it was made with -I (intervals), but a row is one run: leave -I out");
    const std::string event = text_in(line, "event"), text = text_in(line, "counter-value");
    if (event.empty() || text.empty()) return;
    if (text.starts_with('<')) {
        events.uncounted.push_back(printable(event) + " (" + printable(text) + ")");
        return;
    }
    const auto value = number_of(text);
    if (!value || *value < 0)
        throw InputError(fmt::format("{}: {}: '{}' is not a count", where, printable(event), printable(text)));
    const auto unit = unit_of(text_in(line, "unit"));
    if (!unit)
        throw InputError(
            fmt::format("{}: {}: the unit '{}' is unknown", where, printable(event), printable(text_in(line, "unit"))));
    const auto share = number_of(text_in(line, "pcnt-running"));
    events.scaled = events.scaled || (share && *share < 99.5);
    const auto [place, is_new] = events.metrics.emplace(event, Metric{0, unit->name});
    if (!is_new && !is_aggregated(line))
        throw InputError(fmt::format("{}: {} occurs twice: the file has several runs; import them one by one", where,
                                     printable(event)));
    place->second.value += *value * unit->factor;
}

/// A line of `perf stat -x` as that of -j: [time] [core, number of processors] value, unit, event, [with -r: their scatter in %,] run time,
/// percent … Null for others.
Json separated(std::string_view line)
{
    const auto is_value = [](const std::string& field) { return number_of(field) || field.starts_with('<'); };
    for (const char separator : {',', ';', '\t', '|', ' '}) {
        std::vector<std::string> fields = split(line, separator);
        for (std::size_t at = 0; at + 4 < fields.size() && at < 4; ++at) {
            const std::string& event = fields[at + 2];
            const bool names = !event.empty() && std::isalpha(static_cast<unsigned char>(event.front())) != 0;
            if (names && fields[at + 3].ends_with('%') && fields.size() > at + 5)
                fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at + 3));
            if (!names || !is_value(fields[at]) || !number_of(fields[at + 3]) || !number_of(fields[at + 4])) continue;
            Json made{{"counter-value", fields[at]},
                      {"unit", fields[at + 1]},
                      {"event", event},
                      {"pcnt-running", fields[at + 4]}};
            if (at > 0) made[number_of(fields[0]) ? "interval" : "cpu"] = fields[0];
            return made;
        }
    }
    return nullptr;
}

Events read_events(const std::string& text, const std::string& name)
{
    Events events;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string where = fmt::format("{}:{}", name, ++number);
        if (end == text.npos) throw InputError(where + ": the line is cut off");
        const std::string_view line = trim(std::string_view(text).substr(at, end - at));
        at = end + 1;
        if (line.empty() || line.front() == '#') continue;
        constexpr std::size_t longest = std::size_t{1} << 16;  // a parsed value takes 16 times its bytes
        if (line.size() > longest) throw InputError(where + ": the line is longer than 64 KiB, as none of perf's is");
        const Json parsed = line.front() == '{' ? Json::parse(line, nullptr, false) : separated(line);
        if (!parsed.is_object()) throw InputError(where + ": this is not a line of `perf stat -j` or `-x`");
        add(events, parsed, where);
    }
    return events;
}

}  // namespace

bool is_perf_stat(std::string_view text)
{
    const std::size_t line =
        find_line(text, [](std::string_view l) { return !trim(l).empty() && trim(l).front() != '#'; });
    if (line == text.npos) return false;
    const std::string_view first = text.substr(line, text.find('\n', line) - line);
    if (trim(first).front() != '{') return separated(trim(first)).is_object();
    return first.find("\"counter-value\"") != first.npos && first.find("\"event\"") != first.npos;
}

Imported read_perf_stat(const std::string& text, const std::string& name, const std::string& row_name)
{
    const Events events = read_events(text, name);
    if (events.metrics.empty()) throw InputError(name + ": no event was counted");
    Imported imported{"perf stat", {{"cpu", "cpu", "", {}, {}, {}, {}}}, {}, {}, {}};
    Metrics by_capitals;
    for (const auto& [event, metric] : events.metrics) by_capitals[capitals(event)] = metric;
    const auto time = by_capitals.find("DURATION_TIME");
    const Seconds seconds{time != by_capitals.end() && time->second.unit == "s" ? time->second.value : 0};
    if (seconds.value <= 0) imported.missing.push_back("time: add the event duration_time");
    ImportedRow row = processor_row(row_name, seconds, count_work(by_capitals), imported);
    for (const auto& [event, metric] : events.metrics) row.counters.push_back(step_counter(event, metric));
    if (!events.uncounted.empty()) imported.missing.push_back("not counted: " + join(events.uncounted, ", "));
    if (events.scaled)
        imported.remarks.push_back(
            "More events were requested than there are counters. perf multiplexed and scaled them, so counts are "
            "estimates.");
    imported.rows.push_back(std::move(row));
    return imported;
}

}  // namespace roof::analysis
