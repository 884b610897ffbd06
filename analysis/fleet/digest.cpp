#include "analysis/fleet/digest.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/compressed.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/base/utc.hpp"
#include "ert/method/bench/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

}  // namespace roof::analysis
