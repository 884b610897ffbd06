// YAML read and written. The only reader: it turns the library's exceptions into errors with file and line.
#pragma once

#include "ert/base/error.hpp"

#include <yaml-cpp/yaml.h>

#include <string>
#include <utility>
#include <vector>

namespace roof {

/// The document in `text`; `name` is used in messages. Throws InputError, with the line, for text that is no YAML, a
/// second document, a key that is no word or appears twice in its map, and more than 100,000 values, which aliases can
/// multiply.
YAML::Node parse_yaml(const std::string& text, const std::string& name);

/// The node's text in flow style, on one line: "{name: small, image: [3, 32, 32]}".
std::string on_one_line(const YAML::Node& node);

/// The library's words for a wrong indent or a tab, with what a reader can do about it; other words as they are.
std::string in_plain_words(const std::string& error);

/// Returns read(); an exception of the library, such as for a value of another kind, becomes an InputError with the
/// line.
template <class Read>
auto reading_yaml(const std::string& name, Read&& read)
{
    try {
        return std::forward<Read>(read)();
    } catch (const YAML::Exception& error) {
        throw InputError(name + ":" + std::to_string(error.mark.line + 1) + ": " + in_plain_words(error.msg));
    }
}

/// Reads the nodes of one file. Errors name it and the line.
class YamlReader {
  public:
    explicit YamlReader(std::string name) : name_(std::move(name)) {}

    /// "plan.yaml:3"
    std::string where(const YAML::Node& node) const { return name_ + ":" + std::to_string(node.Mark().line + 1); }
    [[noreturn]] void fail(const YAML::Node& at, const std::string& what) const
    {
        throw InputError(where(at) + ": " + what);
    }
    /// Throws for what is no map, and for a key that is not legal. `kind`: what the keys are, "key of a plan".
    void check_keys(const YAML::Node& map, const std::vector<std::string>& legal, const std::string& kind) const;

    template <class Value>
    Value value(const YAML::Node& map, const std::string& key) const
    {
        if (!map.IsMap() || !map[key]) fail(map, "'" + key + "' is missing");
        try {
            return map[key].as<Value>();
        } catch (const YAML::Exception&) {
            fail(map[key], "'" + key + "' is not of its kind");
        }
    }

  private:
    std::string name_;
};

}  // namespace roof
