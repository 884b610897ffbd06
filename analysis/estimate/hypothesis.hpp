// Hypotheses of a study, each in a line that is parsed and answered.
//   bound(resnet18, v100, batch=10) == memory
//   time(resnet50, a100, batch=64) / time(resnet18, a100, batch=64) > 2
// A hypothesis compares two terms. A term is a number, a word or a call, or several joined by * and /. Numbers are
// compared with < <= > >= and ~ (within a tenth of each other), words with == and !=.
// Calls ask for estimates on machines, or for measured rows:
//   bound intensity ridge peak time prediction images_per_second epoch memory largest_batch fits (MODEL, MACHINE)
//   flops parameters (MODEL)
//   measured_time measured_rate measured_images_per_second measured_memory measured_wait measured_status (MODEL)
// Named options: batch precision phase devices link images; for measured rows batch precision data device.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "ert/method/bench/measurement.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// A call in a hypothesis: function, arguments and named options.
struct Call {
    std::string function;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> options;
};

/// The result of a call: a number with its interval, a word, or unknown with the reason.
struct Fact {
    double value = 0;
    double low = 0;
    double high = 0;
    std::string word;     ///< empty for a number
    std::string shown;    ///< as text with its unit: "17.4 FLOP/B"
    std::string unknown;  ///< why it is unknown; empty if it is known

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

/// Answers a call; throws InputError for an unknown function or a missing argument.
using Knowledge = std::function<Fact(const Call&)>;

enum class Answer { holds, fails, undecided };

std::string_view name(Answer answer);

struct Answered {
    std::string hypothesis;
    Answer answer = Answer::undecided;
    std::string numbers;  ///< both sides, or why one is unknown
};

/// Throws InputError with the hypothesis and the character of a syntax error.
Answered answer(const std::string& hypothesis, const Knowledge& knowledge);
std::vector<Answered> answer_all(std::span<const std::string> hypotheses, const Knowledge& knowledge);

/// Two lines each: answer and hypothesis, then the numbers.
std::string to_text(std::span<const Answered> answers);

/// The sources of facts. They must outlive the Knowledge.
struct FactSources {
    std::span<const Target> targets;    ///< machines by their names in hypotheses
    std::span<const Measurement> rows;  ///< measured rows of the study; may be empty
    EstimateRequest usual;              ///< defaults of options; its model is not used
};

/// An unknown machine or row makes a fact unknown; an unknown function throws InputError.
Knowledge knowledge_of(const FactSources& sources);

}  // namespace roof::analysis
