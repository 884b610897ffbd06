#include "analysis/report/report.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Steps of one network, at the batches from 1 to `count`; images per second fall with the batch, but are the most at `fastest`.
Study study_of(int count, int fastest, const std::string& model = "net")
{
    std::vector<Measurement> rows;
    for (int batch = 1; batch <= count; ++batch) {
        rows.push_back(made::row(model, batch));
        rows.back().seconds = made::about<Seconds>(batch * (batch == fastest ? 0.001 : 0.01 + 0.0001 * batch));
    }
    return made::study(std::move(rows));
}

std::set<long long> batches(const Study& study)
{
    std::set<long long> all;
    for (const Measurement& row : study.results.rows) all.insert(row.point.integer("batch"));
    return all;
}

}  // namespace

TEST_CASE("a page of many steps shows 400 of them, the ends and the fastest among these, and says so")
{
    std::vector<Study> studies{study_of(1000, 777)};
    thin_steps(studies);
    const std::set<long long> left = batches(studies[0]);
    CHECK(left.size() <= 400);
    CHECK(left.size() >= 390);
    CHECK(left.contains(1));
    CHECK(left.contains(1000));
    CHECK(left.contains(777));
    CHECK(studies[0].placements.size() == 8 * left.size());  // a step, three phases and four layers
    const std::string page = report_html(studies);
    CHECK_THAT(page, Catch::Contains(std::to_string(left.size()) + " of 1000 training steps are shown"));
    CHECK_THAT(page, Catch::Contains("`roof report --data DIR` writes tables of all"));
}

TEST_CASE("steps with many layers are fewer on a page, and those of 100 steps are all there")
{
    Study many = study_of(150, 1);
    const std::vector<Placement> placements = many.placements;
    for (int times = 1; times < 10; ++times)
        many.placements.insert(many.placements.end(), placements.begin(), placements.end());
    std::vector<Study> studies{std::move(many)};
    thin_steps(studies);
    CHECK(batches(studies[0]).size() <= 9000 / (80 + 11));
    CHECK(batches(studies[0]).size() >= 90);
    std::vector<Study> few{study_of(100, 1)};
    for (int times = 1; times < 100; ++times)
        few[0].placements.insert(few[0].placements.end(), placements.begin(), placements.begin() + 800);
    thin_steps(few);
    CHECK(batches(few[0]).size() == 100);
    CHECK(few[0].left_out.empty());
}

TEST_CASE("several runs, and steps that were not measured, share the room of a page")
{
    std::vector<Study> studies{study_of(600, 5), study_of(300, 7, "other")};
    studies[0].results.rows.push_back(made::failed("net", "there is no room"));
    thin_steps(studies);
    const std::size_t one = studies[0].results.rows.size(), two = studies[1].results.rows.size();
    CHECK(one + two <= 400);
    CHECK(one > two);
    CHECK(studies[0].results.rows.back().reason == "there is no room");
    CHECK_FALSE(studies[0].left_out.empty());
    CHECK_FALSE(studies[1].left_out.empty());
    CHECK(batches(studies[1]).contains(300));
}

TEST_CASE("as many series as steps are thinned evenly, too")
{
    std::vector<Measurement> rows;
    for (int i = 0; i < 500; ++i) rows.push_back(made::row("net" + std::to_string(i)));
    std::vector<Study> studies{made::study(std::move(rows))};
    thin_steps(studies);
    CHECK(studies[0].results.rows.size() <= 400);
    CHECK(studies[0].results.rows.size() >= 390);
}
