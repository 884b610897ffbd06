#include "analysis/report/report.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Steps of one network, at the batches from 1 to `count`; images per second fall with the batch, but are the most at
/// `fastest`.
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

TEST_CASE("a page of many steps shows 100 of them, the ends and the fastest among these, and says so")
{
    std::vector<Study> studies{study_of(1000, 777)};
    thin_steps(studies);
    const std::set<long long> left = batches(studies[0]);
    CHECK(left.size() <= 101);
    CHECK(left.size() >= 100);
    CHECK(left.contains(1));
    CHECK(left.contains(1000));
    CHECK(left.contains(777));
    CHECK(studies[0].placements.size() == 8 * left.size());  // a step, three phases and four layers
    const std::string page = report_html(studies);
    CHECK_THAT(page, Catch::Contains(std::to_string(left.size()) + " of 1000 training steps are shown"));
    CHECK_THAT(page, Catch::Contains("`roof report --data DIR` writes tables of all"));
}

TEST_CASE("a page of many layers shows those of the largest batches first, and every step")
{
    std::vector<Study> studies{study_of(100, 1), study_of(100, 1, "other")};  // of four layers each
    studies[1].results.folder = "results/made/second";
    const std::size_t placements = studies[0].placements.size();
    thin_layers(studies);
    std::size_t with_layers = 0;
    for (const Study& study : studies) {
        const std::string largest = made::row(&study == &studies[0] ? "net" : "other", 100).id();
        CHECK_FALSE(study.without_layers.contains(largest));
        with_layers += 100 - study.without_layers.size();
        CHECK(study.placements.size() == placements);
    }
    CHECK(with_layers == 100 / 4);  // so many steps leave no room for more
    CHECK_THAT(studies[1].left_out, Catch::Contains("99 steps are shown here without layers"));
    const nlohmann::json points = page_json(studies)["studies"][1]["points"];
    CHECK(points["row"].size() == 100 * 4 + 4);  // a step, three phases and four layers
    const std::string page = report_html(studies);
    CHECK_THAT(page, Catch::Contains("99 steps are shown here without layers"));
}

TEST_CASE("a page whose layers fit leaves nothing out")
{
    std::vector<Study> studies{study_of(10, 1)};
    thin_steps(studies);
    thin_layers(studies);
    CHECK(studies[0].left_out.empty());
    CHECK(studies[0].without_layers.empty());
}

TEST_CASE("several runs, and steps that were not measured, share the room of a page")
{
    std::vector<Study> studies{study_of(600, 5), study_of(300, 7, "other")};
    studies[0].results.rows.push_back(made::failed("net", "there is no room"));
    thin_steps(studies);
    const std::size_t one = studies[0].results.rows.size(), two = studies[1].results.rows.size();
    CHECK(one + two <= 106);
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
    CHECK(studies[0].results.rows.size() == 100);
}
