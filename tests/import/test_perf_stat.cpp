// perf stat with separators, as older machines have it.
#include "analysis/recordings/import.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("perf stat -x has the counts that -j has")
{
    const auto read = [](const std::string& text) {
        const fakes::TemporaryFolder folder;
        write_file(folder / "x", text);
        return import_file(folder / "x");
    };
    const std::string rest =
        ",,fp_arith_inst_retired.128b_packed_single,500000,100.00,,\n"
        "1000,,fp_arith_inst_retired.256b_packed_single,500000,100.00,,\n"
        "100,,fp_arith_inst_retired.512b_packed_single,500000,100.00,,\n"
        "<not supported>,,cycles,0,100.00,,\n"
        "2000000,ns,duration_time,2000000,100.00,0.5,CPUs utilized\n";
    const Imported file = read(
        "# started on Mon Nov 23 10:00:00 2026\n\n7,,fp_arith_inst_retired.scalar_single,500000,75.00,,\n10" + rest);
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(row.seconds.median.value == Approx(0.002));
    CHECK(row.work.flops == Flops{7 + 4 * 10 + 8 * 1000 + 16 * 100});
    CHECK(join(file.missing, "; ").find("cycles (<not supported>)") != std::string::npos);
    CHECK(join(file.remarks, "; ").find("multiplexed") != std::string::npos);
    const Imported sockets = read("S0;2;7;;cycles;500000;100.00;;\nS1;2;5;;cycles;500000;100.00;;\n");
    CHECK(sockets.rows.at(0).counters.at(0).value == 12);
    const Imported repeated = read("220162621;ns;duration_time;24.73%;220162621;100.00;319.398;G/sec\n");  // of -r 2
    CHECK(repeated.rows.at(0).measurement.seconds.median.value == Approx(0.220162621));
    CHECK_THROWS_WITH(read("1.000120;7;;cycles;500000;100.00;;\n"), Catch::Contains("-I (intervals)"));
    CHECK_THROWS_WITH(read("7,,cycles,500000,100.00,,\n7,,cycles,500000,100.00,,\n"), Catch::Contains("occurs twice"));
    CHECK_THROWS_WITH(read("7,,cycles,500000,100.00,,\n7,cycles\n"),
                      Catch::Contains("is not a line of `perf stat -j` or `-x`"));
}

TEST_CASE("FLOPs of two precisions stand in one row, and a remark has each")
{
    const fakes::TemporaryFolder folder;
    std::string text;
    for (const auto& [event, count] : {std::pair{"scalar_single", 6},
                                       {"128b_packed_single", 1},
                                       {"256b_packed_single", 1},
                                       {"512b_packed_single", 1},
                                       {"scalar_double", 1},
                                       {"128b_packed_double", 0},
                                       {"256b_packed_double", 0},
                                       {"512b_packed_double", 2}})
        text += std::to_string(count) + "000,,fp_arith_inst_retired." + event + ",500000,100.00,,\n";
    write_file(folder / "x", text);
    const Imported file = import_file(folder / "x");
    CHECK(file.rows.at(0).measurement.work.flops == Flops{34000 + 17000});
    CHECK(join(file.remarks, "; ")
              .find("34.0 kFLOP in fp32, 17.0 kFLOP in fp64. The row counts them together, as fp32") !=
          std::string::npos);
}
