#include "ert/cupti/injection/settings.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <cstdlib>
#include <string_view>

namespace roof::cupti {
namespace {

std::string variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Seconds seconds(std::string_view word)
{
    const std::optional<double> value = parse_number<double>(word);
    if (!value || *value < 0)
        throw InputError("ROOF_PROFILE_WINDOW: '" + std::string(word) + "' is no time in seconds");
    return {*value};
}

WindowOptions window(const std::string& text)
{
    WindowOptions options;
    if (text.empty()) return options;
    options.is_whole = text == "whole";
    if (options.is_whole) return options;
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) throw InputError("ROOF_PROFILE_WINDOW: 'whole' or two times, not '" + text + "'");
    options.after = seconds(std::string_view(text).substr(0, space));
    options.length = seconds(std::string_view(text).substr(space + 1));
    return options;
}

/// "GH100 lts__t_bytes.sum dram__bytes_read.sum": a chip in each line. Read without the library that reads the table:
/// this is loaded into other people's programs.
std::map<std::string, std::vector<std::string>> metrics_in(const std::string& file)
{
    std::map<std::string, std::vector<std::string>> metrics;
    if (file.empty()) return metrics;
    for (const std::string& line : split(read_file(file), '\n')) {
        std::vector<std::string> words = split(line, ' ');
        if (words.size() > 1) metrics[words.front()].assign(words.begin() + 1, words.end());
    }
    if (metrics.empty()) throw InputError("ROOF_PROFILE_COUNTERS: '" + file + "' names no metric");
    return metrics;
}

std::size_t kernels(const std::string& text, std::size_t usual)
{
    if (text.empty()) return usual;
    const std::optional<std::size_t> value = parse_number<std::size_t>(text);
    if (!value || *value == 0) throw InputError("ROOF_PROFILE_KERNELS: '" + text + "' is no number of kernels");
    return *value;
}

}  // namespace

Settings settings_from_environment()
{
    Settings settings{variable("ROOF_PROFILE_FOLDER"), window(variable("ROOF_PROFILE_WINDOW")),
                      variable("ROOF_PROFILE_RANGE")};
    settings.metrics = metrics_in(variable("ROOF_PROFILE_COUNTERS"));
    settings.kernels = kernels(variable("ROOF_PROFILE_KERNELS"), settings.kernels);
    if (settings.folder.empty()) throw InputError("ROOF_PROFILE_FOLDER names no folder to record into");
    // What lies outside the ranges is left out on writing; what lies within may come at any time.
    if (!settings.range.empty()) settings.window.is_whole = true;
    return settings;
}

Window::Action Window::next(Seconds now, bool is_busy)
{
    if (options_.is_whole) return Action::none;
    if (!first_work_ && is_busy) first_work_ = now;
    if (!first_work_) return Action::none;
    if (!begin_ && now - *first_work_ >= options_.after) {
        begin_ = now;
        return Action::restart;
    }
    return begin_ && now - *begin_ >= options_.length ? Action::finish : Action::none;
}

}  // namespace roof::cupti
