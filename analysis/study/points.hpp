// Points of one's own under measured roofs: FLOPs, bytes and seconds of any work, as given by the user.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// A piece of work. FLOPs and seconds are above 0. Bytes are those to and from the memory; 0: unknown.
struct GivenPoint {
    std::string name = "point";
    Flops flops;
    Bytes bytes;
    Seconds seconds;
    std::string precision = "fp32";
    std::string device{};   ///< empty: the CPU, or the one device of a data sheet
    std::string threads{};  ///< empty: the most threads that the roofs were measured with
};

/// The row that is placed. Throws InputError for an unknown precision.
Measurement row_of(const GivenPoint& point);

/// A positive number as a user writes it, "2e12", or "3GB" with its unit. Throws InputError that begins with `where`.
double positive_number(const std::string& text, const std::string& where, std::string_view unit);

/// A CSV with the columns `flops` and `seconds`, and where wanted `name`, `bytes`, `precision`, `device` and `threads`.
/// An empty cell is an unknown number of bytes, or the value of `usual`. A file with the column `calls` has regions
/// (docs/regions.md): those without FLOPs and its other columns are left out. Throws InputError with file, row and
/// column.
std::vector<GivenPoint> parse_points(std::string_view text, const std::string& file, const GivenPoint& usual);

/// The points placed under the ceilings of a calibration, one step each, in their order. Throws InputError without
/// ceilings, and for a device that the calibration lacks.
Study place_points(const std::vector<GivenPoint>& points, Results calibration);
/// Under the roofs of a data sheet, or of the device of an estimate.
Study place_points(std::vector<GivenPoint> points, const Target& target);

/// One row for each point: where it lies, what binds, and what reaching the roof would save.
DataTable points_table(const Study& study);

/// The roofs over the points and the ridge points of the memory: "cpu, 2 threads: DRAM 58 GB/s, …".
std::string roofs_over_points(const Study& study);

}  // namespace roof::analysis
