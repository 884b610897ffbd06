// The options of one subcommand: declared, parsed and checked. Only options.cpp includes CLI11, which takes seconds to
// compile. Values are parsed as text and checked where they are used, so that an error names the option and its values.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roof {

struct DeclaredWord {
    std::string name;  ///< "--batch"; of an argument "MODEL"
    bool is_argument = false;
    bool takes_value = false;  ///< false for a flag
};

/// Declares the options of one subcommand, one by one, and keeps their values, which change in parse().
class OptionParser {
  public:
    /// Errors begin with `command` and name `help`, the command line of the help; empty: `roof help <command>`.
    explicit OptionParser(std::string command, std::string help = {});
    ~OptionParser();
    OptionParser(const OptionParser&) = delete;
    OptionParser& operator=(const OptionParser&) = delete;

    bool& flag(const std::string& option);
    /// An option with a value, `usual` if it is not given, or with a name without dashes ("MODEL") an argument. --out
    /// has the short form -o.
    std::string& value(const std::string& name, const std::string& usual = {});
    std::string& required(const std::string& name);
    std::vector<std::string>& list(const std::string& name);
    /// An option that may be given more than once, or a list of arguments that may be empty.
    std::vector<std::string>& repeated(const std::string& option);

    /// The names of all options: "--batch", "--json", …
    std::vector<std::string> options() const;
    /// All options and arguments, in the order of their declaration.
    std::vector<DeclaredWord> declared() const;

    /// Throws InputError with one line. For a mistyped option it names the most similar one.
    void parse(const std::vector<std::string>& arguments);

    const std::vector<std::string>& arguments() const { return arguments_; }
    /// `words`, followed by those of `names` that were given, as a command line has them.
    std::vector<std::string> given(std::span<const char* const> names, std::vector<std::string> words = {}) const;

  private:
    struct Parser;
    std::string command_;
    std::string help_;
    std::unique_ptr<Parser> parser_;
    std::vector<std::string> arguments_{};
};

/// Throws InputError unless `text` is an integer from `least` to `most`.
int whole_number(const std::string& option, const std::string& text, int least, int most);

/// "8,16" -> {"8", "16"}. Throws InputError for an empty value.
std::vector<std::string> comma_list(const std::string& option, const std::string& text);

/// {"batch=8,16", "threads=1"} -> values by axis. Throws InputError for any other form and for a repeated axis.
Settings parse_settings(const std::vector<std::string>& settings);

}  // namespace roof
