#include "workloads/engine/choices.hpp"

#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <cstdlib>
#include <vector>

namespace roof::engine {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> header{"shape", "pass", "precision", "threads", "library", "implementation", "seconds"};

std::map<Question, std::string> read(const fs::path& file)
{
    std::map<Question, std::string> choices;
    const CsvTable table = read_csv(file);
    if (table.header != header) throw InputError(file.string() + " has other columns");
    for (const std::vector<std::string>& row : table.rows) {
        if (row[3].empty() || row[3].find_first_not_of("0123456789") != std::string::npos) continue;
        choices[{row[0], row[1], row[2], std::atoi(row[3].c_str()), row[4]}] = row[5];
    }
    return choices;
}

}  // namespace

Choices::Choices(fs::path file) : file_(std::move(file))
{
    if (file_.empty() || !fs::exists(file_)) return;
    try {
        choices_ = read(file_);
    } catch (const Error&) {
        std::error_code none;
        fs::remove(file_, none);  // what is lost is a few seconds of timing
    }
}

std::optional<std::string> Choices::find(const Question& question) const
{
    const auto choice = choices_.find(question);
    return choice == choices_.end() ? std::nullopt : std::optional(choice->second);
}

void Choices::remember(const Question& question, const std::string& implementation, Seconds seconds)
{
    choices_[question] = implementation;
    if (file_.empty()) return;
    const std::vector<std::string> row{
        question.shape,   question.pass,  question.precision,         std::to_string(question.threads),
        question.library, implementation, format_exact(seconds.value)};
    try {
        make_folder(file_.parent_path());
        append_file(file_, (fs::exists(file_) ? "" : csv_line(header)) + csv_line(row));
    } catch (const Error&) {
        file_.clear();
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
