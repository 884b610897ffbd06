// Remembered choices: their file, its damage, several processes, and choices that are undecided.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/read_csv.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "workloads/engine/choices.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

using namespace roof;
using engine::Choices;
using engine::Question;
using engine::Undecided;

namespace {

Question question_of(const std::string& shape)
{
    return {shape, "forward", "fp32", 2, "oneDNN 3.12"};
}

/// A process with a clock of its own, whose candidates take given times.
struct Process {
    double now = 0;
    int runs = 0;
    Choices choices;

    explicit Process(const std::filesystem::path& file) : choices(file, [this] { return Seconds{now}; }) {}
    std::size_t fastest(const std::string& shape, const std::vector<double>& seconds)
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < seconds.size(); ++i) names.push_back("candidate " + std::to_string(i));
        const auto prepare = [&]() -> engine::CandidateSeconds {
            return [&](std::size_t i) {
                ++runs;
                now += std::min(seconds[i], 1.0);
                return seconds[i];
            };
        };
        return choices.fastest(question_of(shape), names, prepare, Undecided::tried_again);
    }
};

/// Empty if none is remembered.
std::string implementation(const Choices& choices, const std::string& shape)
{
    const engine::Choice* const choice = choices.evidence(question_of(shape));
    return choice == nullptr ? "" : choice->implementation();
}

void replace(const std::filesystem::path& file, const std::string& old_text, const std::string& new_text)
{
    std::string text = read_file(file);
    const std::size_t at = text.find(old_text);
    REQUIRE(at != std::string::npos);
    write_file(file, text.replace(at, old_text.size(), new_text));
}

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double slow = 0.2;  ///< four turns of two such candidates end a search, undecided

}  // namespace

TEST_CASE("a decided choice is kept with the times of all candidates, and not tried again")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "machine" / "convolutions.csv";
    Process first(file);
    CHECK(first.fastest("a, with a comma", {0.004, 0.001, never}) == 1);
    CHECK(first.fastest("b", {0.001, 0.002}) == 0);
    const int runs = first.runs;
    CHECK(first.fastest("b", {0.001, 0.002}) == 0);
    CHECK(first.runs == runs);

    Process next(file);
    CHECK(next.fastest("a, with a comma", {0.004, 0.001, never}) == 1);
    CHECK(next.runs == 0);
    CHECK(implementation(next.choices, "a, with a comma") == "candidate 1");
    const engine::Choice* const choice = next.choices.evidence(question_of("a, with a comma"));
    REQUIRE(choice != nullptr);
    CHECK(choice->turns == Turns{{0.004, 0.004}, {0.001, 0.001}, {never}});
    CHECK(choice->is_decided);
    CHECK(implementation(next.choices, "c").empty());
    CHECK(next.choices.remarks().empty());
    CHECK(read_csv(file).rows.size() == 5);
}

TEST_CASE("an undecided choice is tried again once in each process, until it is decided")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    const auto turns = [&] { return Choices(file).evidence(question_of("a"))->turns[0].size(); };
    Process first(file);
    CHECK(first.fastest("a", {slow, slow * 1.01}) == 0);
    CHECK(first.fastest("a", {slow, slow * 1.01}) == 0);
    CHECK(first.runs == 2 * 4);
    CHECK_FALSE(Choices(file).evidence(question_of("a"))->is_decided);
    Process second(file);
    CHECK(second.fastest("a", {slow, slow * 1.01}) == 0);
    CHECK(second.runs == 2 * 4);
    CHECK(turns() == 8);
    CHECK(Choices(file).evidence(question_of("a"))->is_decided);
    Process third(file);
    CHECK(third.fastest("a", {slow, slow * 1.01}) == 0);
    CHECK(third.runs == 0);
}

TEST_CASE("a choice is no longer tried after 64 turns")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    int runs = 0;
    double now = 0;
    const auto contradictory = [&](std::size_t i) {
        now += slow;
        return (runs++ / 2 % 4 < 2) == (i == 0) ? 0.2 : 0.22;
    };
    for (int process = 0; process < 20; ++process)
        Choices(file, [&] { return Seconds{now}; })
            .fastest(
                question_of("a"), {"one", "other"}, [&] { return contradictory; }, Undecided::tried_again);
    CHECK(runs == 2 * 64);
    CHECK(Choices(file).evidence(question_of("a"))->is_decided);
}

TEST_CASE("a process spends a few seconds in all on undecided choices")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    Process first(file);
    for (int i = 0; i < 6; ++i) first.fastest(std::to_string(i), {slow, slow});
    Process second(file);
    for (int i = 0; i < 6; ++i) second.fastest(std::to_string(i), {slow, slow});
    CHECK(second.runs == 2 * 2 * 4);  // 1.6 s each: after two, the three seconds are over
}

TEST_CASE("a choice among other candidates is made anew")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    Process(file).fastest("a", {slow, slow});
    Process more(file);
    CHECK(more.fastest("a", {slow, slow, 0.001}) == 2);
    Process fewer(file);
    CHECK(fewer.fastest("a", {0.002, 0.001}) == 1);
    CHECK(fewer.runs > 0);
}

TEST_CASE("a damaged choice is made again, the others stay, and a remark says so")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    Process first(file);
    for (const char* shape : {"a", "b", "c"}) first.fastest(shape, {0.001, 0.002});
    replace(file, "b,forward,fp32,2,oneDNN 3.12,candidate 0,decided", "b,forward,fp32,2,oneDNN 3.12,candidate 0,");
    Process second(file);
    REQUIRE(second.choices.remarks().size() == 1);
    CHECK_THAT(second.choices.remarks()[0], Catch::Contains("was damaged: 1 of its choices"));
    CHECK_FALSE(implementation(second.choices, "a").empty());
    CHECK(implementation(second.choices, "b").empty());
    CHECK_FALSE(implementation(second.choices, "c").empty());
    CHECK(second.fastest("b", {0.002, 0.001}) == 1);
    const Choices third(file);
    CHECK(third.remarks().empty());
    CHECK_FALSE(implementation(third, "a").empty());
    CHECK(implementation(third, "b") == "candidate 1");
    CHECK_FALSE(implementation(third, "c").empty());

    cut_file(file, read_file(file).size() - 3);
    CHECK(Choices(file).remarks().size() == 1);
    write_file(file, "no,such,columns\n1,2,3\n");
    Process other(file);
    CHECK_THAT(other.choices.remarks().at(0), Catch::Contains("other columns"));
    CHECK(other.fastest("a", {0.002, 0.001}) == 1);
    CHECK(implementation(Choices(file), "a") == "candidate 1");
}

TEST_CASE("of several processes one tries at a time, and the others take its choice")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    constexpr int processes = 6;
    constexpr int shapes = 5;
    std::vector<int> runs(processes);
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < processes; ++i)
            all.emplace_back([&, i] {
                Process process(file);
                for (int shape = 0; shape < shapes; ++shape)
                    process.fastest(std::to_string(shape), {0.001, 0.002 + slow * (shape % 2)});
                runs[i] = process.runs;
            });
    }
    int sum = 0;
    for (const int one : runs) sum += one;
    Process alone(folder.path() / "another" / "convolutions.csv");
    for (int shape = 0; shape < shapes; ++shape)
        alone.fastest(std::to_string(shape), {0.001, 0.002 + slow * (shape % 2)});
    CHECK(sum == alone.runs);
    CHECK(read_csv(file).rows.size() == 2 * shapes);
    CHECK(Choices(file).remarks().empty());
}

TEST_CASE("choices without a usable file hold for the process")
{
    const fakes::TemporaryFolder folder;
    make_folder(folder / "a folder");
    write_file(folder / "a folder" / "kept", "");
    std::filesystem::create_symlink("loop", folder / "loop");
    for (const std::filesystem::path& file :
         {std::filesystem::path(), folder / "a folder", folder / "a folder/kept/x.csv", folder / "loop"}) {
        Process process(file);
        CHECK(process.fastest("a", {0.002, 0.001}) == 1);
        const int runs = process.runs;
        CHECK(process.fastest("a", {0.002, 0.001}) == 1);
        CHECK(process.runs == runs);
    }
    CHECK(std::filesystem::exists(folder / "a folder" / "kept"));
}

TEST_CASE("a trial is prepared before its time begins, and its preparation may ask for another choice")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "convolutions.csv";
    int prepared = 0;
    double now = 0;
    const auto fastest = [&](Choices& choices) {
        return choices.fastest(question_of("outer"), {"one", "other"}, [&]() -> engine::CandidateSeconds {
            now += 100;
            ++prepared;
            const auto inner = [&](std::size_t i) {
                now += 0.001;
                return i == 0 ? 0.2 : 0.1;
            };
            CHECK(choices.fastest(question_of("inner"), {"one", "other"}, [&] { return inner; }) == 1);
            return [&](std::size_t i) {
                now += slow;
                return i == 0 ? 0.2 : 0.199;
            };
        });
    };
    const auto clock = [&] { return Seconds{now}; };
    Choices first(file, clock);
    CHECK(fastest(first) == 1);
    CHECK(first.evidence(question_of("outer"))->turns[0].size() == 4);  // of the time that the search has alone
    Choices second(file, clock);
    CHECK(fastest(second) == 1);
    CHECK(prepared == 1);
    REQUIRE(second.evidence(question_of("inner")) != nullptr);
    CHECK(second.evidence(question_of("inner"))->implementation() == "other");
    CHECK_FALSE(second.evidence(question_of("outer"))->is_decided);  // but not tried again
    CHECK(read_csv(file).rows.size() == 4);
}

TEST_CASE("where no candidate runs, nothing is chosen and nothing is kept")
{
    const fakes::TemporaryFolder folder;
    Process process(folder / "choices.csv");
    CHECK_THROWS_AS(process.fastest("a", {never, never}), Unsupported);
    CHECK_THROWS_AS(process.fastest("a", {}), Unsupported);
    CHECK(implementation(process.choices, "a").empty());
    CHECK(process.fastest("a", {never, 0.001}) == 1);
}

TEST_CASE("a process that follows another's decisions tries nothing, not even what is undecided, and writes nothing")
{
    const fakes::TemporaryFolder folder;
    Process first(folder / "first.csv");
    CHECK(first.fastest("a", {slow, slow * 1.01}) == 0);
    CHECK(first.fastest("b, with a comma", {0.002, 0.001}) == 1);
    Process second(folder / "second.csv");
    CHECK(second.fastest("a", {0.002, 0.001}) == 1);
    CHECK(second.fastest("c", {0.001, 0.002}) == 0);
    const int runs = second.runs;
    const std::string before = read_file(folder / "second.csv");
    second.choices.follow(first.choices.decisions());
    CHECK(second.fastest("a", {slow * 1.01, slow}) == 0);
    CHECK(second.fastest("b, with a comma", {0.001, 0.002}) == 1);
    CHECK(second.runs == runs);
    // What the other was not asked is chosen here, for this process only, whatever its own file says.
    CHECK(second.fastest("c", {0.002, 0.001}) == 1);
    CHECK(read_file(folder / "second.csv") == before);
}

TEST_CASE("the decisions are those of the questions asked, not all of the file's")
{
    const fakes::TemporaryFolder folder;
    Process earlier(folder / "choices.csv");
    earlier.fastest("a", {0.002, 0.001});
    earlier.fastest("b", {0.002, 0.001});
    Process now(folder / "choices.csv");
    now.fastest("b", {0.002, 0.001});
    CHECK(now.choices.decisions().find("\nb,") != std::string::npos);
    CHECK(now.choices.decisions().find("\na,") == std::string::npos);
}
