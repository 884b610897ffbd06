// Which folder beside a run becomes its calibration, and what is said about the other folders.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/bench/identity.hpp"
#include "tests/method/damaged_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <regex>

using namespace roof;
using namespace roof::tests;
using fakes::fake_machine;
namespace fs = std::filesystem;

namespace {

const std::string both =
    "max_rounds: 3\nrun:\n  - {bench: flops, threads: 1, isa: avx2, operation: fma}\n"
    "  - {bench: bandwidth, operation: load, working_set: 8192}\n";
const std::string steps = "run:\n  - {bench: train, model: tinynet, batch: [4, 8]}\n";

Machine machine_with(const std::string& node, const std::string& kernel = "6.2", const std::string& name = "m",
                     const std::string& cpu = "CPU")
{
    Machine machine = fake_machine();
    machine.node = node;
    machine.versions["kernel"] = kernel;
    machine.name = name;
    machine.cpu_model = cpu;
    return machine;
}

/// Its rows began on this day of January 2026, in the first round.
void make_run(
    const fs::path& place, const std::string& plan, int day, const Machine& machine = machine_with("n1"),
    const std::function<void(Measurement&)>& edit = [](Measurement&) {})
{
    RunDirectory run(place, plan, machine);
    for (Measurement row : measured(plan)) {
        if (row.point.text_or("round", "1") != "1") continue;
        if (row.role != Role::step) row.point.set("round", "1");
        row.started = fmt::format("2026-01-{:02}T12:00:00Z", day);
        edit(row);
        run.append(row);
    }
}

void change(const fs::path& file, const std::string& from, const std::string& to)
{
    std::string text = read_file(file);
    REQUIRE(text.find(from) != std::string::npos);
    write_file(file, text.replace(text.find(from), from.size(), to));
}

/// All that is said, with `{}` in place of a folder.
std::string said_in(const PassedOver& over, const fs::path& folder)
{
    std::string all;
    for (const std::string& one : over.damage) all += "damage: " + one + "\n";
    for (const std::string& one : over.remarks) all += "remark: " + one + "\n";
    for (const std::string& one : over.odd) all += "odd: " + one + "\n";
    all = std::regex_replace(all, std::regex(folder.string()), "{}");
    return std::regex_replace(all, std::regex("has [0-9]+ bytes of the [0-9]+"), "has N bytes of the M");
}

}  // namespace

TEST_CASE("what a newer folder beside a run is, whether it is taken, and all that is said of it")
{
    const fakes::TemporaryFolder root;
    const fs::path home = root / "home", kept = root / "kept", newer = home / "2";
    const fs::path rows = newer / "measurements.csv", machine = newer / "machine.yaml", sums = newer / "checksums.csv";
    make_run(home / "1", both, 1);
    make_run(home / "3", steps, 3);
    make_run(kept / "full", both, 2);
    make_run(kept / "quick", "quick: true\n" + both, 2);
    make_run(kept / "early", "rounds: 2\n" + both, 2);
    make_run(kept / "steps", steps, 2);
    make_run(kept / "node", both, 2, machine_with("n2"));
    make_run(kept / "kernel", both, 2, machine_with("n1", "6.1"));
    make_run(kept / "name", both, 2, machine_with("n1", "6.2", "other"));
    make_run(kept / "processor", both, 2, machine_with("n1", "6.2", "m", "APU"));
    RunDirectory(kept / "begun", both, machine_with("n1")).close();
    make_folder(kept / "empty");
    fs::copy(home / "1", kept / "copy");
    const auto none = [] {};
    const auto cut = [&](std::size_t lines) {
        std::string text;
        for (std::size_t i = 1; i <= lines; ++i) text += line_of(read_file(rows), i);
        write_file(rows, text);
    };
    const std::string ours = "; '2' was passed over\n", page = "remark: {} was passed over: ";
    const std::string begun = page + "it has no rows: its run was stopped before the first one, or still measures it\n";
    const std::string changed = "damage: {}/machine.yaml: it was changed after it was written" + ours;
    const std::string early = "2025-01-01T000000Z-n1-test";
    struct Case {
        const char* kept;
        std::function<void()> edit;
        std::string taken;
        std::string said{};
    };
    const std::vector<Case> cases{
        {"full", none, "2"},
        {"quick", none, "1", page + "it is a quick calibration\n"},
        {"early", none, "1", page + "its calibration was stopped early\n"},
        {"begun", none, "1", begun},
        {"full", [&] { cut(1), fs::remove(sums), fs::remove(newer / "samples.csv"); }, "1", begun},
        {"full", [&] { fs::remove(rows); }, "1", "damage: {}/measurements.csv: it is missing" + ours},
        {"full", [&] { change(machine, "3", "4"); }, "1", changed},
        {"full", [&] { change(machine, "3", "4"), fs::remove(sums); }, "1", page + "it is of another format\n"},
        {"full", [&] { change(machine, "format: 3", "form"); }, "1",
         "damage: {}/machine.yaml: it is damaged: its first line does not state a format, such as 'format: 3'; put "
         "back this file from a copy of the folder" +
             ours},
        {"steps", [&] { cut(2); }, "1"},
        {"steps", [&] { cut(2), append_file(newer / "plan.yaml", "#\n"); }, "1",
         "damage: {}/measurements.csv: it has N bytes of the M that were written" + ours},
        {"steps", [&] { change(rows, "A made-up", "A mode-up"), append_file(newer / "plan.yaml", "#\n"); }, "1"},
        {"name", none, "1"},
        {"name", [&] { fs::remove(sums), make_folder(sums); }, "1"},
        {"full", [&] { change(machine, "name: m", "name: n"); }, "1", changed},
        {"processor", none, "1",
         page + "it is of another machine: processor 'APU family 0 model 0 stepping 0', not "
                "'CPU family 0 model 0 stepping 0'\n"},
        {"node", none, "1"},
        {"full", [&] { change(machine, "node: n1", "node: n2"); }, "1", changed},
        {"full", [&] { change(machine, "node: n1", "node: n2"), fs::remove(sums); }, "1"},
        {"copy", none, "2", "remark: '2' and '1' hold the same run: one is a copy\n"},
        {"kernel", none, "2", "remark: the calibration is of this machine in another state: kernel '6.1', not '6.2'\n"},
        {"empty", none, "1"},
        {"empty", [&] { fs::remove(newer), fs::create_symlink("2", newer); }, "1",
         "odd: cannot read {}: Too many levels of symbolic links; it was passed over\n"},
        {"full", [&] { fs::remove_all(newer), fs::copy(kept / "full", home / early); }, early,
         "odd: the name of '" + early + "' and its rows disagree: the first began at 2026-01-02T12:00:00Z\n"},
        {"node", [&] { fs::rename(newer, home / early); }, "1"}};
    for (const Case& one : cases) {
        INFO(&one - cases.data() << ": " << one.kept);
        fs::copy(kept / one.kept, newer);
        one.edit();
        PassedOver over;
        CHECK(find_calibration(home / "3", {}, &over).filename() == one.taken);
        CHECK(said_in(over, newer) == one.said);
        for (const fs::path& place : {newer, home / early}) fs::remove_all(place);
    }
}

TEST_CASE("of a node without a full calibration the newest of the best kind is taken, and none where none is")
{
    const fakes::TemporaryFolder root;
    const fs::path home = root / "home";
    const auto taken = [&](PassedOver* over = nullptr, const std::string& node = {}) {
        return find_calibration(home / "3", node, over).filename().string();
    };
    make_run(home / "3", steps, 3);
    make_run(home / "4", steps + "# a file that checksums.csv does not describe\n", 4);
    change(home / "4" / "plan.yaml", "a file", "A file");
    make_folder(home / "empty");
    PassedOver nothing;
    CHECK(taken(&nothing) == "");
    CHECK(said_in(nothing, home) == "");
    make_run(home / "1", both, 1, machine_with("n2"));
    make_run(home / "2", both, 2, machine_with("n2"));
    change(home / "1" / "machine.yaml", "n2", "n3");
    PassedOver over;
    CHECK(taken(&over) == "2");  // of another node; what is older is not said
    CHECK(said_in(over, home) == "");
    make_run(home / "5", "rounds: 2\n" + both, 5);
    make_run(home / "6", "quick: true\n" + both, 6);
    make_run(home / "7", "quick: true\n" + both, 7);
    make_run(home / "8", "rounds: 2\n" + both, 8);
    CHECK(taken() == "7");
    const auto cut_off = [](Measurement& row) {
        if (row.point.text_or("operation", "") == "copy") row.status = Status::skipped;
    };
    const std::string copies = "  - {bench: bandwidth, operation: copy, working_set: 8192}\n";
    make_run(home / "9", both + copies, 9, machine_with("n1"), cut_off);
    CHECK(taken() == "9");  // its time was over, but it is no worse than a quick one
    fs::remove_all(home / "9");
    CHECK(taken(nullptr, "n2") == "2");
    // Those beside it count as those in it do.
    CHECK(find_calibration(home, "n1").filename() == "7");
    CHECK(find_calibration(home, "n4").filename() == "2");
    CHECK(find_calibration(root / "nowhere" / "none").empty());
    make_run(root / "9", both, 9);
    make_run(home / "older", both, 2);
    CHECK(find_calibration(home, "n1").filename() == "9");
    const Machine machine = machine_with("n1"), other = machine_with("n1", "6.2", "other");
    CHECK(find_calibration(home, {}, nullptr, nullptr, &machine).filename() == "9");
    CHECK(find_calibration(home, {}, nullptr, nullptr, &other).empty());
    const Results no_rows;
    CHECK(find_calibration(home / "7", {}, nullptr, &no_rows).filename() == "older");
    Machine mine = machine_with("n1"), theirs = machine_with("n2");
    mine.host = "h1";
    theirs.host = "h2";
    make_run(root / "hosts" / "1", both, 1, theirs);
    make_run(root / "hosts" / "2", both, 2, mine);
    make_run(root / "hosts" / "3", steps, 3, mine);
    CHECK(find_calibration(root / "hosts" / "3", "n2").filename() == "1");
    Machine namesake = mine;  // another machine whose node has the same name
    namesake.host = "h3";
    make_run(root / "hosts" / "4", both, 4, namesake);
    CHECK(find_calibration(root / "hosts" / "3", "n1").filename() == "2");
    PassedOver known;  // nothing is opened again
    known.seen.emplace_back(root / "none");
    CHECK(find_calibration(home, "n1", &known).empty());
}

TEST_CASE("a calibration is finished, quick or full by its plan and its rows")
{
    using enum CalibrationKind;
    const fakes::TemporaryFolder folder;
    const std::string plan =
        "quick: true\nrounds: 2\nmax_rounds: 3\nrun:\n  - bench: flops\n"
        "  - {bench: bandwidth, operation: [load, copy]}\n";
    std::vector<Measurement> rows(3);
    const auto kind_by = [&](const std::string& text) {
        write_file(folder / "plan.yaml", text);
        return calibration_kind(folder.path(), rows);
    };
    const auto reset = [&] {
        for (Measurement& row : rows) row = {"flops", Role::compute, "cpu", {}, Status::ok};
        rows[1].bench = "bandwidth";
        rows[1].role = Role::bandwidth;
        rows[1].point.set("operation", "copy");
        rows[2].bench = "of no entry";
        for (Measurement& row : rows) row.point.set("round", "2");
        rows[2].status = Status::failed;
    };
    struct Case {
        std::function<void()> edit;
        CalibrationKind kind;
    };
    const std::vector<Case> cases{
        {[&] {}, quick},
        {[&] { rows[0].status = Status::failed; }, full},  // no ceilings of compute
        {[&] { rows[1].status = Status::failed; }, full},
        {[&] { rows[0].role = Role::latency; }, full},
        {[&] { rows[1].point.set("path", "readers:1"); }, full},
        {[&] { rows[1].point.set("path", "L2"); }, quick},
        {[&] { rows[1].point.set("isa", "tiles"); }, full},
        {[&] { rows[1].point.set("operation", "load"); }, unfinished},
        {[&] { rows[1].point.set("round", "1"); }, unfinished},
        {[&] { rows[1].device = "gpu:0"; }, unfinished},
        {[&] { rows[0].bench = "latency"; }, unfinished},
        {[&] { rows[2].status = Status::ok, rows[0].status = Status::skipped; }, unfinished},
        {[&] { rows[2].status = Status::ok, rows[0].status = Status::failed, rows[0].point.set("round", "1"); },
         quick}};
    for (const Case& one : cases) {
        INFO(&one - cases.data());
        reset();
        one.edit();
        CHECK(kind_by(plan) == one.kind);
    }
    reset();
    CHECK(kind_by("measure: {sustain_seconds: 1}\n" + plan) == full);  // beside those of a calibration
    CHECK(kind_by(plan.substr(plan.find("rounds"))) == full);
    CHECK(kind_by("another_key: 1\n" + plan) == full);
    CHECK(kind_by("quick: true\n" + plan.substr(plan.find("run:"))) == unfinished);  // of one round, which no row names
    for (Measurement& row : rows) row.point = row.point.without("round");
    CHECK(kind_by("quick: true\n" + plan.substr(plan.find("run:"))) == quick);
    fs::remove(folder / "plan.yaml");
    CHECK(calibration_kind(folder.path(), rows) == full);
}

TEST_CASE("the same command continues a run of this plan only if rows can be appended and some are left")
{
    const fakes::TemporaryFolder root;
    const Machine machine = machine_with("n1");
    const std::vector<Measurement> rows = measured();
    const Scheduler scheduler(items_of(rows));
    const fs::path run = root / "m" / "1-n1-test";
    const auto is_continued = [&](const std::set<fs::path>& in_use = {}) {
        const fs::path chosen = choose_folder(root.path(), machine, plan_text, scheduler, in_use);
        if (chosen != run) fs::remove(chosen);
        return chosen == run;
    };
    RunDirectory(root / "m" / "named by hand", plan_text, machine).close();
    CHECK_THROWS_WITH(folder_to_continue(root.path(), machine, plan_text),
                      "there is nothing to continue in " + (root / "m").string() +
                          ": no results of this machine by the same plan and version of roof");
    RunDirectory(run, plan_text, machine).close();
    CHECK(is_continued());
    CHECK_FALSE(is_continued({run}));
    CHECK(folder_to_continue(root.path(), machine, plan_text) == run);
    RunDirectory(run, plan_text, machine).append(rows[0]);
    CHECK(is_continued());
    fs::copy(run, root / "kept");
    change(run / "measurements.csv", "A made-up", "A mode-up");
    CHECK_FALSE(is_continued());
    fs::remove(run / "measurements.csv");
    make_folder(run / "measurements.csv");
    CHECK_FALSE(is_continued());
    fs::remove_all(run);
    fs::copy(root / "kept", run);
    Measurement skipped = rows[1];
    skipped.status = Status::skipped;
    RunDirectory(run, plan_text, machine).append(skipped);
    CHECK_FALSE(is_continued());
    fs::copy(run, root / "m" / "2-n1-test");
    change(root / "m" / "2-n1-test" / "machine.yaml", "node: n1", "node: n2");
    CHECK(folder_to_continue(root.path(), machine, plan_text) == run);  // the newer one is another node's
    Machine nameless = machine;
    nameless.node = "";
    nameless.versions.erase("revision");
    const auto name = [&] { return choose_folder(root.path(), nameless, plan_text, scheduler).filename().string(); };
    const std::string first = name(), second = name();
    CHECK(std::regex_match(first, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z-unknown")));
    CHECK((second.substr(0, 18) != first.substr(0, 18) || second == first.substr(0, 18) + ".2-unknown"));
}

TEST_CASE("a folder that this user may not write to is not continued, and one that may not be read is named")
{
    const fakes::TemporaryFolder root;
    const fs::path home = root / "m";
    const Machine machine = machine_with("n1");
    for (const char* const name : {"1-n1-test", "2-n1-test", "3-n1-test", "4-n1-test"})
        RunDirectory(home / name, plan_text, machine).close();
    const auto set_mode = [](const fs::path& place, int mode) { fs::permissions(place, static_cast<fs::perms>(mode)); };
    set_mode(root.path(), 0755);
    for (const char* const name : {"1-n1-test", "3-n1-test"}) set_mode(home / name, 0777);
    fs::remove(home / "1-n1-test" / ".lock");  // as in a copy
    set_mode(home / "2-n1-test" / ".lock", 0666);
    set_mode(home / "2-n1-test", 0555);
    set_mode(home / "3-n1-test" / ".lock", 0444);
    set_mode(home / "4-n1-test", 0);
    constexpr ::uid_t nobody = 65534;
    const ::pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(2);
        bool is_right = false;
        try {
            is_right = folder_to_continue(root.path(), machine, plan_text).filename() == "1-n1-test" &&
                       neighbours_in(home).back().unread ==
                           "cannot read " + (home / "4-n1-test").string() + ": Permission denied";
        } catch (...) {
        }
        ::_exit(is_right ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    set_mode(home / "4-n1-test", 0755);
}

TEST_CASE("messages between ranks are those of the newest run on these nodes, in any order")
{
    const fakes::TemporaryFolder root;
    const std::string plan = "run:\n  - bench: network\n";
    const auto make = [&](const std::string& name, const std::vector<std::string>& nodes, const std::string& text) {
        Machine machine = machine_with("n1");
        set_rank_nodes(machine, nodes);
        make_run(root / name, steps, 1, machine,
                 [&](Measurement& row) { row.bench = "network", row.role = Role::bandwidth; });
        write_file(root / name / "plan.yaml", text);
    };
    make("1", {"n2", "n1"}, plan);
    make("2", {"n1", "n1"}, plan);
    make("3", {"n2", "n1"}, steps);
    make("5", {"n2", "n1"}, steps + "# network\n");
    const auto found = [&](std::vector<std::string> nodes, PassedOver* over = nullptr) {
        return find_network(root / "3", std::move(nodes), over).filename().string();
    };
    CHECK(found({"n2", "n1"}) == "1");
    CHECK(found({"n1", "n2"}) == "1");
    CHECK(found({"n1", "n1"}) == "2");
    make_folder(root / "0");
    write_file(root / "0" / "table.csv", "a,b\n");
    PassedOver all;
    CHECK(found({"n3"}, &all) == "");
    CHECK(said_in(all, root / "0").find("{}") == std::string::npos);
    PassedOver over;
    CHECK(found({"n1", "n2"}, &over) == "1");
    CHECK(said_in(over, root / "2") ==
          "damage: {}/plan.yaml: it has N bytes of the M that were written; '2' was passed over\n");
    fs::remove(root / "1" / "measurements.csv");
    CHECK(found({"n1", "n2"}) == "");
}
