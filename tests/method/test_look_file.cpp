// The file of a machine's looks. Its rates are chosen so that a ten-thousandth of them is a whole number.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/ceilings/looks.hpp"
#include "ert/method/results/look_file.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace roof;
namespace fs = std::filesystem;

namespace {

constexpr long long noon = 1'800'000'000;
constexpr long long one_minute = 60;

Machine machine_at(const std::string& quota = "2", const std::string& kernel = "6.1")
{
    Machine machine;
    machine.name = "m";
    machine.node = "n1";
    machine.cpu_model = "Made CPU";
    machine.quota = quota;
    machine.versions["kernel"] = kernel;
    return machine;
}

Ceiling load_at(double rate, const std::string& level = "DRAM", std::size_t rounds = 3)
{
    Ceiling ceiling;
    ceiling.device = "cpu";
    ceiling.level = level;
    ceiling.operation = "load";
    ceiling.point = "bandwidth cpu operation=load working_set=1000000";
    ceiling.rate = {{rate}, {rate}, {rate}, 9, 0};
    ceiling.samples.assign(rounds, Round{{rate}, {rate}, {rate * 0.999}});
    return ceiling;
}

/// A home of a machine's runs.
struct Home {
    fakes::TemporaryFolder folder;
    fs::path home = folder / "m";

    fs::path run(const std::string& name) const
    {
        if (!fs::exists(home / name)) {
            make_folder(home / name);
            write_file(home / name / "machine.yaml", "format: 3\nrun: " + name + "\n");
        }
        return home / name;
    }
    void add(const std::string& name, double rate, long long time, const Machine& machine = machine_at()) const
    {
        const std::vector<Ceiling> ceilings{load_at(rate)};
        add_look(run(name), home, true, machine, ceilings, time);
    }
    Ceiling judged(const std::string& name, const Machine& machine = machine_at()) const
    {
        const Looks looks = looks_at(home / name, machine);
        Ceiling ceiling = load_at(looks.seen.empty() ? 1 : looks.seen.back().ceiling.rate.low.value);
        judge_by_looks(looks.seen, {&ceiling, 1});
        return ceiling;
    }
    fs::path file() const { return looks_file_of(home, machine_at()); }
};

bool has_remark(const Looks& looks, const std::string& words)
{
    return std::ranges::any_of(looks.remarks,
                               [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("a look comes back from its file with rates, clocks and what disturbed its samples")
{
    const Home made;
    Ceiling ceiling = load_at(1e11);
    ceiling.per_clock_compared = true;
    ceiling.clock = {{2.5e9}, {2e9}, {3e9}, 3, 0};
    ceiling.samples = {{{1e11, 2.5e9}, {9e10, 2.4e9, true, false, true}},
                       {{2e11, 2e9, false, true}, {1e10, 2e9, false, true}}};
    // A network's path is no roof of the machine, and an emulated rate none of any.
    Ceiling path = load_at(1e9, "1x2");
    Ceiling emulated = load_at(1e9, "L2");
    emulated.known = Known::emulated;
    add_look(made.run("a"), made.home, true, machine_at(), std::vector{ceiling, path, emulated}, noon);

    const Looks looks = looks_at(made.home / "a", machine_at());
    CHECK(looks.remarks.empty());
    REQUIRE(looks.seen.size() == 1);
    CHECK(looks.seen[0].time == noon);
    const Ceiling& back = looks.seen[0].ceiling;
    CHECK(is_same_ceiling(back, ceiling));
    CHECK(back.point == ceiling.point);
    CHECK(back.per_clock_compared);
    CHECK(back.clock.high.value == 3e9);
    REQUIRE(back.samples.size() == 2);
    REQUIRE(back.samples[0].size() == 2);
    CHECK(back.samples[0][0].rate == Approx(1e11));
    CHECK(back.samples[0][0].clock == Approx(2.5e9).epsilon(1e-4));
    CHECK(back.samples[0][1].clock == Approx(2.4e9).epsilon(1e-4));
    CHECK(back.samples[0][1].rate == Approx(9e10));
    CHECK(back.samples[0][1].disturbed);
    CHECK(back.samples[0][1].is_late);
    // Of what was left out only the faster sample counts.
    REQUIRE(back.samples[1].size() == 1);
    CHECK(back.samples[1][0].rate == Approx(2e11));
    CHECK(back.samples[1][0].left_out);
}

TEST_CASE("samples are written in ten-thousandths of the rate, with the clock of their round and what disturbed them")
{
    const Home made;
    Ceiling ceiling = load_at(1e11);
    ceiling.rate.high.value = 1.05e11;
    ceiling.clock = {{2.5e9}, {2e9}, {3e9}, 3, 0};  // not compared
    ceiling.samples = {{{1e11, 2e9}, {9e10, 2.2e9, true, false, true}, {1.2e11}},
                       {{1.05e11, 0, false, true}, {1.0501e11, 0, false, true}, {1e11}},
                       {{9e10, 0, false, true}},
                       {{1e11, 2e9}, {1e11, 2.001e9}}};
    Ceiling without_samples = load_at(1e9, "L1", 0), without_rate = load_at(0, "L2");
    add_look(made.run("a"), made.home, true, machine_at(), std::vector{without_samples, ceiling, without_rate}, noon);
    CHECK_THAT(
        read_file(made.file()),
        Catch::Contains("\n2027-01-15T08:00:00Z,1800000000,a,") &&
            Catch::Contains("; memory ,bandwidth,cpu,DRAM,load,,,,1,0,0,0,,measured,bandwidth cpu operation=load "
                            "working_set=1000000,0,0,0,1e+11,2.1e+09:10000c9524 9000dlc10476 12000c0;"
                            "0:10000 10501x;2.0005e+09:10000 10000,"));
    const Looks looks = looks_at(made.home / "a", machine_at());
    REQUIRE(looks.seen.size() == 1);
    CHECK_FALSE(looks.seen[0].ceiling.per_clock_compared);
}

TEST_CASE("a look is added where there is one, and none is made of nothing")
{
    const Home made;
    add_look(made.run("a"), made.home, true, machine_at(), {}, noon);
    CHECK_FALSE((fs::exists(made.file()) || fs::exists(made.home / "a" / looks_file)));
    made.add("a", 1e11, noon);
    write_file(made.file(), read_file(made.file()) + "unfinished");
    add_look(made.run("b"), made.home, true, machine_at(), {}, noon);
    CHECK_THAT(read_file(made.file()), Catch::EndsWith("unfinished"));
    CHECK(looks_at(made.home / "b", machine_at()).seen.size() == 1);
    const fs::path before = fs::current_path();
    fs::current_path(made.home / "b");
    CHECK(looks_at({}, machine_at()).seen.empty());  // no folder is not the one where the program runs
    fs::current_path(before);
}

TEST_CASE("of a long round a look keeps nine samples, from the slowest to the fastest")
{
    const Home home;
    Ceiling ceiling = load_at(1e11);
    Round round;
    for (int i = 0; i < 33; ++i) round.push_back({1e11 - 1e9 * ((i * 7) % 33)});
    ceiling.samples = {round};
    add_look(home.run("a"), home.home, true, machine_at(), {&ceiling, 1}, noon);
    const Looks looks = looks_at(home.home / "a", machine_at());
    REQUIRE(looks.seen.size() == 1);
    const Round& kept = looks.seen.front().ceiling.samples.at(0);
    REQUIRE(kept.size() == 9);
    for (std::size_t k = 0; k < kept.size(); ++k) CHECK(kept[k].rate == Approx(1e11 - 1e9 * (32 - 4.0 * k)));
    round.resize(9);  // which are in the order in which they were taken
    ceiling.samples = {round};
    add_look(home.run("b"), home.home, true, machine_at(), {&ceiling, 1}, noon + 1);
    CHECK(looks_at(home.home / "b", machine_at()).seen.back().ceiling.samples.at(0).at(1).rate == Approx(0.93e11));
}

TEST_CASE("two looks nine minutes apart are one time, and eleven two")
{
    const Home made;
    made.add("a", 1e11, noon);
    CHECK(made.judged("a").steadiness == Steadiness::seen_once);
    made.add("b", 1e11, noon + 9 * one_minute);
    CHECK(made.judged("b").steadiness == Steadiness::seen_once);
    made.add("c", 1e11, noon + 11 * one_minute);
    const Ceiling steady = made.judged("c");
    CHECK(steady.steadiness == Steadiness::steady);
    CHECK(steady.times == 2);
    CHECK(steady.over.value == 11 * one_minute);
    // The first folder shows what is known now, since the machine's file lies beside it.
    CHECK(made.judged("a").steadiness == Steadiness::steady);
}

TEST_CASE("a run that went on replaces its look")
{
    const Home made;
    made.add("a", 1e11, noon);
    made.add("a", 2e11, noon);
    CHECK(looks_at(made.home / "a", machine_at()).seen.size() == 1);
    CHECK(made.judged("a").rate.median.value == Approx(2e11));
}

TEST_CASE("a change of the machine's state is named with its dates, and older looks confirm")
{
    const Home made;
    made.add("a", 2e11, noon);
    made.add("b", 1e11, noon + 60 * one_minute, machine_at("2", "6.2"));
    const Looks looks = looks_at(made.home / "b", machine_at());
    // 1,800,000,000 s after 1970 is 2027-01-15, 8 o'clock.
    CHECK(has_remark(looks, "changed between 2027-01-15T08:00:00Z and 2027-01-15T09:00:00Z"));
    CHECK(has_remark(looks, "kernel 6.2"));
    CHECK(made.judged("b").rate.median.value == Approx(1e11));
    CHECK(made.judged("b").steadiness == Steadiness::seen_once);
    made.add("c", 1e11, noon + 120 * one_minute, machine_at("2", "6.2"));
    CHECK(made.judged("c").steadiness == Steadiness::steady);
}

TEST_CASE("looks are thinned to a size, and the newest stays")
{
    const Home made;
    std::vector<Ceiling> many;
    for (int i = 0; i < 100; ++i) many.push_back(load_at(1e11, "L" + std::to_string(i % 9 + 1), 30));
    for (int i = 0; i < 30; ++i)
        add_look(made.run("r" + std::to_string(i)), made.home, true, machine_at(), many, noon + i * i * one_minute);
    CHECK(fs::file_size(made.file()) <= largest_looks + 100);
    const Looks looks = looks_at(made.home / "r29", machine_at());
    CHECK(looks.remarks.empty());
    CHECK(looks.newest() == noon + 29 * 29 * one_minute);
    CHECK(looks.seen.front().time == noon);
    CHECK(looks.seen.size() < 3000);
    for (int i = 0; i < 3; ++i) {  // of three that are too large, the second goes
        for (Ceiling& one : many) one.samples.resize(500, one.samples.front());
        add_look(made.run("s"), made.folder / "none", false, machine_at(), many, noon + i);
    }
    CHECK(looks_in({made.home / "s" / looks_file}, machine_at()).seen.size() == 2 * 78);  // L8 and L9 are no levels
}

TEST_CASE("four processes that add looks at once lose none")
{
    const Home made;
    for (int process = 0; process < 4; ++process)
        for (int i = 0; i < 5; ++i) made.run(fmt::format("p{}.{}", process, i));
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
        const pid_t child = fork();
        if (child == 0) {
            try {
                for (int i = 0; i < 5; ++i) made.add(fmt::format("p{}.{}", process, i), 1e11, noon + process);
            } catch (...) {
                _exit(1);
            }
            _exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    const Looks looks = looks_at(made.home / "p0.0", machine_at());
    CHECK(looks.remarks.empty());
    CHECK(looks.seen.size() == 20);
}

TEST_CASE("what a killed writer, a hand or another machine left is named and passed over")
{
    const Home made;
    made.add("a", 1e11, noon);
    made.add("b", 1e11, noon + 11 * one_minute);
    const std::string whole = read_file(made.file());
    const fs::path copy = made.home / "b" / looks_file;
    const auto seen_in = [&](const std::string& text) {
        write_file(made.file(), text);
        return looks_in({made.file()}, machine_at());
    };
    SECTION("the end is missing")
    {
        const Looks looks = seen_in(whole.substr(0, whole.size() - 20));
        CHECK(looks.seen.size() == 1);
        CHECK(has_remark(looks, "a look without its end"));
    }
    SECTION("a figure was changed")
    {
        std::string text = whole;
        text.replace(text.find("10000"), 5, "20000");
        const Looks looks = seen_in(text);
        CHECK(looks.seen.size() == 1);
        CHECK(has_remark(looks, "passed over"));
    }
    SECTION("a figure is none, and its checksum is right")
    {
        for (const auto& [from, to, said] : {std::tuple{":10000", ":1o000", "'1o000' is not a number"},
                                             {"0:10000", "10000", "'10000 10000 999' is not a number"},
                                             {",1800000000,", ",18o,", "column time_s: '18o' is not a number"},
                                             {",DRAM,load,", ",DRAM,", "23 cells, its header has 24"}}) {
            std::string text = whole;
            text.replace(text.find(from), std::string(from).size(), to);
            const Looks looks = seen_in(with_checksums(text));
            CHECK(looks.seen.size() == 1);
            CHECK(looks.remarks ==
                  std::vector{fmt::format("{}:2: {}; the look was passed over", made.file().string(), said)});
        }
    }
    SECTION("of several damaged lines the first is told, and a look that ends with a line before its own end")
    {
        const std::vector<Ceiling> two{load_at(1e11), load_at(2e11, "L2")};
        add_look(made.run("a"), made.home, true, machine_at(), two, noon + 60 * one_minute);
        std::string text = read_file(made.file());
        text.replace(text.find(":10000", text.rfind(",L2,")), 6, ":2o000");
        text.replace(text.find(":10000", text.rfind(",DRAM,")), 6, ":1o000");
        CHECK(has_remark(seen_in(with_checksums(text)), "'1o000' is not a number"));
        text = text.substr(0, text.rfind('\n', text.size() - 2) + 1);
        CHECK(has_remark(seen_in(text), "a look without its end"));
    }
    SECTION("the file is larger than any that roof writes")
    {
        CHECK(has_remark(seen_in(std::string((std::size_t{2} << 20) + 1, 'x')), "it is larger than 2 MiB"));
    }
    SECTION("the file is another machine's")
    {
        const Looks looks = looks_in({made.file()}, machine_at("0.5"));
        CHECK(looks.seen.empty());
        CHECK(has_remark(looks, "a look at another machine"));
    }
    SECTION("the file has other columns: it is neither read nor replaced")
    {
        const Looks looks = seen_in("a,b\n1,2\n");
        CHECK(looks.seen.empty());
        CHECK(has_remark(looks, "columns"));
        CHECK_THROWS_AS(made.add("c", 1e11, noon + 22 * one_minute), InputError);
        CHECK(read_file(made.file()) == "a,b\n1,2\n");
    }
    SECTION("a folder stands in its place")
    {
        fs::remove(made.file());
        make_folder(made.file());
        CHECK(has_remark(looks_in({made.file()}, machine_at()), "it is a folder"));
        CHECK(looks_at(made.home / "b", machine_at()).seen.size() == 2);
        CHECK_THROWS_AS(made.add("c", 1e11, noon + 22 * one_minute), InputError);
    }
    SECTION("a link to itself stands in its place")
    {
        fs::remove(made.file());
        fs::create_symlink(made.file().filename(), made.file());
        CHECK(looks_at(made.home / "b", machine_at()).seen.size() == 2);
        made.add("c", 1e11, noon + 22 * one_minute);
        CHECK(looks_in({made.file()}, machine_at()).seen.size() == 1);
    }
    SECTION("a writer was killed before it renamed its file")
    {
        write_file(made.home / (made.file().filename().string() + ".abcdef.part"), whole.substr(0, 100));
        made.add("c", 1e11, noon + 22 * one_minute);
        CHECK(looks_at(made.home / "c", machine_at()).seen.size() == 3);
    }
    // The copy in the folder still carries both.
    if (fs::exists(copy)) CHECK(looks_in({copy}, machine_at()).seen.size() == 2);
}

TEST_CASE("a copied folder carries its looks, and an older folder has none")
{
    const Home made;
    made.add("a", 1e11, noon);
    made.add("b", 1e11, noon + 11 * one_minute);
    const fs::path elsewhere = made.folder / "elsewhere";
    make_folder(elsewhere);
    fs::copy(made.home / "b", elsewhere / "b", fs::copy_options::recursive);
    const Looks looks = looks_at(elsewhere / "b", machine_at());
    CHECK(looks.remarks.empty());
    CHECK(looks.seen.size() == 2);
    // Its lines have the checksums of its run.
    CHECK(read_file(elsewhere / "b" / looks_file).find("block_checksum:b\n") != std::string::npos);
    made.run("old");
    CHECK(looks_at(made.home / "old", machine_at()).seen.empty());
    // A copied run without a calibration has the ceilings of its looks.
    const Ceilings ceilings = fit_ceilings({}, machine_at(), looks.seen);
    REQUIRE(ceilings.all.size() == 1);
    CHECK(ceilings.all[0].steadiness == Steadiness::steady);
    CHECK(ceilings.all[0].rate.median.value == Approx(1e11));
    CHECK(ceilings.all[0].point == load_at(1e11).point);
}

TEST_CASE("a folder elsewhere keeps its look alone unless the machine has a file")
{
    const Home made;
    const fs::path out = made.folder / "out";
    make_folder(out);
    const std::vector<Ceiling> ceilings{load_at(1e11)};
    add_look(out, made.home, false, machine_at(), ceilings, noon);
    CHECK(looks_at(out, machine_at()).seen.size() == 1);
    CHECK_FALSE(fs::exists(made.file()));
    made.add("a", 1e11, noon + 11 * one_minute);
    add_look(out, made.home, false, machine_at(), {}, noon);
    CHECK(looks_at(out, machine_at()).seen.size() == 2);
}
