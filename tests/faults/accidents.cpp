// accidents TRIES [SEED]: makes one accident of many kinds in one file of a run, of a calibration beside it, of a node
// of a fleet or of an import, and lets five commands that read it answer. Each answer must name the file and its folder
// as damaged or refuse, with no number of another row changed, or be the answer as before. Prints the numbers; exit
// status 1 after a silent change.
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/faults/accident_kinds.hpp"
#include "tests/tools/workbench.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>

namespace roof::faults {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Answer {
    tests::Said said;
    std::string page;

    bool operator==(const Answer& other) const
    {
        return said.status == other.said.status && said.out == other.said.out && page == other.page;
    }
};

/// Folders that are damaged, and the commands that read them; "DIR" stands for the damaged one.
struct Group {
    Words folders;
    std::string other;  ///< a folder of the same kind, whose files and lines come in the place of theirs
    std::vector<Words> commands;
    std::string rows{};  ///< the folder whose rows must keep their numbers; none of a fleet
    std::map<std::string, std::vector<Answer>> whole{};
    std::map<std::string, std::string> before{};  ///< the numbers of its rows
};

class Campaign {
  public:
    explicit Campaign(std::size_t seed) : chance_(seed)
    {
        write_file(bench_.path("steps.yaml"),
                   "name: steps\nrun:\n  - {bench: train, model: [tinynet, widenet], batch: [4, 8, 13, 16]}\n");
        write_file(bench_.path("roofs.yaml"), "name: roofs\nrun:\n  - {bench: bandwidth}\n  - {bench: flops}\n");
        for (const std::string name : {"2026-01-01-a", "2026-01-02-a"}) sweep("roofs", home(name));
        sweep("steps", home("2026-01-03-a"));
        sweep("steps", bench_.path("other"));
        write_file(bench_.path("rounds.yaml"), "rounds: 3\nrun:\n  - {bench: flops}\n");
        for (const std::string node : {"n1", "n2", "n3", "n4", "n5", "n6"})
            sweep("rounds", bench_.path("fleet/" + node), node);
        for (const std::string& run : {home("2026-01-03-a"), bench_.path("other")}) add_recordings(run);
        const std::string run = home("2026-01-03-a");
        const std::string page = bench_.path("page.html"), other = bench_.path("other"), roofs = home("2026-01-02-a");
        groups_ = {{{run},
                    other,
                    {{"report", "DIR", "--out", page},
                     {"whatif", "DIR", "--set", "fp32=2x"},
                     {"compare", other, "DIR"},
                     {"export", "DIR", "--format", "points"},
                     {"trace", "DIR", "--out", page}},
                    run},
                   {{roofs},
                    home("2026-01-01-a"),
                    {{"report", run, "--out", page},
                     {"whatif", run, "--set", "fp32=2x"},
                     {"export", "DIR"},
                     {"place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4"},
                     {"estimate", "alexnet", "--batch", "8", "--on", "here"}},
                    run},
                   {{bench_.path("fleet/n1"), bench_.path("fleet/n2")},
                    bench_.path("fleet/n3"),
                    {{"report", "DIR", "--out", page},
                     {"compare", bench_.path("fleet/n3"), "DIR"},
                     {"export", "DIR"},
                     {"check", "DIR"}}}};
        for (Group& group : groups_) {
            for (const std::string& folder : group.folders)
                for (const Words& words : group.commands) {
                    group.whole[folder].push_back(answer(words, folder));
                    if (const tests::Said& said = group.whole[folder].back().said; said.status > 1)
                        throw std::runtime_error(words[0] + " of whole folders: " + said.err);
                }
            if (!group.rows.empty()) group.before = rows_of(group.rows);
        }
    }

    void try_once()
    {
        const std::size_t number = below(chance_, groups_.size());
        const Group& group = groups_[number];
        const fs::path folder = any(group.folders);
        const fs::path file = any(files_in(folder));
        const fs::path other = fs::path(group.other) / file.filename();
        const std::size_t kind = below(chance_, accidents.size() + accidents_of_files.size());
        const bool is_of_text = kind < accidents.size();
        const std::string_view name = is_of_text ? accidents[kind].name : accidents_of_files[kind - accidents.size()];
        const std::string before = read_file(file);
        const std::string strange = fs::exists(other) ? read_file(other) : "";
        const std::string digest = fs::exists(folder / "digest.csv") ? read_file(folder / "digest.csv") : "";
        const fs::path beside = any(files_in(folder));
        const std::string of_beside = read_file(beside);
        if (is_of_text) {
            const std::string after = before.empty() ? before : accidents[kind].make(chance_, before, strange);
            if (after == before) return try_once();
            write_file(file, after);
        } else if (!change_file(name, file, other, beside)) {
            return try_once();
        }
        kinds_.emplace(number, name);
        std::optional<bool> kept;  // whatever the command, if one tells the damage
        for (std::size_t i = 0; i < group.commands.size(); ++i) {
            const Answer now = answer(group.commands[i], folder);
            const bool is_told = tells(now, folder, file, is_of_text || name != "two files exchanged" ? file : beside);
            const std::size_t result = now == group.whole.at(folder)[i]                           ? 0
                                       : now.said.status == 2                                     ? 1
                                       : is_told && (kept ? *kept : kept.emplace(is_kept(group))) ? 2
                                                                                                  : 3;
            ++counts_[result];
            if (result == 3 && ++silent_ <= 20)
                std::cout << "silent: " << join(group.commands[i], " ") << ", status " << now.said.status << "; "
                          << name << " in " << (folder / file.filename()).string()
                          << (is_told ? ": a number of another row changed" : "") << '\n'
                          << now.said.err
                          << (is_of_text ? first_difference(before, read_file(file)) : beside.filename().string())
                          << std::endl;
        }
        for (const fs::path& changed : {file, beside}) fs::remove_all(changed);
        write_file(beside, of_beside);
        write_file(file, before);
        if (!digest.empty()) write_file(folder / "digest.csv", digest);
    }

    int finish() const
    {
        std::set<std::string_view> names;
        for (const auto& [group, name] : kinds_) names.insert(name);
        std::cout << fmt::format(
                         "{} kinds of accidents, {} with their kinds of folders; {} answers: {} without effect, {} "
                         "refused, {} "
                         "told, "
                         "{} silent\n",
                         names.size(), kinds_.size(), counts_[0] + counts_[1] + counts_[2] + counts_[3], counts_[0],
                         counts_[1], counts_[2], counts_[3])
                  << std::flush;
        return counts_[3] == 0 ? 0 : 1;
    }

  private:
    std::string home(const std::string& name) const { return bench_.path("results/fake-2cpu/" + name); }
    template <class Things>
    typename Things::value_type any(const Things& things)
    {
        return things[below(chance_, things.size())];
    }

    void run_words(const Words& words) const
    {
        if (const tests::Said said = bench_.roof(words); said.status > 1) throw std::runtime_error(said.err);
    }
    void sweep(const std::string& plan, const std::string& folder, const std::string& node = "fake-node") const
    {
        run_words({"sweep", bench_.path(plan + ".yaml"), "--out", folder, "--node", node});
    }

    static std::vector<fs::path> files_in(const fs::path& folder)
    {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".csv" || entry.path().extension() == ".yaml")
                files.push_back(entry.path());
        std::ranges::sort(files);
        return files;
    }

    /// Recorded files of two rows, named in checksums.csv like the others.
    static void add_recordings(const fs::path& run)
    {
        std::vector<KernelRecord> kernels(4);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            kernels[i].name = "kernel" + std::to_string(i % 2);
            kernels[i].cause.device = "cpu";
            kernels[i].start = Seconds{0.1 * static_cast<double>(i)};
            kernels[i].duration = Seconds{0.05};
        }
        CopyRecord copy;
        copy.bytes = Bytes{4096};
        copy.duration = Seconds{1e-3};
        const CounterRecord counter{"cpu", CounterScope::kernel, {}, {}, "kernel0", 0, "dram__bytes.sum", 1e6, "byte"};
        for (const int row : {0, 2}) {
            const std::string id = read_results(run).rows.at(static_cast<std::size_t>(row)).id();
            append_records<KernelRecord>(run, id, kernels);
            append_records<CopyRecord>(run, id, std::vector{copy, copy});
            append_records<CounterRecord>(run, id, std::vector{counter});
        }
        accept_edits(run);
    }

    Answer answer(Words words, const std::string& folder) const
    {
        const fs::path page = bench_.path("page.html");
        fs::remove(page);
        std::ranges::replace(words, std::string("DIR"), folder);
        Answer answer{bench_.roof(words), {}};
        if (fs::exists(page)) answer.page = read_file(page);
        return answer;
    }

    /// An accident that is more than another text. False if it cannot be made there.
    static bool change_file(std::string_view name, const fs::path& file, const fs::path& other, const fs::path& beside)
    {
        if (name == "the file lost") {
            fs::remove(file);
        } else if (name == "a folder in its place") {
            fs::remove(file);
            fs::create_directory(file);
        } else if (name == "a link to another folder's file") {
            if (!fs::exists(other) || read_file(other) == read_file(file)) return false;
            fs::remove(file);
            fs::create_symlink(other, file);
        } else {  // two files exchanged
            if (beside == file) return false;
            const std::string text = read_file(file);
            write_file(file, read_file(beside));
            write_file(beside, text);
        }
        return true;
    }

    /// Names the folder and one of the files as damaged, on standard error, by `roof check`, or among those that a
    /// fleet refuses; or says on the page that the session has not ended, which is all that a folder without
    /// checksums.csv shows.
    static bool tells(const Answer& answer, const fs::path& folder, const fs::path& file, const fs::path& beside)
    {
        const std::string all = answer.said.err + answer.said.out;
        const auto has = [&](const std::string& words) { return all.find(words) != std::string::npos; };
        const bool names = answer.said.status == 1 && has(folder.filename()) &&
                           (has(file.filename()) || has(beside.filename())) &&
                           (answer.said.err.find("roof: damaged: ") != std::string::npos || has("not used") ||
                            has("cannot be used") || has("damaged"));
        return names || has("the run has not ended") || answer.page.find("Remarks on the files") != std::string::npos;
    }

    /// The measured values of the rows that are ok.
    std::map<std::string, std::string> rows_of(const std::string& run) const
    {
        std::map<std::string, std::string> rows;
        const tests::Said said = bench_.roof({"report", run, "--json", "--out", bench_.path("page.html")});
        const nlohmann::json document = nlohmann::json::parse(said.out, nullptr, false);
        if (document.is_discarded()) return rows;
        for (const nlohmann::json& row : document["studies"][0]["rows"])
            if (row["status"] == "ok")
                for (const char* const value : {"time_median_s", "time_high_s", "forward_median_s", "backward_median_s",
                                                "losses", "rate_median_flop_per_s", "memory_bytes"})
                    rows[row["row"].get<std::string>()] += row[value].dump() + " ";
        return rows;
    }

    /// Whether no row that is still ok has other values.
    bool is_kept(const Group& group) const
    {
        if (group.rows.empty()) return true;
        for (const auto& [id, values] : rows_of(group.rows)) {
            const auto known = group.before.find(id);
            if (known == group.before.end() || known->second != values) return false;
        }
        return true;
    }

    static std::string first_difference(const std::string& before, const std::string& after)
    {
        std::size_t at = 0;
        while (at < std::min(before.size(), after.size()) && before[at] == after[at]) ++at;
        return "  at byte " + std::to_string(at) + ": " + before.substr(at, 40) + " | " +
               after.substr(std::min(at, after.size()), 40);
    }

    tests::Workbench bench_;
    Chance chance_;
    std::vector<Group> groups_;
    std::set<std::pair<std::size_t, std::string_view>> kinds_;  ///< by number of the group
    std::array<int, 4> counts_{};
    int silent_ = 0;
};

}  // namespace
}  // namespace roof::faults

int main(int count, char** words)
{
    const int tries = count > 1 ? std::atoi(words[1]) : 200;
    roof::faults::Campaign campaign(count > 2 ? std::strtoull(words[2], nullptr, 10) : 1);
    constexpr int told = 1000;
    for (int i = 1; i <= tries; ++i) {
        campaign.try_once();
        if (i % told == 0 && i < tries) std::cout << i << " accidents: " << std::flush, campaign.finish();
    }
    return campaign.finish();
}
