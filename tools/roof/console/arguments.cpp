#include "tools/roof/console/arguments.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace roof {

int whole_number(const std::string& option, const std::string& text, int least, int most)
{
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stopped == end && value >= least && value <= most) return value;
    throw InputError(fmt::format("{}: '{}' is no whole number from {} to {}", option, text, least, most));
}

std::vector<std::string> comma_list(const std::string& option, const std::string& text)
{
    std::vector<std::string> words;
    for (const std::string& word : split(text, ',')) {
        words.emplace_back(trim(word));
        if (words.back().empty()) {
            throw InputError(fmt::format("{}: an empty value in '{}'; write values separated by commas", option, text));
        }
    }
    return words;
}

Settings parse_settings(const std::vector<std::string>& words)
{
    Settings settings;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == 0 || equals == std::string::npos) {
            throw InputError(fmt::format("--set: '{}' is not of the form axis=value,value", word));
        }
        const std::string axis = word.substr(0, equals);
        if (!settings.try_emplace(axis, comma_list("--set " + axis, word.substr(equals + 1))).second) {
            throw InputError(fmt::format("--set: '{}' is given twice; write its values in one list", axis));
        }
    }
    return settings;
}

}  // namespace roof
