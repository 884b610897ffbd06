// The fastest implementation of each pass of each convolution on this machine, kept from run to run in a CSV file with
// the times by which it was chosen. A choice that is undecided is tried again in later runs.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/search.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace roof::engine {

/// The key of a choice.
struct Question {
    std::string shape;  ///< "16x64x56x56 to 64, 3x3 stride 1 padding 1"
    std::string pass;   ///< forward, backward_data, backward_weights
    std::string precision;
    int threads = 1;
    std::string library;  ///< its version, and what else a choice holds for

    auto operator<=>(const Question&) const = default;
};

/// A choice and its evidence.
struct Choice {
    std::vector<std::string> candidates;
    Turns turns;  ///< seconds of each candidate
    std::size_t chosen = 0;
    bool is_decided = true;

    const std::string& implementation() const { return candidates[chosen]; }
};

/// The time of candidate i, in seconds; infinite if it is not tried, cannot run or computes something else.
using CandidateSeconds = std::function<double(std::size_t candidate)>;
/// Makes a trial.
using Prepare = std::function<CandidateSeconds()>;

/// An undecided choice that is remembered is kept, or tried again once in a process, for three seconds in all.
enum class Undecided { kept, tried_again };

/// Several processes may use a file: one of them tries or writes at a time, and the others wait for its choice.
class Choices {
  public:
    /// Reads the file if there is one. Choices that do not match their checksum are dropped, and remarks() says so.
    /// Without a name nothing outlives this object.
    explicit Choices(std::filesystem::path file = {}, Clock clock = steady_clock());

    /// The index of the candidate to use, by their names: the remembered one, or by a trial (fastest_of), which is
    /// remembered. `prepare` is called if there is a trial, before its time begins; it may ask for other choices.
    /// Throws what it and the trial throw, and Unsupported if no candidate can run, which is not remembered.
    std::size_t fastest(const Question& question, const std::vector<std::string>& candidates, const Prepare& prepare,
                        Undecided undecided = Undecided::kept);

    /// The remembered choice; null if there is none.
    const Choice* evidence(const Question& question) const;
    /// What was asked and chosen, without evidence, as text for follow().
    std::string decisions() const;
    /// Forgets its own choices, takes another process's decisions() and from now on neither reads nor writes the file.
    void follow(const std::string& decisions);
    /// Sentences on damage of the file.
    const std::vector<std::string>& remarks() const { return remarks_; }

  private:
    class Writer;
    void read();
    const Choice* usable(const Question& question, const std::vector<std::string>& candidates) const;
    void search(const Question& question, const std::vector<std::string>& candidates, const Prepare& prepare);

    std::filesystem::path file_;
    Clock clock_;
    std::map<Question, Choice> choices_;
    std::vector<std::string> remarks_;
    std::uintmax_t bytes_read_ = 0;
    bool is_damaged_ = false;
    std::set<Question> tried_;
    mutable std::set<Question> asked_;
    Seconds left_for_undecided_;
    bool is_locked_ = false;  ///< by a search that asks for other choices
};

/// The folder `roof` in the user's cache: $XDG_CACHE_HOME, else ~/.cache. Empty if there is neither.
std::filesystem::path choices_folder();

}  // namespace roof::engine
