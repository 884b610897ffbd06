// The options of one subcommand: how they are declared, parsed and checked. CLI11 parses; only options.cpp includes it, because it takes
// seconds to compile. Each value is parsed as text and checked where it is used, so that an error names the option and what it takes.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace roof {

/// The targets must outlive the parser. An option that is not given leaves its target unchanged.
class OptionParser {
  public:
    /// Errors begin with `command` and name `help`, the command line that explains the options; empty: `roof help <command>`.
    explicit OptionParser(std::string command, std::string help = {});
    ~OptionParser();
    OptionParser(const OptionParser&) = delete;
    OptionParser& operator=(const OptionParser&) = delete;

    void flag(const std::string& option, bool& target);
    /// --out may be written -o.
    void value(const std::string& option, std::string& target);
    void required(const std::string& option, std::string& target);
    /// May be given more than once.
    void repeated(const std::string& option, std::vector<std::string>& target);
    /// An argument without dashes; messages call it `name` ("MODEL").
    void argument(const std::string& name, std::string& target);
    void optional_argument(const std::string& name, std::string& target);
    /// One or more.
    void arguments(const std::string& name, std::vector<std::string>& target);

    /// "--batch", "--json", …
    std::vector<std::string> options() const;

    /// Throws InputError with one line; for a mistyped option it names the nearest one.
    void parse(const std::vector<std::string>& arguments);

  private:
    struct Parser;
    std::string command_;
    std::string help_;
    std::unique_ptr<Parser> parser_;
};

/// Throws InputError unless `text` is a whole number from `least` to `most`.
int whole_number(const std::string& option, const std::string& text, int least, int most);

/// "8,16" -> {"8", "16"}. Throws InputError for an empty value.
std::vector<std::string> comma_list(const std::string& option, const std::string& text);

/// {"batch=8,16", "threads=1"} -> values by axis. Throws InputError for text that is not axis=values, and for an axis given twice.
Settings parse_settings(const std::vector<std::string>& settings);

}  // namespace roof
