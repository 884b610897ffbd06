// No two rows of a table read alike, whatever a plan varies.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/steps/whatif.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Two batches, precisions, thread counts and algorithms; one rank, and two with weak and strong scaling and both kinds
/// of communication.
std::vector<Measurement> varied_rows()
{
    std::vector<Measurement> rows;
    for (const int batch : {4, 8})
        for (const int threads : {1, 2})
            for (const char* precision : {"fp32", "fp64"})
                for (const char* algorithm : {"auto", "direct"}) {
                    Measurement one = made::row("net", batch, threads);
                    one.point.set("precision", precision);
                    one.point.set("algorithm", algorithm);
                    rows.push_back(one);
                    one.point.set("ranks", "2");
                    for (const char* scaling : {"weak", "strong"})
                        for (const char* communication : {"overlapped", "serial"}) {
                            rows.push_back(one);
                            rows.back().point.set("scaling", scaling);
                            rows.back().point.set("communication", communication);
                            rows.back().exposed.median = {1e-3};
                        }
                }
    return rows;
}

/// The texts of the columns that tell the rows apart, as people see them.
void check_distinct(const DataTable& table, Shown sink)
{
    const DataTable seen = visible_in(sink, table);
    std::set<std::string> texts;
    for (const DataTable::Row& row : seen.rows) {
        std::string keys;
        for (std::size_t i = 0; i < seen.columns.size(); ++i)
            if (std::ranges::find(table.identifying, seen.columns[i].title) != table.identifying.end())
                keys += row.cells[i].text + " | ";
        INFO(keys);
        CHECK(texts.insert(keys).second);
    }
    CHECK(texts.size() == seen.rows.size());
}

std::size_t distinct(const std::vector<std::string>& texts)
{
    return std::set<std::string>(texts.begin(), texts.end()).size();
}

}  // namespace

TEST_CASE("no two rows of any table of steps read alike")
{
    const Study study = made::study(varied_rows());
    REQUIRE(study.results.rows.size() == 80);
    for (const DataTable& table : {verdict_table(study), scaling_table(study), winners_table({&study, 1}),
                                   what_if_table(what_if(study, all_doubled(study, Role::compute)))})
        for (const Shown sink : {Shown::terminal, Shown::page}) check_distinct(table, sink);
    CHECK(visible_in(Shown::terminal, verdict_table(study)).rows.size() == 80);
    CHECK(visible_in(Shown::terminal, winners_table({&study, 1})).rows.size() == 80);
}

TEST_CASE("no two rows read alike in a narrow window")
{
    const Study study = made::study(varied_rows());
    const DataTable narrow = fitted(verdict_table(study), 60);
    DataTable table = narrow;
    table.identifying = verdict_table(study).identifying;
    check_distinct(table, Shown::terminal);
}

TEST_CASE("rows of several machines and runs do not read alike")
{
    std::vector<Study> studies;
    for (const auto& [machine, run] : {std::pair{"a", "monday"}, {"b", "monday"}, {"b", "tuesday"}}) {
        studies.push_back(made::study(varied_rows()));
        studies.back().results.machine.name = machine;
        studies.back().results.folder = run;
    }
    const DataTable table = winners_table(studies);
    CHECK(visible_in(Shown::page, table).rows.size() == 240);
    check_distinct(table, Shown::page);
}

TEST_CASE("no two steps have the same title, and no two series of batches the same name")
{
    const Study study = made::study(varied_rows());
    std::vector<std::string> titles, series;
    for (const Measurement& row : study.results.rows) titles.push_back(step_title(row, study.results.rows));
    CHECK(distinct(titles) == 80);
    for (const auto* row : largest_batches(study.results.rows))
        series.push_back(precision_of(*row) + where_text(*row, study.results.rows));
    CHECK(series.size() == 40);
    CHECK(distinct(series) == 40);
    const auto page = page_json({&study, 1});
    for (const auto& row : page["studies"][0]["rows"])
        CHECK(std::ranges::count(titles, row["title"].get<std::string>()) == 1);
    CHECK(titles.front() == "net, batch 4, fp32 on cpu, 1 thread, algorithm auto");
}

TEST_CASE("a rate of the page and of the trajectories is that of all ranks")
{
    Measurement weak = made::row("net", 4), strong = made::row("net", 8);  // 40 ms
    weak.point.set("ranks", "2");
    strong.point.set("ranks", "2");
    strong.point.set("scaling", "strong");
    const Study study = made::study({made::row("net", 4), weak, strong});
    const DataTable table = trajectories_table(study);
    const auto rate = [&](std::size_t row) { return std::get<Spread>(table.cell(row, "images_per_s_*").value).median; };
    CHECK(rate(0) == Approx(100));
    CHECK(rate(1) == Approx(200));
    CHECK(rate(2) == Approx(200));
    CHECK(table.cell(1, "scaling").text == "weak");
    CHECK(table.cell(2, "scaling").text == "strong");
    CHECK(table.cell(1, "ranks").text == "2");
    const auto rows = page_json({&study, 1})["studies"][0]["rows"];
    CHECK(rows[1]["step_images"] == 8);
    CHECK(rows[2]["step_images"] == 8);
}

TEST_CASE("speedup, efficiency and exposed communication stand in the verdict where there are ranks")
{
    Measurement alone = made::row("net", 4, 1), two = made::row("net", 4, 2);
    alone.seconds.median = {0.1};
    two.seconds.median = {0.125};
    two.point.set("ranks", "2");
    two.exposed.median = {3e-3};
    const DataTable table = verdict_table(made::study({alone, two}));
    // 2 x 4 images in 125 ms over 4 in 100 ms: 64 / 40 = 1.6 times as many, by 2 ranks.
    CHECK(table.cell(1, "speedup").text == "1.6");
    CHECK(table.cell(1, "efficiency").text == "80%");
    CHECK(table.cell(1, "exposed").text == "3.00 ms");
    CHECK(table.cell(0, "speedup").is_absent);
    const DataTable without = visible_in(Shown::terminal, verdict_table(made::study({alone})));
    CHECK(std::ranges::find(without.columns, "speedup", &TableColumn::title) == without.columns.end());
}
