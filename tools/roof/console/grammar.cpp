#include "tools/roof/console/grammar.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace roof {

struct Grammar::Parser {
    CLI::App app;
    std::vector<std::string> options;

    CLI::Option* add(const std::string& option, std::string& target)
    {
        options.push_back(option);
        return app.add_option(option == "--out" ? "-o,--out" : option, target);
    }
};

Grammar::Grammar(std::string command) : command_(std::move(command)), parser_(std::make_unique<Parser>())
{
    parser_->app.set_help_flag();
}

Grammar::~Grammar() = default;

void Grammar::flag(const std::string& option, bool& target)
{
    parser_->options.push_back(option);
    parser_->app.add_flag(option, target);
}

void Grammar::value(const std::string& option, std::string& target)
{
    parser_->add(option, target);
}

void Grammar::required(const std::string& option, std::string& target)
{
    parser_->add(option, target)->required();
}

void Grammar::repeated(const std::string& option, std::vector<std::string>& target)
{
    parser_->options.push_back(option);
    parser_->app.add_option(option, target)->allow_extra_args(false);
}

void Grammar::word(const std::string& name, std::string& target)
{
    parser_->app.add_option(name, target)->required();
}

void Grammar::optional_word(const std::string& name, std::string& target)
{
    parser_->app.add_option(name, target);
}

void Grammar::words(const std::string& name, std::vector<std::string>& target)
{
    parser_->app.add_option(name, target)->required();
}

std::vector<std::string> Grammar::options() const
{
    return parser_->options;
}

void Grammar::parse(const std::vector<std::string>& arguments)
{
    // CLI11 takes the arguments from the back.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        parser_->app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        // A mistyped option is often what makes a required one seem missing: it is named first.
        const std::vector<std::string> extras = parser_->app.remaining();
        if (extras.empty())
            throw InputError(command_ + ": " + error.what() + "; 'roof help " + command_ + "' shows how");
        const std::string word = extras.front().substr(0, extras.front().find('='));
        throw InputError(command_ + ": " +
                         (word.starts_with("-") ? unknown_word("option", word, parser_->options)
                                                : "unexpected word '" + word + "'"));
    }
}

}  // namespace roof
