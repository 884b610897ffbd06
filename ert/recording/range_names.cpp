#include "ert/recording/records.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace roof {
namespace {

/// Of each phase the words that name it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> phase_words{
    {{"forward", " forward distributeddataparallel fwd loss criterion "},
     {"backward", " backward bwd autograd "},
     {"update", " optimizer optimiser update opt "},
     {"data", " data dataloader load enumerate "},
     {"synchronise", " allreduce nccl synchronise "}}};
constexpr std::array<std::string_view, 6> step_words{"step", "steps", "iteration", "iter", "batch", "profilerstep"};

/// The leading letters in lower case: "Optimizer.step#SGD" -> "optimizer".
std::string first_word(std::string_view name)
{
    std::string word;
    for (const char letter : name) {
        if (std::isalpha(static_cast<unsigned char>(letter)) == 0) break;
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return word;
}

/// The letters behind others and "and": of " and_backward()" "backward".
std::string second_word(std::string_view rest)
{
    std::string word;
    while (!rest.empty() && (word.empty() || word == "and")) {
        const auto begin = std::ranges::find_if(rest, [](unsigned char letter) { return std::isalpha(letter) != 0; });
        rest.remove_prefix(static_cast<std::size_t>(begin - rest.begin()));
        word = first_word(rest);
        rest.remove_prefix(word.size());
    }
    return word;
}

/// Empty for other words.
std::string_view phase_of(const std::string& word)
{
    for (const auto& [phase, words] : phase_words)
        if (!word.empty() && words.find(" " + word + " ") != std::string_view::npos) return phase;
    return {};
}

/// A part of the forward pass where nothing else is said: not in "loss.backward()".
bool is_loss(const std::string& word)
{
    return word == "loss" || word == "criterion";
}

/// Whether nothing but a number follows the first word: "step 12", "ProfilerStep#3", "batch=7", "step[DECODE bs=1]";
/// not "batch_norm".
bool is_numbered(std::string_view name)
{
    constexpr std::string_view digits = "0123456789";
    std::string_view rest = name.substr(first_word(name).size());
    const auto skip = [&](std::string_view letters) {
        rest.remove_prefix(std::min(rest.find_first_not_of(letters), rest.size()));
    };
    skip(" ");
    if (rest.starts_with('[') && rest.ends_with(']')) return true;
    skip(" #:=_./([-");
    skip(digits);
    skip(" /");
    skip(digits);  // "step 3 / 10"
    skip(" )]");
    return rest.empty();
}

/// Whether the name ends with "_v" and digits.
bool has_version(std::string_view name)
{
    const std::size_t letters = name.find_last_not_of("0123456789");
    return letters != std::string_view::npos && letters + 1 < name.size() && letters > 0 && name[letters] == 'v' &&
           name[letters - 1] == '_';
}

}  // namespace

std::string_view phase_in(std::string_view name)
{
    const std::string word = first_word(name);
    const std::string_view phase = phase_of(word);
    const std::string next = second_word(name.substr(word.size()));
    const std::string_view other = phase_of(next);
    if (phase.empty() || other.empty() || other == phase || is_loss(next)) return phase;
    return is_loss(word) ? other : "";
}

RangeKind kind_in(std::string_view name)
{
    const std::string word = first_word(name);
    if (std::find(step_words.begin(), step_words.end(), word) != step_words.end() && is_numbered(name))
        return RangeKind::step;
    return phase_in(name).empty() ? RangeKind::nvtx : RangeKind::phase;
}

std::string plain_api_name(std::string name)
{
    if (has_version(name)) name.resize(name.rfind('_'));
    for (const std::string_view stream : {"_ptsz", "_ptds"})
        if (name.ends_with(stream)) name.resize(name.size() - stream.size());
    if (has_version(name)) name.resize(name.rfind('_'));
    return name;
}

}  // namespace roof
