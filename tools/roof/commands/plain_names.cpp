#include "tools/roof/commands/plain_names.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/node.hpp"
#include "ert/method/results/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace roof {

namespace fs = std::filesystem;

PlainNames::PlainNames()
{
    fs::current_path(scratch_.path());
}

PlainNames::~PlainNames()
{
    std::error_code ignored;
    fs::current_path(before_, ignored);
}

fs::path PlainNames::of(const fs::path& folder)
{
    const fs::path real = fs::canonical(before_ / folder);
    if (names_.contains(real)) return names_[real];
    std::vector<Neighbour> places = neighbours_in(real.parent_path());
    if (std::ranges::find(places, real, &Neighbour::place) == places.end()) places.push_back({real});
    const fs::path home = fmt::format("machine-{}", names_.size() + 1);
    fs::create_directories(home);
    for (const Neighbour& one : places) {
        const fs::path name = home / fmt::format("run-{}", names_.size() + 1);
        if (names_.try_emplace(one.place, name).second) fs::create_directory_symlink(one.place, name);
    }
    return names_[real];
}

fs::path PlainNames::of_results(const fs::path& results)
{
    const fs::path home = "results";
    for (const Neighbour& machine : neighbours_in(before_ / results)) {
        fs::create_directories(home / machine.place.filename());
        int number = 0;
        for (const Neighbour& one : neighbours_in(machine.place))
            fs::create_directory_symlink(one.place, home / machine.place.filename() / fmt::format("run-{}", ++number));
    }
    return home;
}

std::string PlainNames::without_nodes(std::string text) const
{
    const auto is_of_name = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (const auto& [node, name] : nodes_)
        for (std::size_t at = 0; (at = text.find(node, at)) != std::string::npos;) {
            const bool is_whole = !is_of_name(at + node.size()) && (at == 0 || !is_of_name(at - 1));
            if (is_whole) text.replace(at, node.size(), name);
            at += is_whole ? name.size() : node.size();
        }
    return text;
}

void PlainNames::hide_in(Machine& machine)
{
    std::vector<std::string> nodes = rank_nodes(machine);
    if (!machine.node.empty()) nodes.push_back(machine.node);
    for (std::string& node : nodes)
        node = nodes_.try_emplace(node, fmt::format("node-{}", nodes_.size() + 1)).first->second;
    if (!machine.node.empty()) machine.node = nodes.back(), nodes.pop_back();
    if (!nodes.empty()) set_rank_nodes(machine, nodes);
    machine.host.clear();
    for (const char* const what : {"kernel", "BIOS", "microcode"}) machine.versions.erase(what);
}

void PlainNames::hide_in(Results& results) const
{
    results.plan = without_nodes(results.plan);
    for (std::vector<std::string>* texts : {&results.damage, &results.remarks, &results.odd})
        std::ranges::transform(*texts, texts->begin(), [&](const std::string& text) { return without_nodes(text); });
    for (Measurement& row : results.rows)
        for (std::string* text : {&row.reason, &row.remarks, &row.description}) *text = without_nodes(*text);
}

void PlainNames::hide_in(analysis::Study& study)
{
    for (Results* results : {&study.results, &study.calibration}) hide_in(results->machine);
    for (Results* results : {&study.results, &study.calibration}) hide_in(*results);
}

}  // namespace roof
