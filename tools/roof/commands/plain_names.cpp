#include "tools/roof/commands/plain_names.hpp"

#include "ert/method/bench/node.hpp"
#include "ert/method/results/neighbours.hpp"

#include <fmt/format.h>

#include <cctype>

namespace roof {

namespace fs = std::filesystem;

void PlainNames::link(const fs::path& place, const fs::path& home)
{
    fs::create_directories(home);
    const fs::path name = home / fmt::format("run-{}", names_.size() + 1);
    if (names_.try_emplace(place, name).second) fs::create_directory_symlink(place, name);
}

fs::path PlainNames::of(const fs::path& folder)
{
    const fs::path real = fs::canonical(before_ / folder);
    const fs::path home = fmt::format("machine-{}", names_.size() + 1);
    link(real, home);
    for (const Neighbour& one : neighbours_in(real.parent_path())) link(one.place, home);
    return names_[real];
}

fs::path PlainNames::of_results(const fs::path& results)
{
    const fs::path home = "results";
    for (const Neighbour& machine : neighbours_in(before_ / results))
        for (const Neighbour& one : neighbours_in(machine.place)) link(one.place, home / machine.place.filename());
    return home;
}

std::string PlainNames::without_nodes(std::string text) const
{
    const auto is_word = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (const auto& [node, name] : nodes_)
        for (std::size_t at = 0; (at = text.find(node, at)) != std::string::npos;) {
            const bool is_whole = !is_word(at - 1) && !is_word(at + node.size());
            if (is_whole) text.replace(at, node.size(), name);
            at += is_whole ? name.size() : 1;
        }
    return text;
}

void PlainNames::hide_in(analysis::Study& study)
{
    const auto plain = [&](const std::string& node) {
        return nodes_.try_emplace(node, fmt::format("node-{}", nodes_.size() + 1)).first->second;
    };
    for (Machine* machine : {&study.results.machine, &study.calibration.machine}) {
        std::vector<std::string> nodes = rank_nodes(*machine);
        for (std::string& node : nodes) node = plain(node);
        if (!nodes.empty()) set_rank_nodes(*machine, nodes);
        if (!machine->node.empty()) machine->node = plain(machine->node);
        machine->host.clear();
        for (const char* const what : {"kernel", "BIOS", "microcode"}) machine->versions.erase(what);
    }
    for (Results* results : {&study.results, &study.calibration}) {
        std::vector<std::string*> texts{&results->plan};
        for (std::vector<std::string>* list : {&results->damage, &results->remarks, &results->odd})
            for (std::string& text : *list) texts.push_back(&text);
        for (Measurement& row : results->rows) texts.insert(texts.end(), {&row.reason, &row.remarks, &row.description});
        for (std::string* text : texts) *text = without_nodes(*text);
    }
}

}  // namespace roof
