// `roof check`: lists what is wrong with the files of a results folder, and accepts edits.
#include "ert/method/results/results.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace roof {
namespace {

struct CheckOptions {
    OptionParser& parser;
    std::string& folder = parser.required("DIR");
    bool& accept_edited = parser.flag("--accept-edited");
    bool& json = parser.flag("--json");
};

/// With what is wrong with the recorded files.
Results checked(const std::string& folder)
{
    Results results = check_results(folder);
    const std::set<std::string> named(results.damage.begin(), results.damage.end());
    for (const std::string& sentence : check_records(folder).sentences)
        if (!named.contains(sentence)) results.damage.push_back(sentence);
    return results;
}

/// Accepts the edits; returns a sentence for each line that was damaged and is so no more, and for each file.
std::vector<std::string> accepted_in(const std::string& folder)
{
    std::vector<std::string> accepted = checked(folder).damage;
    const std::vector<std::string> notes = accept_edits(folder);
    const std::vector<std::string> still = checked(folder).damage;
    std::erase_if(accepted, [&](const auto& damage) { return std::ranges::find(still, damage) != still.end(); });
    accepted.insert(accepted.end(), notes.begin(), notes.end());
    return accepted;
}

int check_folder(const CheckOptions& options, Context& context)
{
    const auto say = [&](const char* kind, const std::string& text) {
        context.out << in_window(kind + printable(text) + '\n', context.terminal);
    };
    const std::vector<std::string> accepted =
        options.accept_edited ? accepted_in(options.folder) : std::vector<std::string>();
    const Results results = checked(options.folder);
    const auto damaged = std::ranges::count(results.rows, Status::damaged, &Measurement::status);
    const int status = results.damage.empty() ? 0 : 1;
    if (options.json) {
        print_json(context.out, {{"rows", results.rows.size()},
                                 {"damaged_rows", damaged},
                                 {"damage", results.damage},
                                 {"remarks", results.remarks},
                                 {"accepted", accepted}});
        return status;
    }
    for (const std::string& note : accepted) say("accepted: ", note);
    for (const std::string& damage : results.damage) say("damaged: ", damage);
    for (const std::string& remark : results.remarks) say("remark: ", remark);
    context.out << fmt::format("{}, {} of them damaged{}\n", analysis::how_many(results.rows.size(), "row"), damaged,
                               results.damage.empty() ? ": nothing is wrong with this folder" : "");
    return status;
}

}  // namespace

Action check(OptionParser& parser)
{
    return [options = CheckOptions{parser}](Context& context) { return check_folder(options, context); };
}

}  // namespace roof
