// accidents TRIES [SEED]: makes one accident in one file of a results folder and reads the folder. Each accident must be told, refused, or
// change nothing. Prints the numbers; exit status 1 after a silent change.
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/faults/mutate.hpp"
#include "tests/tools/workbench.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace roof::faults {
namespace {

const std::string plan = R"(name: accidents
run:
  - {bench: train, model: [tinynet, widenet], batch: [4, 8, 13, 16]}
  - {bench: bandwidth, operation: load}
  - {bench: flops, precision: [fp32, fp64]}
)";

struct Reading {
    tests::Said said;
    std::string page;

    bool operator==(const Reading& other) const
    {
        return said.status == other.said.status && said.out == other.said.out && page == other.page;
    }
    /// Says on the page or with the exit status that something is wrong.
    bool tells() const
    {
        const bool remarks =
            page.find("Damaged files") != std::string::npos || page.find("Remarks on the files") != std::string::npos;
        return remarks || (said.status != 0 && said.err.starts_with("roof: "));
    }
};

class Campaign {
  public:
    explicit Campaign(std::size_t seed) : chance_(seed)
    {
        write_file(bench_.path("plan.yaml"), plan);
        if (bench_.roof({"sweep", bench_.path("plan.yaml"), "--out", bench_.path("run")}).status != 1)
            throw std::runtime_error("the sweep was to have one failed row");
        add_recordings();
        whole_ = read();
        for (const auto& entry : std::filesystem::directory_iterator(bench_.path("run")))
            if (entry.path().extension() == ".csv" || entry.path().extension() == ".yaml")
                files_.push_back(entry.path());
        std::ranges::sort(files_);
    }

    void try_once()
    {
        const std::filesystem::path& file = files_[below(chance_, files_.size())];
        const std::string before = read_file(file);
        const std::string after = accident(chance_, before);
        write_file(file, after);
        const Reading reading = read();
        write_file(file, before);
        ++counts_[after == before || reading == whole_ ? 0 : reading.said.status == 2 ? 1 : reading.tells() ? 2 : 3];
        if (counts_[3] > silent_ && ++silent_ <= 5) {
            std::size_t at = 0;
            while (at < std::min(before.size(), after.size()) && before[at] == after[at]) ++at;
            std::cout << "silent: " << file.filename().string() << " at byte " << at << ", " << before.size() << " to "
                      << after.size() << " bytes, status " << reading.said.status << ": " << before.substr(at, 40)
                      << '\n';
        }
    }

    int finish() const
    {
        std::cout << counts_[0] << " without effect, " << counts_[1] << " refused, " << counts_[2] << " told, "
                  << counts_[3] << " silent\n";
        return counts_[3] == 0 ? 0 : 1;
    }

  private:
    /// Recorded files of two rows, named in checksums.csv like the others.
    void add_recordings() const
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
        const std::filesystem::path run = bench_.path("run");
        for (const int row : {0, 2}) {
            const std::string id = read_results(run).rows.at(static_cast<std::size_t>(row)).id();
            append_records<KernelRecord>(run, id, kernels);
            append_records<CopyRecord>(run, id, std::vector{copy, copy});
            append_records<CounterRecord>(run, id, std::vector{counter});
        }
        accept_edits(run);
    }

    Reading read() const
    {
        Reading reading;
        reading.said = bench_.roof({"report", bench_.path("run"), "--out", bench_.path("page.html")});
        if (reading.said.status != 2) reading.page = read_file(bench_.path("page.html"));
        return reading;
    }

    tests::Workbench bench_;
    Chance chance_;
    Reading whole_;
    std::vector<std::filesystem::path> files_;
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
