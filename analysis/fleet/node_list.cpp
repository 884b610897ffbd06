#include "analysis/fleet/node_list.hpp"

#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/node.hpp"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace roof::analysis {
namespace {

constexpr std::size_t most_nodes = 100'000;

/// Splits at commas outside brackets.
std::vector<std::string> list_words(const std::string& text)
{
    std::vector<std::string> words{""};
    int depth = 0;
    for (const char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        const bool divides = (c == ',' && depth == 0) || std::isspace(static_cast<unsigned char>(c)) != 0;
        if (divides)
            words.emplace_back();
        else
            words.back() += c;
    }
    std::erase(words, "");
    return words;
}

/// "01-03" -> {"01", "02", "03"}.
std::vector<std::string> numbers_in(const std::string& range, const std::string& word)
{
    const std::vector<std::string> ends = split(range, '-');
    const auto first = parse_number<unsigned>(ends.front());
    const auto last = parse_number<unsigned>(ends.back());
    if (ends.size() > 2 || !first || !last || *first > *last || *last - *first >= most_nodes)
        throw InputError("--nodes: '" + range + "' in '" + word + "' is no range such as 01-32");
    std::vector<std::string> numbers;
    for (unsigned i = *first; i <= *last; ++i) numbers.push_back(fmt::format("{:0{}}", i, ends.front().size()));
    return numbers;
}

void require_few(std::size_t nodes)
{
    if (nodes > most_nodes) throw InputError("--nodes: more than 100,000 nodes");
}

/// The names that the word stands for: each number of its first bracket before the names of what follows, and so on.
std::vector<std::string> names_in(const std::string& rest, const std::string& word)
{
    const std::size_t open = rest.find('[');
    const std::size_t close = rest.find(']', open);
    if (open == std::string::npos || close == std::string::npos) return {rest};
    const std::vector<std::string> ends = names_in(rest.substr(close + 1), word);
    std::vector<std::string> names;
    for (const std::string& range : split(rest.substr(open + 1, close - open - 1), ','))
        for (const std::string& number : numbers_in(range, word)) {
            require_few(names.size() + ends.size());
            for (const std::string& end : ends) names.push_back(rest.substr(0, open) + number + end);
        }
    return names;
}

}  // namespace

std::vector<std::string> node_list(const std::string& text)
{
    std::vector<std::string> nodes;
    for (const std::string& word : list_words(text)) {
        for (std::string& name : names_in(word, word)) {
            if (!is_node_name(name)) throw InputError("--nodes: '" + name + "' is no node's name");
            require_few(nodes.size() + 1);
            nodes.push_back(std::move(name));
        }
    }
    return nodes;
}

}  // namespace roof::analysis
