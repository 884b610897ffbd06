// Hostile text in every field of a results folder that holds text, and every sink: no control character, no invalid
// UTF-8, no markup, no formula.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/tools/workbench.hpp"

#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

using namespace roof;
using tests::Workbench;

namespace {

/// ESC, C1 as UTF-8, BEL, DEL, C1 as a byte, an invalid byte, an overlong one, a mark of direction, markup.
const std::string hostile =
    "=1+\x1b[2J\xC2\x9B"
    "31m\x07\x7F\x9B\xFF\xC0\xAF\xE2\x80\xAE<b>&\"'";
const std::string begins_safe = "=1+?[2J";

/// A copy of the row for each of its fields that takes any text. Each has a batch, or a description, of its own.
std::vector<Measurement> spoiled(const Measurement& row)
{
    std::vector<Measurement> rows;
    for (const Field<Measurement>& column : measurement_fields()) {
        Measurement copy = row;
        const auto& axes = axis_names();
        if (std::ranges::find(axes, column.name) != axes.end() && !copy.point.has(column.name)) continue;
        if (copy.point.has("batch")) copy.point.set("batch", std::to_string(100 + rows.size()));
        try {
            column.read(copy, hostile);
        } catch (const Error&) {
            continue;  // a number or a word of a list
        }
        rows.push_back(std::move(copy));
    }
    return rows;
}

/// Lines of samples.csv or layers.csv, one for each field that takes any text.
template <class Row>
std::vector<Row> spoiled_lines(const Row& line, const std::vector<Field<Row>>& columns)
{
    std::vector<Row> lines;
    for (const Field<Row>& column : columns) try {
            Row copy = line;
            column.read(copy, hostile);
            lines.push_back(std::move(copy));
        } catch (const Error&) {
        }
    return lines;
}

/// Records of all kinds. Returns the number of fields that took the text.
std::size_t write_records(const std::filesystem::path& folder, const std::string& id)
{
    const std::map<std::string_view, std::string_view> plain{{"device", "cpu"},    {"name", "kernel"},
                                                             {"start_s", "0.1"},   {"duration_s", "0.1"},
                                                             {"bytes", "1e6"},     {"value", "1e6"},
                                                             {"unit", "byte"},     {"layer", "conv1"},
                                                             {"phase", "forward"}, {"metric", "dram__bytes.sum"},
                                                             {"kind", "step"},     {"memory", "device"}};
    std::size_t fields = 0;
    for_each_kind_of_record([&]<class Record>() {
        std::vector<Record> records;
        for (const Field<Record>& spoil : std::get<RecordFile<Record>>(record_files).fields) try {
                Record record;
                for (const Field<Record>& field : std::get<RecordFile<Record>>(record_files).fields) {
                    const auto value = plain.find(field.name);
                    if (value == plain.end()) continue;
                    try {
                        field.read(record, value->second);
                    } catch (const Error&) {
                    }  // a kind of its own
                }
                spoil.read(record, hostile);
                records.push_back(record);
            } catch (const Error&) {
            }
        append_records<Record>(folder, id, records);
        fields += records.size();
    });
    return fields;
}

/// All texts of the machine but the names of its devices. Returns their number.
std::size_t spoil(YAML::Node node, const std::filesystem::path& scratch, const YAML::Node& root)
{
    std::size_t fields = 0;
    for (auto part : node) {
        YAML::Node value = node.IsMap() ? part.second : YAML::Node(part);
        if (!value.IsScalar()) {
            fields += spoil(value, scratch, root);
            continue;
        }
        const auto before = value.as<std::string>();
        if (before == "cpu") continue;
        value = hostile;
        try {
            write_file(scratch, YAML::Dump(root));
            read_machine(scratch);
            ++fields;
        } catch (const Error&) {
            value = before;  // a number or a word of a list
        }
    }
    return fields;
}

/// A folder with a calibration and steps, hostile in each field. Returns the number of fields.
std::size_t make_hostile(const Workbench& bench, const std::string& folder)
{
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "7,8", "--out", bench.path("run")}).status == 0);
    write_file(bench.path("plan.yaml"),
               "name: ceilings\nrun:\n  - {bench: bandwidth, operation: load}\n  - {bench: flops}\n");
    REQUIRE(bench.roof({"sweep", bench.path("plan.yaml"), "--out", bench.path("calibration")}).status == 0);
    const Results run = read_results(bench.path("run")), calibration = read_results(bench.path("calibration"));
    YAML::Node machine = to_yaml(run.machine);
    std::size_t fields = spoil(machine, bench.path("machine.yaml"), machine);
    write_file(bench.path("machine.yaml"), YAML::Dump(machine));
    const std::string plan = "name: hostile  # \x1b[2J\x07\nrun:\n  - {bench: train, model: tinynet, batch: 1}\n";
    RunDirectory directory(folder, plan, read_machine(bench.path("machine.yaml")));
    std::vector<Measurement> rows = spoiled(run.rows.at(1));
    for (const Measurement& row : calibration.rows) {
        directory.append(row);
        if (row.status != Status::ok || row.point.has("batch")) continue;
        for (Measurement& copy : spoiled(row))
            if (copy.id() != row.id()) rows.push_back(std::move(copy));
    }
    fields += rows.size();
    Measurement whole = run.rows.at(0);
    for (const PartMeasurement& part : spoiled_lines(whole.parts.at(0), part_fields())) whole.parts.push_back(part);
    for (Sample& sample : spoiled_lines(whole.samples.back(), sample_fields())) {
        sample.used = false;
        whole.samples.push_back(sample);
    }
    fields += whole.parts.size() + whole.samples.size() - run.rows[0].parts.size() - run.rows[0].samples.size();
    fields += write_records(folder, whole.id());
    directory.append(whole);
    for (const Measurement& row : rows) directory.append(row);
    write_file(folder + "/predictions.csv", with_checksums("row,least_s,predicted_s,memory_bytes,fits\n" + whole.id() +
                                                           ",0.1,0.2,1e9,1\n\x1b[2J\xFF<b>,0.1,0.2,1e9,1\n"));
    return fields + 1;
}

void check_clean(const std::string& shown, const std::string& sink)
{
    INFO(sink);
    CHECK((printable_lines(shown) == shown));
}

void check_file(const std::filesystem::path& file)
{
    const std::string text = read_file(file), kind = file.extension();
    INFO(file);
    check_clean(text, file.filename());
    if (kind == ".html" || kind == ".svg") CHECK(text.find("<b>") == std::string::npos);
    if (kind == ".json") CHECK(nlohmann::json::accept(text));
    CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
    if (kind == ".csv")
        for (const char* formula : {"\n=", ",=", "\"=", "\n@", ",@"}) CHECK(text.find(formula) == std::string::npos);
}

}  // namespace

TEST_CASE("no sink shows foreign text raw, whichever field holds it")
{
    const Workbench bench;
    const std::string run = bench.path("hostile");
    CHECK(make_hostile(bench, run) > 70);
    write_file(bench.path("points.csv"), "name,flops,bytes,seconds\n\"=1+\x1b[2J\x9B<b>\",1e9,1e9,0.1\n");
    const std::string out = bench.path("shown");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", run, "--data", out + "/data", "--out", out + "/page.html", "--pictures", out + "/pictures"},
             {"report", run, "--plain", "--out", out + "/plain.html"},
             {"trace", run, "--out", out + "/trace.json"},
             {"whatif", run, "--set", "batch=16"},
             {"whatif", run, "--set", "batch=16", "--json"},
             {"compare", run, run},
             {"compare", run, run, "--json"},
             {"place", bench.path("points.csv"), "--on", run},
             {"export", run},
             {"export", run, "--format", "points", "--out", out + "/points.csv"},
             {"export", run, "--format", "ert", "--out", out + "/roofline.json"},
             {"export", run, "--format", "likwid"},
             {"export", run, "--format", "carm"},
             {"export", run, "--format", "tracelens", "--out", out + "/tracelens.json"},
             {"export", run, "--format", "pytorch"},
             {"export", run, "--format", "prometheus"},
             {"check", run}}) {
        std::filesystem::create_directories(out);
        const tests::Said said = bench.roof(words);
        INFO(said.err);
        CHECK(said.status != 2);
        check_clean(said.out, words[0] + " to standard output");
        check_clean(said.err, words[0] + " to standard error");
    }
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
        if (!entry.is_regular_file()) continue;
        if (entry.path().extension() != ".png" && entry.path().extension() != ".pdf") check_file(entry.path());
        ++files;
    }
    CHECK(files > 10);
    CHECK_THAT(read_file(out + "/page.html"), Catch::Contains(begins_safe));
}
