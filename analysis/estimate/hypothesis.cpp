#include "analysis/estimate/hypothesis.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace roof::analysis {
namespace {

constexpr double same = 0.1;  ///< tolerance of ~, as a share of the larger number
constexpr std::array<std::string_view, 7> comparisons{"==", "!=", "<=", ">=", "<", ">", "~"};

/// Parses one line and evaluates its calls.
class Reader {
  public:
    Reader(const std::string& text, const Knowledge& knowledge) : text_(text), knowledge_(knowledge) {}

    Answered read()
    {
        const Fact left = term();
        const std::string sign = comparison();
        const Fact right = term();
        skip_blanks();
        if (at_ != text_.size()) fail("nothing more");
        return compare(left, sign, right);
    }

  private:
    /// `shown` has the value of each call.
    Fact term()
    {
        Fact product = factor();
        for (skip_blanks(); at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '/'); skip_blanks()) {
            const bool divide = text_[at_++] == '/';
            product = joined(product, factor(), divide);
        }
        return product;
    }

    /// For positive numbers. Unknown if one side is unknown.
    Fact joined(const Fact& a, const Fact& b, bool divide)
    {
        if (!a.unknown.empty()) return a;
        if (!b.unknown.empty()) return b;
        if (a.is_word() || b.is_word()) fail("numbers on both sides of * and /");
        if (divide && b.low <= 0) return Fact::none("a division by " + b.shown);
        const double value = divide ? a.value / b.value : a.value * b.value;
        const double low = divide ? a.low / b.high : a.low * b.low;
        const double high = divide ? a.high / b.low : a.high * b.high;
        const std::string shown =
            fmt::format("{} {} {} = {}", a.shown, divide ? '/' : '*', b.shown, plain_number(value));
        return Fact::between(value, low, high, shown);
    }

    Fact factor()
    {
        skip_blanks();
        if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
            return number();
        const std::string head = word("a number, a word or a call");
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '(') return knowledge_(call(head));
        return Fact::of_word(head, head);
    }

    Fact number()
    {
        double value = 0;
        const char* const begin = text_.data() + at_;
        const auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail("a number");
        at_ += static_cast<std::size_t>(rest - begin);
        return Fact::number(value, plain_number(value));
    }

    Call call(const std::string& function)
    {
        Call read{function, {}, {}};
        ++at_;  // the opening bracket
        for (skip_blanks(); at_ < text_.size() && text_[at_] != ')'; skip_blanks()) {
            const std::string argument = word("an argument or ')'");
            skip_blanks();
            if (at_ < text_.size() && text_[at_] == '=') {
                ++at_;
                skip_blanks();
                read.options[argument] = word("a value");
            } else {
                read.arguments.push_back(argument);
            }
            skip_blanks();
            if (at_ < text_.size() && text_[at_] == ',') ++at_;
        }
        if (at_ == text_.size()) fail("')'");
        ++at_;
        return read;
    }

    std::string comparison()
    {
        skip_blanks();
        for (const std::string_view sign : comparisons) {
            if (text_.compare(at_, sign.size(), sign) != 0) continue;
            at_ += sign.size();
            return std::string(sign);
        }
        fail("one of == != < <= > >= ~");
    }

    std::string word(const std::string& expected)
    {
        const std::size_t begin = at_;
        const auto belongs = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   std::string_view("_.-:").find(c) != std::string_view::npos;
        };
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        if (at_ == begin) fail(expected);
        return text_.substr(begin, at_ - begin);
    }

    Answered compare(const Fact& left, const std::string& sign, const Fact& right) const
    {
        for (const Fact* side : {&left, &right})
            if (!side->unknown.empty()) return {text_, Answer::undecided, side->unknown};
        const std::string numbers = fmt::format("{} {} {}", left.shown, sign, right.shown);
        if (left.is_word() != right.is_word())
            throw InputError(fmt::format("'{}': a word is compared with a number: {}", printable(text_), numbers));
        if (left.is_word()) return {text_, compare_words(left, sign, right), numbers};
        return {text_, compare_numbers(left, sign, right), numbers};
    }

    Answer compare_words(const Fact& a, const std::string& sign, const Fact& b) const
    {
        if (sign != "==" && sign != "!=")
            throw InputError(fmt::format("'{}': words are compared with == and !=", printable(text_)));
        return (a.word == b.word) == (sign == "==") ? Answer::holds : Answer::fails;
    }

    Answer compare_numbers(const Fact& a, const std::string& sign, const Fact& b) const
    {
        if (sign == "~") {
            const double apart = std::abs(a.value - b.value) / std::max(std::abs(a.value), std::abs(b.value));
            return apart <= same || a.value == b.value ? Answer::holds : Answer::fails;
        }
        if (sign == "==" || sign == "!=")
            throw InputError(fmt::format("'{}': numbers are compared with < <= > >= and ~", printable(text_)));
        const bool less = sign.front() == '<';
        const Fact& smaller = less ? a : b;
        const Fact& larger = less ? b : a;
        const bool or_equal = sign.size() == 2;
        const auto below = [&](double x, double y) { return or_equal ? x <= y : x < y; };
        if (below(smaller.high, larger.low)) return Answer::holds;
        return below(smaller.low, larger.high) ? Answer::undecided : Answer::fails;
    }

    void skip_blanks()
    {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    [[noreturn]] void fail(const std::string& expected) const
    {
        throw InputError(fmt::format("'{}': {} is expected at character {}", printable(text_), expected, at_ + 1));
    }

    const std::string& text_;
    const Knowledge& knowledge_;
    std::size_t at_ = 0;
};

}  // namespace

std::string_view name(Answer answer)
{
    constexpr std::array<std::string_view, 3> names{"holds", "fails", "undecided"};
    return names[static_cast<std::size_t>(answer)];
}

Answered answer(const std::string& hypothesis, const Knowledge& knowledge)
{
    return Reader(hypothesis, knowledge).read();
}

std::vector<Answered> answer_all(std::span<const std::string> hypotheses, const Knowledge& knowledge)
{
    std::vector<Answered> answers;
    for (const std::string& hypothesis : hypotheses) answers.push_back(answer(hypothesis, knowledge));
    return answers;
}

std::string to_text(std::span<const Answered> answers)
{
    std::string text;
    for (const Answered& one : answers)
        text += fmt::format("{:<9}  {}\n           {}\n", name(one.answer), printable(one.hypothesis), one.numbers);
    return text;
}

}  // namespace roof::analysis
