#include "workloads/engine/choices.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

namespace roof::engine {
namespace {

namespace fs = std::filesystem;

/// The time of a search, and of all searches in a process that go on with undecided choices.
constexpr SearchBudget budget{.time = Seconds{0.2}};
constexpr Seconds for_undecided{3};
/// Until a lock is given up, as others may try many candidates, and between two looks at it.
constexpr std::chrono::seconds patience{60};
constexpr std::chrono::milliseconds pause{5};

/// One line for each candidate. `choice` is empty for those not chosen, `seconds` has one time for each turn.
const std::string header_line = "shape,pass,precision,threads,library,implementation,choice,seconds";
const std::vector<std::string> header = split(header_line, ',');
constexpr std::string_view decided = "decided";
constexpr std::string_view undecided = "undecided";

using Lines = std::vector<std::vector<std::string>>;

std::optional<std::vector<double>> times_in(const std::string& cell)
{
    std::vector<double> times;
    if (cell.empty()) return times;
    for (const std::string& word : split(cell, ' ')) {
        const std::optional<double> time = parse_number<double>(word);
        if (!time || std::isnan(*time) || *time < 0) return std::nullopt;
        times.push_back(*time);
    }
    return times;
}

/// The choice that a block of lines holds; none if they make no sense.
std::optional<std::pair<Question, Choice>> choice_in(const Lines& lines)
{
    std::pair<Question, Choice> found;
    auto& [question, choice] = found;
    bool has_chosen = false;
    for (const std::vector<std::string>& cells : lines) {
        const std::optional<int> threads = parse_number<int>(cells[3]);
        const std::optional<std::vector<double>> times = times_in(cells[7]);
        if (!threads || !times) return std::nullopt;
        const Question of_line{cells[0], cells[1], cells[2], *threads, cells[4]};
        if (choice.candidates.empty()) question = of_line;
        if (of_line != question || (!cells[6].empty() && has_chosen)) return std::nullopt;
        if (!cells[6].empty()) {
            has_chosen = true;
            choice.chosen = choice.candidates.size();
            choice.is_decided = cells[6] == decided;
        }
        choice.candidates.push_back(cells[5]);
        choice.turns.push_back(*times);
    }
    return has_chosen ? std::optional(found) : std::nullopt;
}

std::string text_of(const std::vector<double>& times)
{
    std::vector<std::string> words;
    for (const double time : times) words.push_back(std::isinf(time) ? "inf" : format_exact(time));
    return join(words, " ");
}

std::string lines_of(const Question& question, const Choice& choice)
{
    std::string lines;
    for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
        const std::string_view mark = i != choice.chosen ? "" : choice.is_decided ? decided : undecided;
        lines += csv_line(std::vector<std::string>{question.shape, question.pass, question.precision,
                                                   std::to_string(question.threads), question.library,
                                                   choice.candidates[i], std::string(mark), text_of(choice.turns[i])});
    }
    return lines;
}

}  // namespace

/// Holds the lock of the file's folder, having read what others wrote. Without a file, or where its folder cannot be
/// written or locked, the choices hold for this process only. A search within another has its lock.
class Choices::Writer {
  public:
    explicit Writer(Choices& choices) : choices_(choices)
    {
        if (choices_.file_.empty() || choices_.is_locked_) return;
        try {
            make_folder(choices_.file_.parent_path());
            take_lock(choices_.file_.parent_path());
            choices_.is_locked_ = true;
            choices_.read();
        } catch (const std::exception&) {
            choices_.file_.clear();
        }
    }
    ~Writer()
    {
        if (lock_) choices_.is_locked_ = false;
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    void write(const Question& question) const
    {
        const fs::path& file = choices_.file_;
        if (file.empty()) return;
        try {
            if (choices_.is_damaged_) {
                write_file(file, with_column(header_line, block_column) + "\n");
                for (const auto& [each, choice] : choices_.choices_)
                    append_block(file, header_line, lines_of(each, choice));
            } else {
                append_block(file, header_line, lines_of(question, choices_.choices_.at(question)));
            }
            choices_.is_damaged_ = false;
            choices_.bytes_read_ = fs::file_size(file);
        } catch (const std::exception&) {
            choices_.file_.clear();
        }
    }

  private:
    void take_lock(const fs::path& folder)
    {
        append_file(folder / ".lock", "");  // throws at once where nothing can be written
        const auto begin = std::chrono::steady_clock::now();
        while (!lock_) {
            try {
                lock_.emplace(folder);
            } catch (const InputError&) {
                if (std::chrono::steady_clock::now() - begin > patience) throw;
                std::this_thread::sleep_for(pause);
            }
        }
    }

    Choices& choices_;
    std::optional<FolderLock> lock_;
};

Choices::Choices(fs::path file, Clock clock)
    : file_(std::move(file)), clock_(std::move(clock)), left_for_undecided_(for_undecided)
{
    if (file_.empty()) return;
    try {
        read();
    } catch (const std::exception&) {
        file_.clear();
    }
}

/// Reads the file if it has changed.
void Choices::read()
{
    std::error_code none;
    const std::uintmax_t bytes = fs::exists(file_) ? fs::file_size(file_, none) : 0;
    if (bytes == bytes_read_) return;
    bytes_read_ = bytes;
    std::ifstream in = open_to_read(file_);
    CsvLines csv(in, file_.string());
    std::size_t lost = 0;
    Lines block;
    const auto read_line = [&] {
        try {
            return csv.next();
        } catch (const InputError&) {
            block.emplace_back();  // with an open quote
            return true;
        }
    };
    const auto is_header = [&] { return csv.has_checksums() && std::ranges::equal(csv.cells(), header); };
    is_damaged_ = !read_line() || !is_header();
    if (is_damaged_) {
        remarks_ = {file_.string() + " has other columns, so its choices are made again"};
        return;
    }
    while (read_line()) {
        if (!csv.cells().empty()) block.emplace_back(csv.cells().begin(), csv.cells().end());
        if (!csv.ends_block()) continue;
        const bool has_all_cells =
            std::ranges::all_of(block, [](const auto& cells) { return cells.size() == header.size(); });
        auto choice = has_all_cells && csv.block_damage().empty() ? choice_in(block) : std::nullopt;
        if (choice)
            choices_[choice->first] = std::move(choice->second);
        else
            ++lost;
        block.clear();
    }
    is_damaged_ = lost > 0 || !block.empty() || csv.cut_off();
    if (is_damaged_)
        remarks_ = {file_.string() + " was damaged: " + std::to_string(lost + (block.empty() ? 0 : 1)) +
                    " of its choices are made again"};
}

/// The remembered choice, if its implementation is among the candidates.
const Choice* Choices::usable(const Question& question, const std::vector<std::string>& candidates) const
{
    const Choice* const known = evidence(question);
    const bool is_there =
        known != nullptr && std::ranges::find(candidates, known->implementation()) != candidates.end();
    return is_there && (known->is_decided || known->candidates == candidates) ? known : nullptr;
}

std::size_t Choices::fastest(const Question& question, const std::vector<std::string>& candidates,
                             const Prepare& prepare, Undecided undecided)
{
    const Choice* known = usable(question, candidates);
    const bool is_new = tried_.insert(question).second;
    if (known == nullptr) {
        search(question, candidates, prepare);
    } else if (undecided == Undecided::tried_again && is_new && !known->is_decided && left_for_undecided_ > Seconds{}) {
        const Seconds begin = clock_();
        search(question, candidates, prepare);
        left_for_undecided_ -= clock_() - begin;
    }
    known = evidence(question);
    if (known->candidates == candidates) return known->chosen;  // of candidates with the same name
    return static_cast<std::size_t>(std::ranges::find(candidates, known->implementation()) - candidates.begin());
}

/// Tries the candidates and remembers the choice, unless another process has just done so.
void Choices::search(const Question& question, const std::vector<std::string>& candidates, const Prepare& prepare)
{
    const Choice* known = usable(question, candidates);
    const Turns before = known != nullptr ? known->turns : Turns{};
    const Writer writer(*this);
    known = usable(question, candidates);
    if (known != nullptr && known->turns != before) return;
    const CandidateSeconds seconds = candidates.empty() ? CandidateSeconds() : prepare();
    Fastest found;
    found.cost = std::numeric_limits<double>::infinity();
    if (seconds) found = fastest_of(candidates.size(), budget, seconds, clock_, before);
    if (std::isinf(found.cost)) throw Unsupported("none of the candidates runs for " + question.shape);
    const auto turns = std::ranges::max(found.turns, {}, &std::vector<double>::size).size();
    choices_[question] = {candidates, std::move(found.turns), found.candidate,
                          found.is_decided || turns >= budget.most_turns};
    writer.write(question);
}

const Choice* Choices::evidence(const Question& question) const
{
    asked_.insert(question);
    const auto choice = choices_.find(question);
    return choice == choices_.end() ? nullptr : &choice->second;
}

std::string Choices::decisions() const
{
    std::string text = header_line + '\n';
    for (const auto& [question, choice] : choices_)
        if (asked_.contains(question))
            text += lines_of(question, {.candidates = {choice.implementation()}, .turns = {{}}});
    return text;
}

void Choices::follow(const std::string& decisions)
{
    file_.clear();
    choices_.clear();
    std::istringstream in(decisions);
    CsvLines csv(in, "decisions");
    csv.next();
    while (csv.next()) {
        auto choice = choice_in({{csv.cells().begin(), csv.cells().end()}});
        if (choice) choices_[choice->first] = std::move(choice->second);
    }
}

fs::path choices_folder()
{
    if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0)
        return fs::path(cache) / "roof";
    const char* const home = std::getenv("HOME");
    return home == nullptr || *home == 0 ? fs::path{} : fs::path(home) / ".cache" / "roof";
}

}  // namespace roof::engine
