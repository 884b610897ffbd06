// The options of one subcommand. CLI11 stands behind it and is seen by one file only: it takes seconds to compile.
// Every value is taken as text; whoever uses it checks it, and so words its error with the key and the legal values.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace roof {

/// The targets must outlive the grammar; an option that was not given leaves its target alone.
class Grammar {
  public:
    explicit Grammar(std::string command);
    ~Grammar();
    Grammar(const Grammar&) = delete;
    Grammar& operator=(const Grammar&) = delete;

    void flag(const std::string& option, bool& target);
    /// --out may be written -o, as everywhere.
    void value(const std::string& option, std::string& target);
    void required(const std::string& option, std::string& target);
    /// May be given more than once.
    void repeated(const std::string& option, std::vector<std::string>& target);
    /// A word without dashes; `name` is what messages call it ("MODEL").
    void word(const std::string& name, std::string& target);
    void optional_word(const std::string& name, std::string& target);
    /// One or more.
    void words(const std::string& name, std::vector<std::string>& target);

    /// "--batch", "--json", …: without the positional words.
    std::vector<std::string> options() const;

    /// Throws InputError in one line; a mistyped option gets its nearest legal one.
    void parse(const std::vector<std::string>& arguments);

  private:
    struct Parser;
    std::string command_;
    std::unique_ptr<Parser> parser_;
};

}  // namespace roof
