#include "ert/base/yaml_text.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <set>

namespace roof {
namespace {

constexpr std::ptrdiff_t most_values = 100'000;

class Check : YamlReader {
  public:
    using YamlReader::YamlReader;

    void operator()(const YAML::Node& node, int depth = 0)
    {
        constexpr int deepest = 100;  // an alias can contain itself
        if (depth > deepest) fail(node, "values are nested too deeply");
        if (++values_ > most_values) fail(node, "there are more than 100000 values");
        std::set<std::string> keys;
        for (const auto& entry : node) {
            if (!node.IsMap()) {
                (*this)(entry, depth + 1);
                continue;
            }
            if (!entry.first.IsScalar()) fail(entry.first, "a key is one word");
            if (entry.first.Scalar() == "<<") fail(entry.first, "merge keys (<<) are not read; write the keys out");
            if (!keys.insert(entry.first.Scalar()).second)
                fail(entry.first, "the key '" + shortened(printable(entry.first.Scalar()), 100) + "' appears twice");
            (*this)(entry.second, depth + 1);
        }
    }

  private:
    int values_ = 0;
};

/// The line at which a second document begins; 0 if there is none. YAML::LoadAll() never ends for some texts.
int second_document(const std::string& text)
{
    bool has_content = false, has_ended = false;
    int number = 0;
    for (const std::string& line : split(text, '\n')) {
        ++number;
        const bool is_begin = line.starts_with("---") && trim(line.substr(3)).substr(0, 1) != "-";
        const bool is_end = line.starts_with("...");
        if (is_end || (is_begin && !has_content)) {
            has_ended = has_ended || (is_end && has_content);
            continue;
        }
        const std::string_view words = trim(line);
        if (words.empty() || words.front() == '#' || (!has_content && line.front() == '%')) continue;  // a directive
        if (is_begin || has_ended) return number;
        has_content = true;
    }
    return 0;
}

/// Flow style at every depth: the library keeps the style of nodes that it has read.
void write_flow(YAML::Emitter& text, const YAML::Node& node)
{
    if (node.IsMap()) {
        text << YAML::Flow << YAML::BeginMap;
        for (const auto& pair : node) {
            text << YAML::Key << pair.first.as<std::string>() << YAML::Value;
            write_flow(text, pair.second);
        }
        text << YAML::EndMap;
    } else if (node.IsSequence()) {
        text << YAML::Flow << YAML::BeginSeq;
        for (const YAML::Node& one : node) write_flow(text, one);
        text << YAML::EndSeq;
    } else {
        text << (node.IsScalar() ? node.as<std::string>() : "");
    }
}

}  // namespace

YAML::Node parse_yaml(const std::string& text, const std::string& name)
{
    return reading_yaml(name, [&] {
        if (const int line = second_document(text); line > 0)
            throw InputError(name + ":" + std::to_string(line) + ": a second document; one is expected");
        // A value has at most two of these behind it. The library takes 1.7 kB for each value, so they are counted
        // before.
        if (std::ranges::count_if(text, [](char c) { return c == ',' || c == ':' || c == '\n'; }) > 2 * most_values)
            throw InputError(name + ": there are more than 100000 values");
        const YAML::Node document = YAML::Load(text);
        Check{name}(document);
        return document;
    });
}

void YamlReader::check_keys(const YAML::Node& map, const std::vector<std::string>& legal, const std::string& kind) const
{
    if (!map.IsMap()) fail(map, "a map is expected, with the keys " + join(legal, ", "));
    for (const auto& pair : map)
        if (const std::string& key = pair.first.Scalar(); std::ranges::find(legal, key) == legal.end())
            fail(pair.first, unknown_word(kind, key, legal));
}

std::string in_plain_words(const std::string& error)
{
    if (error == "illegal block entry" || error == "illegal map value")
        return error + ": indent with blanks, not with a tab, and begin a list or a map on a line of its own";
    if (error == "end of map not found" || error == "end of sequence not found")
        return error + ": the indent of this line is that of no line above it";
    return error;
}

std::string on_one_line(const YAML::Node& node)
{
    YAML::Emitter text;
    write_flow(text, node);
    return text.c_str();
}

}  // namespace roof
