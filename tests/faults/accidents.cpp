// accidents TRIES [SEED]: makes one accident in one file of a run, of a calibration beside it, of a node of a fleet or of an import, and lets
// the commands that read it answer. Each answer must name the damage or refuse, with no number of another row changed, or be the answer as
// before. Prints the numbers; exit status 1 after a silent change.
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/faults/mutate.hpp"
#include "tests/tools/workbench.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>

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

/// Folders that are damaged, and the commands that read them.
struct Group {
    Words folders;
    std::vector<Words> commands;
    std::vector<Answer> whole{};
};

/// A line of the file in place of that of another folder's, or moved between the files; cells of the header exchanged; and so on. `other`: the
/// same file of another folder.
std::string large_accident(Chance& chance, const std::string& text, const std::string& other)
{
    const std::size_t header = std::min(text.find('\n'), text.size());
    switch (below(chance, 6)) {
        case 0:
            return "";
        case 1:
            return other;
        case 2:
            return other.substr(0, std::min(other.find('\n'), other.size())) + text.substr(header);
        case 3: {  // exchanged cells of the header
            std::vector<std::string> cells = split(text.substr(0, header), ',');
            std::swap(cells[below(chance, cells.size())], cells[below(chance, cells.size())]);
            return join(cells, ",") + text.substr(header);
        }
        case 4: {  // a line of another folder
            if (other.empty() || text.empty()) return text;
            const auto [from, size] = any_line(chance, other);
            const auto [begin, length] = any_line(chance, text);
            return text.substr(0, begin) + other.substr(from, size) + text.substr(begin + length);
        }
        default:
            return text.substr(0, text.rfind('\n', text.size() / 2) + 1);
    }
}

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
        for (const std::string node : {"n1", "n2", "n3", "n4"}) sweep("roofs", bench_.path("fleet/" + node), node);
        for (const std::string& run : {home("2026-01-03-a"), bench_.path("other")}) add_recordings(run);
        const std::string run = home("2026-01-03-a"), table = std::string(ROOF_TESTS) + "/import/data/likwid.csv";
        for (const std::string name : {"import", "import2"}) run_words({"import", table, "--out", bench_.path(name)});
        const std::string page = bench_.path("page.html");
        groups_ = {{{run},
                    {{"report", run, "--out", page},
                     {"whatif", run, "--set", "fp32=2x"},
                     {"compare", bench_.path("other"), run},
                     {"export", run, "--format", "points"},
                     {"trace", run, "--out", page}}},
                   {{home("2026-01-02-a")},
                    {{"report", run, "--out", page},
                     {"whatif", run, "--set", "fp32=2x"},
                     {"export", home("2026-01-02-a")},
                     {"place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4"},
                     {"estimate", "alexnet", "--batch", "8", "--on", "here"}}},
                   {{bench_.path("fleet/n1"), bench_.path("fleet/n2")}, {{"fleet", bench_.path("fleet")}}},
                   {{bench_.path("import")}, {{"report", bench_.path("import"), "--out", page}}}};
        for (Group& group : groups_)
            for (const Words& words : group.commands) group.whole.push_back(answer(words));
        before_ = rows_of(run);
    }

    void try_once()
    {
        const Group group = any(groups_);
        const fs::path folder = any(group.folders);
        const fs::path file = any(files_in(folder));
        const fs::path other = (folder.parent_path().filename() == "fleet" ? fs::path(bench_.path("fleet/n3"))
                                : folder.filename() == "import"            ? fs::path(bench_.path("import2"))
                                : folder.filename() == "2026-01-02-a"      ? fs::path(home("2026-01-01-a"))
                                                                           : fs::path(bench_.path("other"))) /
                               file.filename();
        const std::string before = read_file(file);
        const bool is_large = below(chance_, 4) == 0;
        const bool is_lost = is_large && below(chance_, 6) == 0;
        const std::string after = is_large ? large_accident(chance_, before, fs::exists(other) ? read_file(other) : "")
                                           : accident(chance_, before);
        const std::string digest = fs::exists(folder / "digest.csv") ? read_file(folder / "digest.csv") : "";
        if (is_lost)
            fs::remove(file);
        else
            write_file(file, after);
        for (std::size_t i = 0; i < group.commands.size(); ++i) {
            const Answer now = answer(group.commands[i]);
            const int kind = now == group.whole[i]             ? 0
                             : now.said.status == 2            ? 1
                             : tells(now, folder) && is_kept() ? 2
                                                               : 3;
            ++counts_[static_cast<std::size_t>(kind)];
            if (kind == 3 && ++silent_ <= 5)
                std::cout << "silent: " << group.commands[i][0] << " after a change of " << file.string() << ", "
                          << before.size() << " to " << (is_lost ? 0 : after.size()) << " bytes, status "
                          << now.said.status << (tells(now, folder) ? ", a number of another row changed" : "") << '\n';
            if (kind == 3 && silent_ <= 5) std::cout << now.said.err << first_difference(before, after) << '\n';
        }
        write_file(file, before);
        if (!digest.empty()) write_file(folder / "digest.csv", digest);
    }

    int finish() const
    {
        std::cout << counts_[0] << " answers without effect, " << counts_[1] << " refused, " << counts_[2] << " told, "
                  << counts_[3] << " silent\n";
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

    Answer answer(const Words& words) const
    {
        const fs::path page = bench_.path("page.html");
        fs::remove(page);
        Answer answer{bench_.roof(words), {}};
        if (fs::exists(page)) answer.page = read_file(page);
        return answer;
    }

    /// Names the folder as damaged, on standard error or among those that a fleet refuses; or says on the page that the session has not ended,
    /// which is all that a folder without checksums.csv shows.
    static bool tells(const Answer& answer, const fs::path& folder)
    {
        const std::string name = folder.filename();
        const std::string all = answer.said.err + answer.said.out;
        const bool names = answer.said.status == 1 && all.find(name) != std::string::npos &&
                           (answer.said.err.find("roof: damaged: ") != std::string::npos ||
                            answer.said.out.find("not used") != std::string::npos ||
                            answer.said.out.find("cannot be used") != std::string::npos);
        return names || answer.page.find("Remarks on the files") != std::string::npos;
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
                for (const char* const value :
                     {"step_seconds", "phase_seconds", "losses", "flops_per_second", "peak_memory_bytes"})
                    rows[row["row"].get<std::string>()] += row[value].dump() + " ";
        return rows;
    }

    /// Whether no row that is still ok has other values.
    bool is_kept() const
    {
        for (const auto& [id, values] : rows_of(home("2026-01-03-a"))) {
            const auto known = before_.find(id);
            if (known == before_.end() || known->second != values) return false;
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
    std::map<std::string, std::string> before_;
    std::array<int, 4> counts_{};
    int silent_ = 0;
};

}  // namespace
}  // namespace roof::faults

int main(int count, char** words)
{
    const int tries = count > 1 ? std::atoi(words[1]) : 200;
    roof::faults::Campaign campaign(count > 2 ? std::strtoull(words[2], nullptr, 10) : 1);
    for (int i = 0; i < tries; ++i) campaign.try_once();
    return campaign.finish();
}
