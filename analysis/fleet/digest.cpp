#include "analysis/fleet/digest.hpp"

#include "analysis/estimate/network_fit.hpp"
#include "analysis/estimate/prediction.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/compared/compare.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace roof::analysis {

namespace {

constexpr const char* header = "what,name,value,low,high,unit,state,n,spec,rounds";
constexpr const char* older_header = "what,name,value,low,high,unit,state,n,spec";
constexpr std::size_t place_of_rounds = 9;
constexpr std::size_t longest_text = 200;
constexpr std::array<std::pair<const char*, std::string Digest::*>, 5> first_facts{{{"node", &Digest::node},
                                                                                    {"kind", &Digest::kind},
                                                                                    {"plan", &Digest::plan},
                                                                                    {"revision", &Digest::revision},
                                                                                    {"time", &Digest::time}}};

std::string digits(double value)
{
    return std::isfinite(value) && value > 0 ? fmt::format("{:.5g}", value) : "";
}

std::string line_of(const char* what, const DigestRate& rate)
{
    const std::vector<std::string> cells{
        what,      rate.name,  digits(rate.value),     digits(rate.low),  digits(rate.high),
        rate.unit, rate.state, std::to_string(rate.n), digits(rate.spec), std::to_string(rate.rounds)};
    return csv_line(cells);
}

std::string fact_line(const std::string& name, const std::string& text)
{
    return csv_line(std::vector<std::string>{"fact", name, text, "", "", "", "", "", "", ""});
}

/// A line of a digest. What is wrong with it is told with its place.
struct Line {
    const std::vector<std::string>& cells;
    std::string where;

    [[noreturn]] void refuse(const std::string& why) const { throw InputError(where + ": " + why); }

    double positive(std::size_t i) const
    {
        const double value = parse_number<double>(cells[i]).value_or(0);
        if (!std::isfinite(value) || value <= 0) refuse("'" + shortened(cells[i], 40) + "' is no number above 0");
        return value;
    }

    int count_of(std::size_t i, const char* what) const
    {
        const auto n = parse_number<int>(cells[i]);
        if (n.value_or(-1) < 0) refuse("'" + shortened(cells[i], 40) + "' is no number of " + what);
        return *n;
    }

    DigestRate rate() const
    {
        DigestRate rate{cells[1], cells[5], cells[6], positive(2), positive(3), HUGE_VAL};
        if (!cells[4].empty()) rate.high = positive(4);
        if (rate.low > rate.value || rate.value > rate.high) refuse("the value lies outside its interval");
        rate.n = count_of(7, "samples");
        if (!cells[8].empty()) rate.spec = positive(8);
        if (cells.size() > place_of_rounds) rate.rounds = count_of(place_of_rounds, "rounds");
        return rate;
    }

    DigestRate link() const
    {
        DigestRate link = rate();
        const std::size_t blank = link.name.find(' ');
        if (blank == std::string::npos || !is_node_name(link.name.substr(0, blank)) ||
            !is_node_name(link.name.substr(blank + 1)))
            refuse("'" + shortened(link.name, 40) + "' are not the names of two nodes");
        return link;
    }
};

/// "2026-11-22T18:02:16Z", with any characters after the day's.
bool is_time(const std::string& text)
{
    return text.starts_with(utc_text(utc_seconds(text, "%Y-%m-%dT").value_or(0)).substr(0, 11));
}

}  // namespace

std::string to_csv(const Digest& digest)
{
    constexpr std::size_t end_size = 100;  // the fact "left out", the end and the checksum
    std::string text = std::string(header) + '\n';
    for (const auto& [name, member] : first_facts) text += fact_line(name, digest.*member);
    for (const auto& [name, value] : digest.facts) text += fact_line(name, value);
    auto count = static_cast<std::size_t>(std::ranges::count(text, '\n')) - 1;
    std::size_t size = text.size() + count + end_size;  // a comma more in each line
    const auto fitting = [&](const char* what, const std::vector<DigestRate>& rates) {
        std::string lines;
        std::size_t number = 0;
        for (const DigestRate& rate : rates) {
            const std::string line = line_of(what, rate);
            size += line.size() + 1;
            if (size > largest_digest - largest_digest / 100) break;  // the rest: a checksum in each block of lines
            lines += line;
            ++number;
        }
        return std::pair(lines, number);
    };
    const auto [links, number_of_links] = fitting("link", digest.links);
    const auto [ceilings, number_of_ceilings] = fitting("ceiling", digest.ceilings);
    count += number_of_links + number_of_ceilings;
    const std::size_t left_out = digest.links.size() + digest.ceilings.size() - number_of_links - number_of_ceilings;
    if (left_out > 0) {
        text += fact_line("left out", std::to_string(left_out));
        ++count;
    }
    text += ceilings + links;
    text += csv_line(std::vector<std::string>{"end", "", std::to_string(count), "", "", "", "", "", "", ""});
    return with_checksums(text, digest.run);
}

Digest parse_digest(const std::string& file, const std::string& name)
{
    if (file.size() > largest_digest) throw InputError(name + ": it is longer than 1 MiB");
    const std::string text = is_compressed(file) ? decompressed(file, name, largest_digest) : file;
    const CsvTable table = parse_csv(text, name);
    if (!has_column(text.substr(0, text.find('\n')), block_column) ||
        (table.header != split(header, ',') && table.header != split(older_header, ',')))
        throw InputError(name + ": its columns are not those of a digest, or have no checksums");
    Digest digest;
    std::set<std::string> names;
    bool has_ended = false;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const Line line{table.rows[i], fmt::format("{}:{}", name, i + 2)};
        const std::string &what = line.cells[0], &key = line.cells[1], &value = line.cells[2];
        if (has_ended) line.refuse("it stands after the end");
        if (std::ranges::any_of(line.cells, [](const std::string& cell) { return cell.size() > longest_text; }))
            line.refuse("a cell is too long");
        if (what != "end" && !names.insert(what + ' ' + key).second) line.refuse("the name stands twice");
        if (what == "fact")
            digest.facts[key] = value;
        else if (what == "ceiling")
            digest.ceilings.push_back(line.rate());
        else if (what == "link")
            digest.links.push_back(line.link());
        else if (what == "end" && value == std::to_string(i))
            has_ended = true;
        else
            line.refuse("it is no fact, ceiling, link or end");
    }
    if (!has_ended) throw InputError(name + ": it is cut off");
    for (const auto& [fact, member] : first_facts) {
        auto found = digest.facts.extract(fact);
        if (found.empty() || found.mapped().empty()) throw InputError(fmt::format("{}: it names no {}", name, fact));
        digest.*member = std::move(found.mapped());
    }
    if (!is_node_name(digest.node)) throw InputError(name + ": '" + digest.node + "' is no node's name");
    if (!is_time(digest.time)) throw InputError(name + ": '" + digest.time + "' is no time");
    return digest;
}

// Digests of runs: which rates a fleet is judged by, and in which order.

namespace {

constexpr std::size_t longest_word = 200;
constexpr std::size_t longest_plain = 10'000;  ///< bytes; a longer digest is compressed
constexpr std::size_t fewest_twins = 3;

std::map<std::string, std::string> facts_of(const Machine& machine)
{
    std::map<std::string, std::string> facts;
    const auto add = [&](const std::string& name, const std::string& text) {
        if (!text.empty()) facts[name] = shortened(printable(text), longest_word);
    };
    for (const char* part : {"BIOS", "microcode", "kernel", "NVIDIA driver"}) add(part, version_of(machine, part));
    add("governor", machine.governor);
    if (const Device* const cpu = machine.find_device("cpu")) add("memory", format_capacity(cpu->memory.value));
    return facts;
}

DigestRate rate_of(const Ceiling& ceiling, const Machine& machine)
{
    const bool is_bound = ceiling.steadiness == Steadiness::at_least;
    DigestRate rate{.name = shortened(printable(id_of(ceiling)), longest_word),
                    .unit = std::string(ceiling.unit()),
                    .state = std::string(name(ceiling.steadiness)),
                    .value = ceiling.rate.median.value,
                    .low = ceiling.rate.low.value,
                    .high = is_bound ? HUGE_VAL : ceiling.rate.high.value,
                    .n = ceiling.rate.n,
                    .rounds = ceiling.rounds_of_interval()};
    if (const auto share = share_of_spec(ceiling, machine); share && *share > 0) rate.spec = rate.value / *share;
    return rate;
}

/// The order of a digest, by what a fault of the rate costs a training step: memory and caches with all threads,
/// arithmetic with all threads, latencies, what has a condition (paths to the host, small pages, other NUMA nodes),
/// part of the threads.
int rank_of(const Ceiling& ceiling, const Ceilings& all)
{
    if (ceiling.kind == Role::latency) return 2;
    if (!ceiling.condition.empty()) return 3;
    if (ceiling.threads != all.most_threads(ceiling.device)) return 4;
    return ceiling.kind == Role::bandwidth ? 0 : 1;
}

/// Vector arithmetic of a CPU: its rates with one instruction set and number of threads differ by whole factors and
/// share their faults.
bool is_twin(const Ceiling& ceiling)
{
    constexpr std::array<std::string_view, 4> operations{"best", "fma", "mul+add", "add"};
    return ceiling.device == "cpu" && ceiling.kind == Role::compute && ceiling.condition.empty() &&
           (ceiling.precision == "fp32" || ceiling.precision == "fp64") &&
           std::ranges::find(operations, ceiling.operation) != operations.end();
}

std::string mean_name(Ceiling ceiling, std::size_t count)
{
    ceiling.operation = fmt::format("mean of {}", count);
    ceiling.precision.clear();
    return id_of(ceiling);
}

/// The geometric mean. Its relative half-width is the mean of theirs, which holds however their errors go together. It
/// is a lower bound if one of them is.
DigestRate mean_of(const std::vector<const Ceiling*>& twins, const Machine& machine)
{
    std::vector<DigestRate> rates;
    for (const Ceiling* twin : twins) rates.push_back(rate_of(*twin, machine));
    const auto mean_over = [&](double DigestRate::*member) {
        double sum = 0;
        for (const DigestRate& rate : rates) sum += std::log(rate.*member);
        return std::exp(sum / static_cast<double>(rates.size()));
    };
    DigestRate mean = rates.front();
    mean.value = mean_over(&DigestRate::value);
    mean.low = mean_over(&DigestRate::low);
    mean.high = mean_over(&DigestRate::high);
    mean.spec = mean_over(&DigestRate::spec);  // 0 if one has none
    mean.n = std::ranges::min(rates, {}, &DigestRate::n).n;
    mean.rounds = std::ranges::min(rates, {}, &DigestRate::rounds).rounds;
    mean.name = mean_name(*twins.front(), twins.size());
    mean.state = name(std::ranges::max(twins, {}, &Ceiling::steadiness)->steadiness);
    return mean;
}

std::vector<std::string> devices_of(const std::vector<Ceiling>& ceilings)
{
    std::vector<std::string> devices;
    for (const Ceiling& ceiling : ceilings) devices.push_back(ceiling.device);
    return devices;
}

}  // namespace

std::string kind_of(const Machine& machine, const std::vector<std::string>& devices)
{
    std::map<std::string, int> models;
    for (const Device& device : machine.devices)
        if (device.kind != "cpu" && std::ranges::find(devices, device.name) != devices.end()) ++models[device.model];
    std::string kind = machine.name;
    for (const auto& [model, number] : models) kind += fmt::format(", {} x {}", number, model);
    return shortened(printable(kind), longest_word);
}

Digest make_digest(const Results& results, Twins twins)
{
    const Machine& machine = results.machine;
    Ceilings ceilings = fit_ceilings(results.rows, machine);
    std::ranges::stable_sort(ceilings.all, {}, [&](const Ceiling& ceiling) { return rank_of(ceiling, ceilings); });
    const std::string revision = version_of(machine, "revision");
    const auto newest = std::ranges::max_element(results.rows, {}, &Measurement::started);
    Digest digest{.node = machine.node.empty() ? "unknown" : machine.node,
                  .kind = kind_of(machine, devices_of(ceilings.all)),
                  .plan = fingerprint(results.plan),
                  .revision = revision.empty() ? "unknown" : revision,
                  .time = newest == results.rows.end() ? "" : newest->started,
                  .run = run_of(results.folder),
                  .facts = facts_of(machine)};
    const std::vector<MessagePoint> messages = messages_in(results.rows);
    // Messages between nodes are rates of links, not of the node that wrote them down.
    std::set<std::string> between_nodes;
    for (const MessagePoint& message : messages)
        if (!message.path.starts_with("1x")) between_nodes.insert(message.path);
    std::erase_if(ceilings.all, [&](const Ceiling& ceiling) {
        return ceiling.rate.low.value <= 0 || between_nodes.contains(ceiling.level);
    });
    std::map<std::string, std::vector<const Ceiling*>> means;
    for (const Ceiling& ceiling : ceilings.all)
        if (twins == Twins::as_mean && is_twin(ceiling)) means[mean_name(ceiling, 0)].push_back(&ceiling);
    std::map<std::string, std::size_t> places;
    for (const Ceiling& ceiling : ceilings.all) {
        const auto found = is_twin(ceiling) ? means.find(mean_name(ceiling, 0)) : means.end();
        const bool is_one_of_many = found != means.end() && found->second.size() >= fewest_twins;
        DigestRate rate = is_one_of_many ? mean_of(found->second, machine) : rate_of(ceiling, machine);
        const auto [place, is_new] = places.try_emplace(rate.name, digest.ceilings.size());
        if (is_new)
            digest.ceilings.push_back(std::move(rate));
        else if (digest.ceilings[place->second].value < rate.value)
            digest.ceilings[place->second] = std::move(rate);
    }
    for (const auto& [nodes, largest] : links_in(messages)) {
        const auto& [median, low, high, n, discarded] = largest->rate;
        digest.links.push_back({nodes, "B/s", "", median.value, low.value, high.value, 0, n, largest->rounds});
    }
    return digest;
}

void keep_digest(const Results& results)
{
    Digest digest = make_digest(results);
    if (digest.ceilings.empty() && digest.links.empty()) return;
    const std::string text = to_csv(digest);
    write_file(results.folder / digest_file, text.size() > longest_plain ? compressed(text) : text);
}

}  // namespace roof::analysis
