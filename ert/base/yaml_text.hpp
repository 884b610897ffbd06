// YAML read and written. The only reader: it turns the library's exceptions into errors with file and line.
#pragma once

#include "ert/base/error.hpp"

#include <yaml-cpp/yaml.h>

#include <string>
#include <utility>

namespace roof {

/// The document in `text`; `name` is used in messages. Throws InputError, with the line, for text that is no YAML, a second document, a
/// key that is no word or appears twice in its map, and more than 100,000 values, which aliases can multiply.
YAML::Node parse_yaml(const std::string& text, const std::string& name);

/// The node's text in flow style, on one line: "{name: small, image: [3, 32, 32]}".
std::string on_one_line(const YAML::Node& node);

/// The library's words for a wrong indent or a tab, with what a reader can do about it; other words as they are.
std::string in_plain_words(const std::string& error);

/// Returns read(); an exception of the library, such as for a value of another kind, becomes an InputError with the line.
template <class Read>
auto reading_yaml(const std::string& name, Read&& read)
{
    try {
        return std::forward<Read>(read)();
    } catch (const YAML::Exception& error) {
        throw InputError(name + ":" + std::to_string(error.mark.line + 1) + ": " + in_plain_words(error.msg));
    }
}

}  // namespace roof
