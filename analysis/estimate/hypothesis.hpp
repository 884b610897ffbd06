// Hypotheses as data: what a study expects, in a line that can be read and answered.
//   bound(resnet18, v100, batch=10) == memory
//   time(resnet50, a100, batch=64) / time(resnet18, a100, batch=64) > 2
// A comparison of two terms; a term is a number, a word or a call, or such joined by * and /. Numbers are compared by
// < <= > >= and by ~ (within a tenth of each other), words by == and !=.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// A call in a hypothesis: function, arguments, and those given by name.
struct Call {
    std::string function;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> options;
};

/// What a call comes to: a number with its interval, or a word; or nothing, and then why.
struct Fact {
    double value = 0;
    double low = 0;
    double high = 0;
    std::string word;     ///< set where the fact is a word; empty for a number
    std::string shown;    ///< as a person reads it, with its unit: "17.4 FLOP/B"
    std::string unknown;  ///< why it cannot be told; empty if it can

    bool is_word() const { return !word.empty(); }

    static Fact number(double value, std::string shown) { return {value, value, value, {}, std::move(shown), {}}; }
    static Fact between(double value, double low, double high, std::string shown)
    {
        return {value, low, high, {}, std::move(shown), {}};
    }
    static Fact of_word(std::string word, std::string shown)
    {
        return {0, 0, 0, std::move(word), std::move(shown), {}};
    }
    static Fact none(std::string why) { return {0, 0, 0, {}, {}, std::move(why)}; }
};

/// Answers a call; throws InputError for one that nobody could answer (an unknown function, a missing argument).
using Knowledge = std::function<Fact(const Call&)>;

enum class Answer { holds, fails, undecided };

std::string_view name(Answer answer);

struct Answered {
    std::string hypothesis;
    Answer answer = Answer::undecided;
    std::string numbers;  ///< both sides as they came out, or why they did not
};

/// Throws InputError naming the hypothesis and the place where it cannot be read.
Answered answer(const std::string& hypothesis, const Knowledge& knowledge);
std::vector<Answered> answer_all(std::span<const std::string> hypotheses, const Knowledge& knowledge);

/// Two lines each: answer and hypothesis, and below it the numbers.
std::string to_text(std::span<const Answered> answers);

}  // namespace roof::analysis
