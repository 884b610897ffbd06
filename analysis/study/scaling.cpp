#include "analysis/study/scaling.hpp"

#include "analysis/roofline/link.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {
namespace {

/// What ranks add to a point; `threads` are those of all ranks.
constexpr std::array exchange_axes{"ranks", "scaling", "communication", "bucket_mb", "batch_norm", "round", "threads"};

Point without_exchange(Point point)
{
    for (const char* axis : exchange_axes) point = point.without(axis);
    return point;
}

std::string value_or(const Measurement& row, const std::string& axis, const std::string& usual)
{
    return row.point.has(axis) ? row.point.text(axis) : usual;
}

/// "gpu:0,1" -> "gpu:0".
std::string first_device(const Measurement& row)
{
    return row.device.substr(0, row.device.find(','));
}

/// One rank as each of the row's was: on one of its devices, with its part of the threads.
bool is_one_rank_of(const Measurement& one, const Measurement& row)
{
    return one.status == Status::ok && one.ranks() == 1 && one.bench == row.bench && one.device == first_device(row) &&
           threads_of(one) == threads_of(row) / row.ranks() &&
           without_exchange(one.point) == without_exchange(row.point);
}

Scaling scaling_of(const Measurement& row, const Study& study)
{
    Scaling scaling{.row = &row, .link = row.device == "cpu" ? nullptr : link_between_gpus(study.ceilings)};
    const auto& rows = study.results.rows;
    const auto alone = std::ranges::find_if(rows, [&](const Measurement& other) { return is_one_rank_of(other, row); });
    if (alone == rows.end() || alone->images_per_second() <= 0) return scaling;
    scaling.alone = &*alone;
    scaling.speedup = row.images_per_second() / alone->images_per_second();
    scaling.efficiency = scaling.speedup / row.ranks();
    return scaling;
}

std::string two_digits(double value)
{
    return format_exact(static_cast<double>(std::lround(100 * value)) / 100);
}

std::vector<std::string> cells_of(const Scaling& scaling)
{
    const Measurement& row = *scaling.row;
    const std::string none = "-";
    return {printable(model_of(row)),
            batch_text(row),
            std::to_string(row.ranks()),
            value_or(row, "scaling", "weak"),
            value_or(row, "communication", "overlapped"),
            value_or(row, "batch_norm", "local"),
            plain_number(row.images_per_second()),
            scaling.alone == nullptr ? none : two_digits(scaling.speedup),
            scaling.alone == nullptr ? none : percent(scaling.efficiency),
            format_duration(row.exposed.median.value),
            format_duration(row.hidden.median.value),
            format_si(bus_bandwidth(row).value, "B/s"),
            scaling.link == nullptr ? none : format_si(scaling.link->rate.median.value, "B/s")};
}

}  // namespace

ByteRate bus_bandwidth(const Measurement& row)
{
    const Seconds time = row.exposed.median + row.hidden.median;
    return time.value > 0 ? link_bytes(row) / time : ByteRate{};
}

std::vector<Scaling> scalings(const Study& study)
{
    std::vector<Scaling> found;
    for (const Measurement* row : step_rows(study.results.rows)) {
        if (row->status == Status::ok && row->ranks() > 1) found.push_back(scaling_of(*row, study));
    }
    return found;
}

const std::vector<std::string>& scaling_header()
{
    static const std::vector<std::string> header{
        "model",   "batch",      "ranks",   "scaling", "communication", "batch norm",  "images/s",
        "speedup", "efficiency", "exposed", "hidden",  "bus bandwidth", "link ceiling"};
    return header;
}

std::vector<std::vector<std::string>> scaling_cells(const Study& study)
{
    std::vector<std::vector<std::string>> cells;
    for (const Scaling& scaling : scalings(study)) cells.push_back(cells_of(scaling));
    return cells;
}

std::string scaling_table(const Study& study, int columns)
{
    const auto cells = scaling_cells(study);
    if (cells.empty()) return {};
    return fitted_lines(
               "Several ranks beside one with a rank's part of the threads or one of the devices (measured; bus "
               "bandwidth: "
               "measured bytes and time, the ring's count of crossings)\n",
               columns) +
           fitted_table(scaling_header(), cells, {"batch norm", "link ceiling", "communication", "hidden"}, columns);
}

}  // namespace roof::analysis
