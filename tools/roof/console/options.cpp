#include "tools/roof/console/options.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <deque>
#include <utility>

namespace roof {
namespace {

/// Words of other programs for a value of an option. The first is its beginning, such as that of "cuda:1", or the whole
/// of it.
struct Alias {
    std::string_view option, theirs, ours;
};
constexpr Alias aliases[] = {
    {"--precision", "float64", "fp64"}, {"--precision", "double", "fp64"},   {"--precision", "float32", "fp32"},
    {"--precision", "float", "fp32"},   {"--precision", "single", "fp32"},   {"--precision", "float16", "fp16"},
    {"--precision", "half", "fp16"},    {"--precision", "bfloat16", "bf16"}, {"--precision", "tensorfloat32", "tf32"},
    {"--device", "cuda:", "gpu:"},      {"--device", "cuda", "gpu:0"},
};

/// Each of the values between commas in our words.
std::string in_our_words(const std::string& option, const std::string& text)
{
    std::vector<std::string> values = split(text, ',');
    for (std::string& value : values)
        for (const auto& [of, theirs, ours] : aliases) {
            const bool is_beginning = theirs.ends_with(':');
            if (of != option || (is_beginning ? !value.starts_with(theirs) : value != theirs)) continue;
            value.replace(0, theirs.size(), ours);
            break;
        }
    return join(values, ",");
}

}  // namespace

struct OptionParser::Parser {
    CLI::App app;
    std::deque<std::string> values;
    std::deque<bool> flags;
    std::deque<std::vector<std::string>> lists;

    CLI::Option* add(const std::string& name, const std::string& usual)
    {
        return app.add_option(name == "--out" ? "-o,--out" : name, values.emplace_back(usual))
            ->transform([name](std::string text) { return in_our_words(name, text); });
    }
};

OptionParser::OptionParser(std::string command, std::string help)
    : command_(std::move(command)),
      help_(help.empty() ? "roof help " + command_ : std::move(help)),
      parser_(std::make_unique<Parser>())
{
    parser_->app.set_help_flag();
}

OptionParser::~OptionParser() = default;

bool& OptionParser::flag(const std::string& option)
{
    bool& target = parser_->flags.emplace_back(false);
    parser_->app.add_flag(option, target);
    return target;
}

std::string& OptionParser::value(const std::string& name, const std::string& usual)
{
    parser_->add(name, usual);
    return parser_->values.back();
}

std::string& OptionParser::required(const std::string& name)
{
    parser_->add(name, {})->required();
    return parser_->values.back();
}

std::vector<std::string>& OptionParser::list(const std::string& name)
{
    parser_->app.add_option(name, parser_->lists.emplace_back())->required();
    return parser_->lists.back();
}

std::vector<std::string>& OptionParser::repeated(const std::string& option)
{
    parser_->app.add_option(option, parser_->lists.emplace_back())->allow_extra_args(!option.starts_with('-'));
    return parser_->lists.back();
}

std::vector<std::string> OptionParser::options() const
{
    std::vector<std::string> names;
    for (DeclaredWord& word : declared())
        if (!word.is_argument) names.push_back(std::move(word.name));
    return names;
}

std::vector<DeclaredWord> OptionParser::declared() const
{
    std::vector<DeclaredWord> words;
    for (const CLI::Option* option : parser_->app.get_options())
        words.push_back({option->get_name(), option->get_positional(), option->get_items_expected_max() > 0});
    return words;
}

std::vector<std::string> OptionParser::given(std::span<const char* const> names, std::vector<std::string> words) const
{
    for (const char* const name : names) {
        const CLI::Option* const option = parser_->app.get_option(name);
        for (const std::string& value : option->results()) {
            words.emplace_back(name);
            if (option->get_items_expected_max() > 0) words.push_back(value);
        }
    }
    return words;
}

void OptionParser::parse(const std::vector<std::string>& arguments)
{
    arguments_ = arguments;
    // CLI11 expects the last argument first.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        parser_->app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        // A mistyped option can make a required one appear missing, so report the mistyped one first.
        const std::vector<std::string> extras = parser_->app.remaining();
        if (extras.empty()) throw InputError(command_ + ": " + error.what() + "; '" + help_ + "' shows how");
        const std::string extra = extras.front().substr(0, extras.front().find('='));
        throw InputError(command_ + ": " +
                         (extra.starts_with("-") ? unknown_word("option", extra, options())
                                                 : "unexpected argument '" + extra + "'"));
    }
}

int whole_number(const std::string& option, const std::string& text, int least, int most)
{
    const auto value = parse_number<int>(text);
    if (value && *value >= least && *value <= most) return *value;
    throw InputError(fmt::format("{}: '{}' is not a whole number from {} to {}", option, text, least, most));
}

std::vector<std::string> comma_list(const std::string& option, const std::string& text)
{
    std::vector<std::string> values;
    for (const std::string& value : split(text, ',')) {
        values.emplace_back(trim(value));
        if (values.back().empty())
            throw InputError(fmt::format("{}: an empty value in '{}'; write values separated by commas", option, text));
    }
    return values;
}

Settings parse_settings(const std::vector<std::string>& settings)
{
    Settings values;
    for (const std::string& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == 0 || equals == std::string::npos)
            throw InputError(fmt::format("--set: '{}' is not of the form axis=value,value", setting));
        const std::string axis = setting.substr(0, equals);
        if (!values.try_emplace(axis, comma_list("--set " + axis, setting.substr(equals + 1))).second)
            throw InputError(fmt::format("--set: '{}' is given twice; write its values in one list", axis));
    }
    return values;
}

}  // namespace roof
