// Opening a folder again, what checksums.csv says of it, and accepted edits: whole files and sentences.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/seal.hpp"
#include "tests/method/damaged_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::tests;
using fakes::fake_machine;
namespace fs = std::filesystem;

namespace {

/// Why no run of this plan and machine is opened; empty if it is.
std::string refusal(const fs::path& place, const std::string& plan = plan_text, const Machine& machine = fake_machine())
{
    try {
        RunDirectory(place, plan, machine).close();
    } catch (const InputError& error) {
        std::string text = error.what();
        for (std::size_t at; (at = text.find(place.string())) != std::string::npos;)
            text.replace(at, place.string().size(), "{}");
        return text;
    }
    return {};
}

}  // namespace

TEST_CASE("who may append to a folder, and why not")
{
    const Damaged folder;
    const auto with = [](const std::function<void(Machine&)>& edit) {
        Machine machine = fake_machine();
        edit(machine);
        return machine;
    };
    const auto refused = [&](const std::function<void(Machine&)>& edit) {
        return refusal(folder.run, plan_text, with(edit));
    };
    const std::string elsewhere = "; give --out another folder";
    CHECK(refusal(folder.run) == "");
    CHECK(refusal(folder.run, "a") == "{} holds the results of another plan (see its plan.yaml)" + elsewhere);
    CHECK(refused([](Machine& m) { m.name = "n"; }) == "{} holds rows of another machine, fake-2cpu");
    CHECK(refused([](Machine& m) { m.node = "n"; }) ==
          "{} holds rows of another node, fake-node; if this is the same one, give --node fake-node");
    CHECK(refused([](Machine& m) { m.versions["revision"] = "r"; }) ==
          "{} holds rows of revision 'test', not 'r'" + elsewhere);
    CHECK(refused([](Machine& m) { m.threads = 1, m.devices[0].memory = Bytes{8e9}; }) ==
          "{} holds rows of threads '2', not '1'; memory '14.9 GiB', not '7.5 GiB'" + elsewhere);
    const std::string nothing = "the folder is damaged, so nothing is appended: ";
    for (const std::string file : {"samples.csv", "layers.csv"}) {
        const std::string text = read_file(folder.run / file);
        write_file(folder.run / file, "id" + text.substr(text.find(',', 3)));
        CHECK(refusal(folder.run) ==
              "{}/" + file + " was written by another version of roof: its columns differ" + elsewhere);
        write_file(folder.run / file, text);
    }
    fs::remove(folder.run / "plan.yaml");
    CHECK(refusal(folder.run) == "");
    fs::remove(folder.run / "plan.yaml");
    fs::remove(folder.run / "checksums.csv");
    CHECK(refusal(folder.run) == "");
    fs::remove(folder.run / "measurements.csv");
    CHECK(refusal(folder.run) == nothing + "{}/measurements.csv: it is missing");
    CHECK_FALSE(has_no_row(folder.run));
    CHECK_THAT(lost_rows(folder.run), Catch::EndsWith("/measurements.csv: it is missing"));
    for (const char* const file : {"samples.csv", "layers.csv"}) fs::remove(folder.run / file);
    CHECK_FALSE(has_no_row(folder.run));
    fs::remove(folder.run / "checksums.csv");
    make_folder(folder.run / "checksums.csv");
    CHECK_THAT(lost_rows(folder.run), Catch::Contains("checksums.csv: it is a folder"));
    const Damaged other;
    CHECK(lost_rows(other.run) == "");
    other.replace("machine.yaml", "format: 3", "format: 2");
    CHECK(refusal(other.run) == "{} holds results of an older format, to which nothing is appended" + elsewhere);
    for (const auto& [format, is_other] :
         {std::pair{"-1", false}, {"0", false}, {"1", true}, {"2", false}, {"3", false}, {"4", true}, {"x", false}}) {
        write_file(other.run / "machine.yaml", "format: " + std::string(format) + "\n");
        CHECK(is_of_other_format(other.run) == is_other);
    }
    write_file(other.run / "machine.yaml", "format: 4\n");
    CHECK_THROWS_WITH(accept_edits(other.run), Catch::Contains("older format or a newer one"));
}

TEST_CASE("a run without rows is removed for another plan only if it is whole, of this format and alone")
{
    const fakes::TemporaryFolder folder;
    const fs::path run = folder / "run";
    const auto is_taken_over = [&](const std::function<void()>& edit) {
        fs::remove_all(run);
        RunDirectory(run, plan_text, fake_machine()).close();
        edit();
        const bool is_taken = refusal(run, "another plan\n").empty();
        CHECK(read_file(run / "plan.yaml") == (is_taken ? "another plan\n" : plan_text));
        return is_taken;
    };
    CHECK(is_taken_over([] {}));
    CHECK_FALSE(is_taken_over([&] { fs::remove(run / "checksums.csv"); }));
    CHECK_FALSE(is_taken_over([&] { fs::remove(run / "machine.yaml"); }));
    CHECK_FALSE(is_taken_over([&] { fs::rename(run / "checksums.csv", run / "notes"); }));
    CHECK_FALSE(is_taken_over([&] {
        const std::string text = read_file(run / "machine.yaml");
        write_file(run / "machine.yaml", "format: 4" + text.substr(text.find('\n')));
        seal(run);
    }));
}

TEST_CASE("opening changes no document, gives up the lock at the end, and moves unfinished lines of all files")
{
    const Damaged folder;
    const std::string header = "id,note";
    const fs::path notes = folder.run / "notes.csv", own = folder.run / "own.csv", ids = folder.run / "ids.csv";
    const fs::file_time_type old = fs::last_write_time(folder.run / "plan.yaml") - std::chrono::hours(1);
    for (const char* const file : {"plan.yaml", "checksums.csv"}) fs::last_write_time(folder.run / file, old);
    const auto is_old = [&](const char* file) { return fs::last_write_time(folder.run / file) == old; };
    const std::vector<Measurement> rows = read_results(folder.run).rows;
    append_block(notes, header, rows[0].id() + ",a\n" + rows[0].id() + ",b\n");
    append_block(notes, header, rows[1].id() + ",d\na line \"that\" cannot be read,c\n");
    const std::string whole = read_file(notes);
    append_file(notes, rows[1].id() + ",e,\n");
    write_file(own, "a,b\n1,2\n3");
    write_file(ids, "id,b\nof no row,2\n3");
    const std::string unfinished = read_file(notes);
    make_folder(folder.run / "notes.csv.cut");  // what cannot be kept is not removed
    CHECK_THROWS_AS(RunDirectory(folder.run, plan_text, fake_machine()), InputError);
    CHECK(read_file(notes) == unfinished);
    fs::remove(folder.run / "notes.csv.cut");
    {
        RunDirectory run(folder.run, plan_text, fake_machine());
        CHECK(read_file(notes) == whole);
        CHECK(read_file(folder.run / "notes.csv.cut") == rows[1].id() + ",e,\n\n");
        CHECK((is_old("plan.yaml") && is_old("checksums.csv")));
        Measurement row = rows[0];
        row.point.set("batch", "5");
        run.append(row);
        CHECK(run.done().contains(row.id()));
        append_block(notes, header, "of no row,a\n");
        append_file(folder.run / "samples.csv", "of no row,1");
        run.close();
        CHECK(read_file(notes) == whole);
        CHECK(read_file(folder.run / "samples.csv.cut") == "of no row,1\n");
        CHECK_NOTHROW(run.check_lock());
        CHECK(refusal(folder.run) == "");
        CHECK((is_old("plan.yaml") && !is_old("checksums.csv")));
    }
    CHECK(read_file(own) == "a,b\n1,2\n3");
    CHECK(read_file(ids) == "id,b\nof no row,2\n3");
    const fs::path fresh = folder.folder / "fresh";
    {
        RunDirectory run(fresh, plan_text, fake_machine());
        CHECK(fs::exists(fresh / "checksums.csv"));
        write_file(fresh / "samples.csv", "");
        write_file(fresh / "measurements.csv", "id,ben");  // of a run that was killed
    }
    {
        RunDirectory run(fresh, plan_text, fake_machine());
        run.append(rows[0]);
        fs::rename(fresh / "layers.csv", fresh / "kept");
        make_folder(fresh / "layers.csv");
        CHECK_THROWS_AS(run.append(rows[1]), InputError);
        CHECK_NOTHROW(FolderLock(fresh));
    }
    fs::remove(fresh / "layers.csv");
    fs::rename(fresh / "kept", fresh / "layers.csv");
    CHECK(read_results(fresh).rows.at(0).samples.size() == rows[0].samples.size());
}

TEST_CASE("checksums.csv describes each file with checksums, and what is wrong is told once")
{
    const Damaged folder;
    const fs::path seal_of = folder.run / "checksums.csv", kernels = folder.run / "kernels.csv";
    append_block(kernels, "id,name", "a,b\n");
    const std::string kernel_lines = read_file(kernels);
    for (const char* const file : {"digest.csv", "looks.csv"})
        write_file(folder.run / file, with_checksums("a,b\n1,2\n", run_of(folder.run)));
    write_file(folder.run / "own.csv", "a,b\n1\n");
    make_folder(folder.run / "folder.csv");
    seal(folder.run);
    std::string files;
    for_lines(read_file(seal_of), [&](std::string_view line) { files.append(line.substr(0, line.find(',') + 1)); });
    CHECK(files == "file,kernels.csv,layers.csv,measurements.csv,samples.csv,machine.yaml,plan.yaml,");
    const std::string whole = read_file(seal_of);
    const auto damage = [&] {
        std::string all = join(check_results(folder.run).damage, "\n");
        for (std::size_t at; (at = all.find(folder.run.string() + "/")) != std::string::npos;)
            all.erase(at, folder.run.string().size() + 1);
        return all;
    };
    CHECK(damage() == "");
    const std::string quote = "a quote is opened and not closed, or stands within a cell";
    folder.replace("kernels.csv", "a,b", "\"a,");
    CHECK(damage() == "kernels.csv:2: " + quote);
    write_file(kernels, kernel_lines);
    folder.replace("kernels.csv", "a,b", "a,c");
    CHECK(damage() == "kernels.csv:2: it does not match its checksum: it was changed");
    write_file(kernels, kernel_lines);
    folder.replace("kernels.csv", ":" + run_of(folder.run), ":abcdefghij");
    CHECK(damage() == "kernels.csv:1: it is of the run abcdefghij, and machine.yaml of the run " + run_of(folder.run) +
                          "\nkernels.csv:2: it does not match its checksum: the header of the file was changed");
    write_file(kernels, kernel_lines);
    for (const auto& [file, cell] : {std::pair{"samples.csv", ",1,"}, {"measurements.csv", ",fp32,"}}) {
        const std::string damaged = std::string(cell).insert(1, "x\"");
        folder.replace(file, cell, damaged);
        CHECK(damage().find(quote) < damage().size());
        CHECK(damage().find(quote) == damage().rfind(quote));
        folder.replace(file, damaged, cell);
    }
    folder.replace("checksums.csv", "layers.csv,", "layers.csv,,");
    CHECK(damage() == "checksums.csv:3: 5 cells, its header has 4");
    write_file(seal_of, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
    CHECK(damage() == "checksums.csv: it does not name plan.yaml: its last lines are missing");
    fs::rename(kernels, folder.run / "kept");
    CHECK(damage() == "kernels.csv: it is missing");
    fs::rename(folder.run / "kept", kernels);
    folder.replace("checksums.csv", ":" + run_of(folder.run), ":another");
    CHECK(damage() == "checksums.csv:1: its columns are not known, or it is of another run");
    write_file(seal_of, whole);
    fs::remove(folder.run / "plan.yaml");
    CHECK(damage() == "plan.yaml: it is missing");
    seal(folder.run);
    CHECK(damage() == "");
    CHECK_THROWS_WITH(csv_files_in(folder.run / "none"),
                      "cannot list the files in " + (folder.run / "none").string() + ": No such file or directory");
}

TEST_CASE("accepted edits are noted for each file that was edited, and what cannot be read stays damaged")
{
    const Damaged folder;
    const std::string today = ", accepted on " + utc_text(std::time(nullptr)).substr(0, 10);
    append_block(folder.run / "notes.csv", "id,note", "a,b\n");
    append_block(folder.run / "kernels.csv", "id,name", "a,b\n");
    seal(folder.run);
    folder.replace("notes.csv", "a,b", "a,c");
    folder.replace("samples.csv", ",1,", ",2,");
    append_file(folder.run / "plan.yaml", "# mine\n");
    write_file(folder.run / "own.csv", "a,b\n1,2\n");
    folder.replace("checksums.csv", "machine.yaml,", "machine.yaml,9");
    CHECK(accept_edits(folder.run) ==
          std::vector<std::string>{"measurements.csv: edited after it was written, or its rows in samples.csv or "
                                   "layers.csv" +
                                       today,
                                   "notes.csv: edited after it was written" + today,
                                   "plan.yaml: edited after it was written" + today});
    CHECK(read_file(folder.run / "own.csv") == "a,b\n1,2\n");
    CHECK(check_results(folder.run).damage.empty());
    CHECK(check_results(folder.run).remarks.size() == 3);
    folder.replace("measurements.csv", "train,step", "train,\"step");
    folder.change("samples.csv", [](std::string& text) { text.insert(text.rfind("1,"), "\""); });
    accept_edits(folder.run);
    const Results back = read_results(folder.run);
    CHECK(statuses(back).front() == Status::damaged);
    CHECK_THAT(back.damage.at(0), Catch::EndsWith("measurements.csv:2: a quote is opened and not closed, or stands "
                                                  "within a cell"));
}
