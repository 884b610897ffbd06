#include "tests/faults/readers.hpp"

#include "analysis/estimate/prediction.hpp"
#include "analysis/estimate/target.hpp"
#include "analysis/recordings/kernel_rules.hpp"
#include "analysis/study/points.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/counters/counter_table.hpp"
#include "ert/method/plan/plan.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/data/jpeg_files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/binary/binary.hpp"
#include "workloads/data/jpeg.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/model/models.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <fstream>

namespace roof::faults {
namespace {

namespace fs = std::filesystem;

/// The embedded texts whose path begins so.
std::vector<std::string> embedded(const std::string& beginning)
{
    std::vector<std::string> texts;
    for (const EmbeddedText& file : embedded_texts())
        if (file.path.starts_with(beginning)) texts.emplace_back(file.text);
    return texts;
}

/// Writes the mutated file into a whole folder and runs a command on it, which must answer with words of ours.
Reader folder_reader(const std::string& name, const std::string& whole, const std::string& file,
                     const std::vector<std::string>& words)
{
    return {name, {read_file(fs::path(whole) / file)}, [=](const std::string& text, const std::string& scratch) {
                static const tests::Workbench bench;
                const fs::path copy =
                    fs::path(scratch) / name / "run";  // alone there: a calibration is looked for beside it
                if (!fs::exists(copy)) {
                    fs::create_directories(copy);
                    fs::copy(whole, copy);
                }
                write_file(copy / file, text);
                std::vector<std::string> all = words;
                all.insert(all.begin() + 1, copy.string());
                const tests::Said said = bench.roof(all);
                if (said.status != 0 && said.err.find("roof: ") == std::string::npos)
                    throw std::logic_error("status without a sentence");
                if (("\n" + said.err).find("\nroof: unexpected: ") != std::string::npos)
                    throw std::logic_error(said.err);
                for (const std::string* shown : {&said.out, &said.err})
                    for (const char letter : *shown)
                        if (static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\t')
                            throw std::logic_error("a control character was printed");
            }};
}

/// Readers of files that are no text.
void add_binary_readers(std::vector<Reader>& all, const std::string& data)
{
    const fakes::TemporaryFolder made;
    const fs::path networks = fs::path(data) / "model/data/onnx";
    all.push_back({"onnx",
                   {read_file(networks / "alexnet.onnx"), read_file(networks / "resnet18_folded.onnx")},
                   [](const std::string& bytes, const std::string& scratch) {
                       std::ofstream(fs::path(scratch) / "net.onnx", std::ios::binary) << bytes;
                       model::read_onnx(fs::path(scratch) / "net.onnx");
                   }});
    test::write_plain(made / "plain.jpg", 40, 30, {10, 200, 30});
    test::write_plain(made / "inks.jpg", 17, 9, {10, 200, 30}, test::Ink::cmyk);
    all.push_back({"jpeg",
                   {read_file(made / "plain.jpg"), read_file(made / "inks.jpg")},
                   [](const std::string& bytes, const std::string& scratch) {
                       std::ofstream(fs::path(scratch) / "image.jpg", std::ios::binary) << bytes;
                       data::Jpeg(fs::path(scratch) / "image.jpg").decode(1);
                   }});
    all.push_back({"choices",
                   {with_checksums("shape,pass,precision,threads,library,implementation,choice,seconds\n"
                                   "16x64 to 64,forward,fp32,2,3.0,direct,decided,0.1 0.11 0.1\n"
                                   "16x64 to 64,forward,fp32,2,3.0,winograd,,0.3 inf\n")},
                   [](const std::string& text, const std::string& scratch) {
                       std::ofstream(fs::path(scratch) / "choices.csv", std::ios::binary) << text;
                       engine::Choices(fs::path(scratch) / "choices.csv");
                   }});
}

/// A copy of the run with records of its first row and a prediction.
void add_recordings(const fs::path& folder, const std::string& run)
{
    fs::copy(run, folder);
    const std::string id = read_results(folder).rows.front().id();
    KernelRecord kernel;
    kernel.name = "gemm<float, 4>";
    kernel.cause = {"cpu", 7, 1, "conv1", "forward"};
    kernel.start = Seconds{0.1};
    kernel.duration = Seconds{0.2};
    CopyRecord copy;
    copy.bytes = Bytes{1e6};
    copy.start = Seconds{0.4};
    copy.duration = Seconds{0.1};
    append_records<KernelRecord>(folder, id, std::vector(5, kernel));
    append_records<CopyRecord>(folder, id, std::vector(3, copy));
    append_records<RangeRecord>(folder, id,
                                std::vector<RangeRecord>{{1, RangeKind::step, "step", Seconds{0}, Seconds{1}}});
    append_records<CounterRecord>(
        folder, id,
        std::vector<CounterRecord>{
            {"cpu", CounterScope::kernel, "conv1", "forward", "gemm<float, 4>", 0, "dram__bytes.sum", 1e7, "byte"},
            {"cpu", CounterScope::step, {}, {}, {}, {}, "flops", 1e9, "FLOP"}});
    write_file(folder / "predictions.csv",
               with_checksums("row,least_s,predicted_s,memory_bytes,fits\n" + id + ",0.1,0.2,1e9,1\n"));
}

/// The most memory that this process has had since forget_peak(), in MB.
double peak_megabytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1000;
}

/// Of all threads; other work on the machine does not count.
double processor_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// So that what was taken before does not count, such as for the making of an input.
void forget_peak()
{
    std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace

Answer answer_of(const Reader& reader, const std::string& text, const std::string& scratch)
{
    forget_peak();
    const double before = peak_megabytes(), begin = processor_seconds();
    Answer answer;
    try {
        reader.read(text, scratch);
    } catch (const Error& error) {
        if (std::string_view(error.what()).empty()) answer.failure = "an error without words";
    } catch (const std::exception& error) {
        answer.failure = std::string("not an error of ours: ") + error.what();
    }
    answer.seconds = processor_seconds() - begin;
    answer.megabytes = peak_megabytes() - before;
    if (answer.failure.empty() && answer.seconds > longest_answer)
        answer.failure = fmt::format("it took {:.1f} s", answer.seconds);
    if (answer.failure.empty() && answer.megabytes > most_megabytes)
        answer.failure = fmt::format("it took {:.0f} MB", answer.megabytes);
    return answer;
}

std::vector<Reader> readers(const std::string& data)
{
    std::vector<Reader> all;
    std::vector<std::string> plans = embedded("configs/calibrate/");
    for (const std::string& text : embedded("configs/run/")) plans.push_back(text);
    all.push_back({"plan", plans, [](const std::string& text, const std::string&) {
                       static const fakes::ManualClock clock;
                       static const BenchRegistry registry = fakes::fake_registry(clock);
                       expand(parse_plan(text, "plan.yaml"), registry);
                   }});
    all.push_back({"sheet", embedded("configs/machines/"),
                   [](const std::string& text, const std::string&) { analysis::parse_sheet(text, "sheet"); }});
    all.push_back({"rules",
                   {read_file(fs::path(data) / "../configs/kernels.yaml")},
                   [](const std::string& text, const std::string&) { analysis::parse_kernel_rules(text, "rules"); }});
    all.push_back({"counters",
                   {read_file(fs::path(data) / "../configs/counters/nvidia.yaml")},
                   [](const std::string& text, const std::string&) { read_counter_table(text, "counters"); }});
    all.push_back({"points",
                   {"name,flops,bytes,seconds,precision,device,threads\na,1e12,2e9,0.5,fp32,cpu,2\nb,1e9,,0.1,,,\n"},
                   [](const std::string& text, const std::string&) { analysis::parse_points(text, "points", {}); }});
    all.push_back(
        {"predictions",
         {"row,least_s,predicted_s,memory_bytes,fits\na b=1,0.1,0.2,1e9,1\n"},
         [](const std::string& text, const std::string&) { analysis::parse_predictions(text, "predictions"); }});
    all.push_back(
        {"kernels",
         {with_checksums("id,name,duration_s,start_s,registers,shared_bytes\nr,k,0.1,2,3,4\n\"s,t\",l,0.2,,,\n"),
          "id,name,duration_s\nr,k,1\n"},
         [](const std::string& text, const std::string& scratch) {
             std::ofstream(fs::path(scratch) / "kernels.csv", std::ios::binary) << text;
             read_records<KernelRecord>(fs::path(scratch), [](const std::string&, const KernelRecord&) {});
         }});
    add_binary_readers(all, data);
    const std::string run = data + "/analysis/data/made/run";
    for (const char* file :
         {"measurements.csv", "samples.csv", "layers.csv", "machine.yaml", "plan.yaml", "checksums.csv"})
        all.push_back(folder_reader(std::string("report ") + file, run, file, {"report", "--plain"}));
    all.push_back(folder_reader("whatif", run, "measurements.csv", {"whatif", "--set", "batch=32"}));
    all.push_back(folder_reader("compare", run, "measurements.csv", {"compare", run}));
    all.push_back(folder_reader("calibration", data + "/analysis/data/made/calibration", "measurements.csv",
                                {"report", "--plain"}));
    static const fakes::TemporaryFolder recorded;
    if (fs::is_empty(recorded.path())) add_recordings(recorded.path(), run);
    for (const char* file : {"kernels.csv", "copies.csv", "ranges.csv", "counters.csv", "predictions.csv"})
        all.push_back(folder_reader(std::string("recorded ") + file, recorded.path(), file, {"report", "--plain"}));
    // Without checksums the mutated cells reach the readers behind them.
    static const fakes::TemporaryFolder without;
    if (fs::is_empty(without.path())) {
        fs::copy(run, without.path());
        std::string plain;
        for_lines(read_file(without / "measurements.csv"),
                  [&](std::string_view line) { plain.append(line.substr(0, line.rfind(','))).append("\n"); });
        write_file(without / "measurements.csv", plain);
    }
    for (const char* file : {"measurements.csv", "samples.csv", "layers.csv"})
        all.push_back(folder_reader(std::string("plain ") + file, without.path(), file, {"report", "--plain"}));
    return all;
}

}  // namespace roof::faults
