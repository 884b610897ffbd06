#include "ert/method/bench/array_operation.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace roof {
namespace {

using Term = ArrayOperation::Term;

constexpr int most_arrays = 4;
constexpr int destination = most_arrays;  ///< until the number of sources is known
constexpr const char* only_words = "64-bit words are only added: '=', '+=' and '+'";
constexpr const char* grammar = "arrays are written as a[i], scalars as s, joined by +, - and *";

bool is_of_name(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The order in which terms are added: a loop begins with what one instruction computes.
int rank(const Term& term)
{
    if (term.is_subtracted) return 4;
    if (term.is_scalar()) return 3;
    if (term.is_array()) return 1;
    return term.has_scalar() ? 0 : 2;
}

/// Reads the text from left to right.
class OperationText {
  public:
    explicit OperationText(std::string_view text) : text_(text) {}

    ArrayOperation read()
    {
        read_prefixes();
        target_ = name();
        const bool is_array = takes("[i]");
        if (ends()) {
            if (!is_array) throw InputError(unknown_operation());
            if (made_.words || made_.nontemporal) fail("'=' is missing here");
            made_.sources = 1;
            return made_;
        }
        made_.stores = is_array ? 1 : 0;
        read_assignment();
        for (Term& term : made_.terms) std::ranges::replace(term.factors, destination, made_.sources);
        std::ranges::stable_sort(made_.terms, {}, rank);
        if (made_.terms.size() > 1 && made_.terms.front().is_scalar())
            fail("arrays cannot be subtracted from a scalar");
        if (std::ranges::count_if(made_.terms, &Term::is_scalar) > 1) fail("more than one scalar alone");
        return made_;
    }

  private:
    [[noreturn]] void fail_at(std::size_t at, const std::string& what) const
    {
        throw InputError(fmt::format("operation '{}': column {}: {}", printable(std::string(text_)), at + 1, what));
    }
    [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }

    std::string unknown_operation() const
    {
        std::vector<std::string> names;
        for (const UsualOperation& usual : usual_operations) names.emplace_back(usual.name);
        return unknown_word("operation", text_, names) + ", or a loop such as a[i] = s * b[i]";
    }

    bool ends()
    {
        at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
        return at_ == text_.size();
    }

    /// Whether these characters come next, apart from spaces between them. If so, they are read.
    bool takes(std::string_view characters)
    {
        const std::size_t before = at_;
        for (const char c : characters) {
            if (ends() || text_[at_] != c) {
                at_ = before;
                return false;
            }
            ++at_;
        }
        return true;
    }

    std::string name()
    {
        if (ends() || !is_of_name(text_[at_])) fail(std::string("a name is missing here; ") + grammar);
        const std::size_t from = at_;
        while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
        const std::string word(text_.substr(from, at_ - from));
        if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)
            fail_at(from, "a number is written as a scalar with a name; its value does not change the rate");
        return word;
    }

    void read_prefixes()
    {
        while (true) {
            ends();
            const std::size_t from = at_;
            const std::string word = name();
            if (!takes(":")) {
                at_ = from;
                return;
            }
            if (word != "int64" && word != "nontemporal")
                fail_at(from, unknown_word("kind", word, std::vector<std::string>{"int64", "nontemporal"}));
            (word == "int64" ? made_.words : made_.nontemporal) = true;
        }
    }

    void read_assignment()
    {
        const std::size_t at = at_;
        const bool multiplies = takes("*=");
        const bool subtracts = takes("-=");
        const bool adds = takes("+=");
        if (!multiplies && !subtracts && !adds && !takes("=")) fail("'=', '+=', '-=' or '*=' is missing here");
        const bool sums = made_.stores == 0;
        if (sums && !adds) fail_at(at, "a scalar as target takes '+='");
        if (sums && (made_.words || made_.nontemporal)) fail_at(at, "a sum is of fp64 numbers and stores none");
        if (made_.words && (multiplies || subtracts)) fail_at(at, only_words);
        const bool reads_target = !sums && (multiplies || subtracts || adds);
        if (reads_target) read_.insert(target_);
        read_terms(subtracts);
        if (multiplies && made_.terms.size() > 1) fail_at(at, "'*=' takes one product");
        if (multiplies) made_.terms.front().factors.push_back(destination);
        if (reads_target && !multiplies) made_.terms.push_back({false, {destination}});
        made_.in_place = made_.in_place || reads_target;
    }

    void read_terms(bool all_subtracted)
    {
        bool is_subtracted = all_subtracted;
        while (true) {
            ends();
            const std::size_t at = at_;
            made_.terms.push_back({is_subtracted, factors()});
            if (made_.words && (is_subtracted || made_.terms.back().factors.size() > 1)) fail_at(at, only_words);
            if (ends()) return;
            const bool subtracts = takes("-");
            if (!subtracts && !takes("+")) fail("+, - or * is missing here");
            is_subtracted = subtracts != all_subtracted;
        }
    }

    std::vector<int> factors()
    {
        std::vector<int> found;
        do {
            ends();
            const std::size_t at = at_;
            const std::string word = name();
            if (takes("[i]")) {
                found.push_back(array(word, at));
            } else {
                if (takes("[")) fail("the index of an array is i");
                if (word == target_) fail_at(at, word + " is the target");
                if (std::ranges::count(found, ArrayOperation::scalar) > 0)
                    fail_at(at, "a product has one scalar at most");
                found.insert(found.begin(), ArrayOperation::scalar);
            }
        } while (takes("*"));
        return found;
    }

    int array(const std::string& word, std::size_t at)
    {
        if (!read_.insert(word).second) fail_at(at, word + "[i] is read twice; a loop loads each array once");
        if (word == target_) {
            if (made_.stores == 0) fail_at(at, word + " is the target");
            made_.in_place = true;
            return destination;
        }
        if (made_.sources + made_.stores == most_arrays) fail_at(at, "more than four arrays");
        return made_.sources++;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    ArrayOperation made_;
    std::string target_;
    std::set<std::string> read_;  ///< arrays
};

std::string without_spaces(std::string_view text)
{
    std::string short_text(text);
    std::erase(short_text, ' ');
    return short_text;
}

}  // namespace

int ArrayOperation::flops() const
{
    if (words || only_loads()) return 0;
    int count = static_cast<int>(terms.size()) - (sums() ? 0 : 1);
    for (const Term& term : terms) count += static_cast<int>(term.factors.size()) - 1;
    return count;
}

ArrayOperation parse_array_operation(std::string_view text)
{
    for (const ArrayOperation& usual : usual_array_operations())
        if (text == usual.name) return usual;
    ArrayOperation made = OperationText(text).read();
    made.name = without_spaces(text);
    for (const UsualOperation& usual : usual_operations)
        if (made.name == without_spaces(usual.text)) made.name = usual.name;
    return made;
}

std::optional<ArrayOperation> array_operation(std::string_view text)
{
    try {
        return parse_array_operation(text);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

const std::vector<ArrayOperation>& usual_array_operations()
{
    static const std::vector<ArrayOperation> all = [] {
        std::vector<ArrayOperation> made;
        for (const UsualOperation& usual : usual_operations) {
            made.push_back(OperationText(usual.text).read());
            made.back().name = usual.name;
        }
        return made;
    }();
    return all;
}

}  // namespace roof
