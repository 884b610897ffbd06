// A small results folder against approved outputs. After an intended change, check the difference, then copy the file
// that the message names over the approved one.
#include "../fakes/temporary_folder.hpp"
#include "analysis/report/report.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/study.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace roof;
using namespace roof::analysis;

namespace {

const std::filesystem::path data = std::filesystem::path(ROOF_TEST_DATA) / "data";

std::string contents(const std::filesystem::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

void approve(const std::string& received, const std::string& name)
{
    const std::filesystem::path file = std::filesystem::temp_directory_path() / ("received-" + name);
    const bool same = received == contents(data / "approved" / name);
    if (!same) std::ofstream(file) << received;
    INFO("differs from tests/analysis/data/approved/" << name << "; received: " << file);
    CHECK(same);
}

Study opened()
{
    return open_study(data / "made/run");
}

}  // namespace

TEST_CASE("a folder is placed under the calibration found beside it")
{
    const Study study = opened();
    CHECK(study.calibration.folder.filename() == "calibration");
    CHECK(study.ceilings.bandwidth("cpu", "DRAM", 2) != nullptr);
    CHECK(study.ceilings.compute("cpu", "fp32", 2) != nullptr);
    CHECK(study.placements.size() == 2 * 8);
    CHECK(calibration_warning(study).empty());
}

TEST_CASE("a given calibration is used, and a missing one is an input error")
{
    CHECK(open_study(data / "made/run", data / "made/calibration").ceilings.all.size() == opened().ceilings.all.size());
    CHECK_THROWS_AS(open_study(data / "made/run", data / "made/none"), InputError);
    CHECK_THROWS_AS(open_study(data / "made/none"), InputError);
}

TEST_CASE("a folder without a calibration has no ceilings and a warning")
{
    const fakes::TemporaryFolder folder;
    std::filesystem::copy(data / "made/run", folder / "run");
    const Study study = open_study(folder / "run");
    CHECK(study.ceilings.all.empty());
    CHECK(verdict_text(study).find("No ceilings") != std::string::npos);
}

TEST_CASE("a calibration opened as a study is its own calibration")
{
    const Study study = open_study(data / "made/calibration");
    CHECK(study.placements.empty());
    CHECK(study.ceilings.all.size() == opened().ceilings.all.size());
}

TEST_CASE("the texts of the small folder are the approved ones")
{
    const Study study = opened();
    approve(verdict_text(study), "verdict.txt");
    approve(headroom_text(study, 3), "headroom.txt");
    approve(ceilings_text(study.ceilings, study.calibration.machine), "ceilings.txt");
    approve(terminal_roofline(study, 90, false), "roofline.txt");
    approve(terminal_roofline(study, 90, true), "roofline-plain.txt");
}

TEST_CASE("the panels of the small folder are the approved ones")
{
    const Study study = opened();
    for (const Panel& panel : panels())
        approve(html_of(content_of(panel, study, "key")), "panel-" + std::string(panel.id) + ".html");
}
