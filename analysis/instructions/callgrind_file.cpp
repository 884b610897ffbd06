#include "analysis/instructions/callgrind_file.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <utility>

namespace roof::analysis {
namespace {

/// Names are written once: "(12) name", later "(12)".
class Names {
  public:
    std::string of(std::string_view text)
    {
        const std::size_t end = text.find(')');
        if (!text.starts_with('(') || end == text.npos) return std::string(text);
        std::string& name = names_[std::string(text.substr(1, end - 1))];
        if (end + 2 < text.size()) name = text.substr(end + 2);
        return name;
    }

  private:
    std::map<std::string, std::string> names_;
};

/// A function that calls itself is "f'2" in its inner calls.
std::string without_depth(std::string name)
{
    const std::size_t quote = name.rfind('\'');
    if (quote != name.npos && name.find_first_not_of("0123456789", quote + 1) == name.npos) name.resize(quote);
    return name;
}

/// Takes the word before the next blank off `rest`.
std::string_view next_word(std::string_view& rest)
{
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
    rest.remove_prefix(word.size());
    return word;
}

class CallgrindReader {
  public:
    std::vector<ExecutedFunction> read(std::string_view text)
    {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            line(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (events_.empty() || !has_addresses_) fail("no instructions with their addresses are in it");
        std::vector<ExecutedFunction> all;
        for (auto& [key, function] : functions_)
            if (!function.instructions.empty()) all.push_back(std::move(function));
        return all;
    }

  private:
    [[noreturn]] static void fail(const std::string& what) { throw Error("callgrind's file: " + what); }

    void line(std::string_view text)
    {
        if (text.starts_with("0x")) return cost(text);
        const std::size_t equal = text.find('=');
        const std::string_view key = text.substr(0, std::min(equal, text.size()));
        const std::string_view value = equal == text.npos ? "" : text.substr(equal + 1);
        if (key == "ob")
            object_ = objects_.of(value), current_ = nullptr;
        else if (key == "fn")
            function_ = without_depth(names_.of(value)), current_ = nullptr;
        else if (key == "cob")
            objects_.of(value);
        else if (key == "cfn")
            names_.of(value);
        else if (key == "calls")
            is_call_ = true;
        else if (text.starts_with("events:"))
            set_events(text.substr(7));
        else if (text.starts_with("positions:"))
            has_addresses_ = trim(text.substr(10)) == "instr";
    }

    void set_events(std::string_view text)
    {
        static const std::map<std::string_view, double ExecutedInstruction::*> known{
            {"Ir", &ExecutedInstruction::times},           {"D1mr", &ExecutedInstruction::first_read},
            {"D1mw", &ExecutedInstruction::first_written}, {"DLmr", &ExecutedInstruction::last_read},
            {"DLmw", &ExecutedInstruction::last_written},  {"ILdmr", &ExecutedInstruction::written_back},
            {"DLdmr", &ExecutedInstruction::written_back}, {"DLdmw", &ExecutedInstruction::written_back}};
        events_.clear();
        while (true) {
            const std::string_view word = next_word(text);
            if (word.empty()) break;
            const auto found = known.find(word);
            events_.push_back(found == known.end() ? nullptr : found->second);
        }
    }

    /// A line of an instruction. The one after "calls=" has what the called function cost.
    void cost(std::string_view text)
    {
        if (std::exchange(is_call_, false)) return;
        ExecutedInstruction instruction;
        const std::string_view address = next_word(text).substr(2);
        std::from_chars(address.data(), address.data() + address.size(), instruction.address, 16);
        for (const auto member : events_) {
            const std::string_view word = next_word(text);
            if (word.empty()) break;  // events that never happened are left out at the end
            std::uint64_t count = 0;
            if (std::from_chars(word.data(), word.data() + word.size(), count).ptr != word.data() + word.size())
                fail(fmt::format("'{}' is not a number", printable(word)));
            if (member != nullptr) instruction.*member += static_cast<double>(count);
        }
        if (current_ == nullptr) {
            current_ = &functions_[{object_, function_}];
            current_->name = function_;
            current_->object = object_;
        }
        current_->instructions.push_back(instruction);
    }

    Names objects_, names_;
    std::string object_, function_;
    std::map<std::pair<std::string, std::string>, ExecutedFunction> functions_;
    ExecutedFunction* current_ = nullptr;
    std::vector<double ExecutedInstruction::*> events_;
    bool has_addresses_ = false;
    bool is_call_ = false;
};

}  // namespace

std::vector<ExecutedFunction> parse_callgrind(std::string_view text)
{
    return CallgrindReader().read(text);
}

}  // namespace roof::analysis
