// The column tables of measurements.csv, samples.csv and layers.csv. To add a column, add a line here. Older files read
// as if the cell were empty.
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/measurement.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace roof {
namespace {

double to_number(const std::string& cell)
{
    if (cell.empty()) return 0;
    const std::optional<double> value = parse_number<double>(cell);
    if (!value || !std::isfinite(*value)) throw Error("'" + printable(cell) + "' is not a finite number");
    return *value;
}

template <class Row>
Column<Row> text(std::string name, std::string Row::*field)
{
    return {std::move(name), [field](const Row& row) { return row.*field; },
            [field](Row& row, const std::string& cell) { row.*field = cell; }};
}

/// For times, amounts and rates.
double not_negative(const std::string& cell)
{
    const double value = to_number(cell);
    if (value < 0) throw Error("'" + printable(cell) + "' is less than 0");
    return value;
}

/// A column of numbers that are not negative; 0 is also what is not known, and its cell is empty. `at` maps the row to a double& (const if
/// the row is).
template <class Row, class At>
Column<Row> number(std::string name, At at)
{
    return {std::move(name), [at](const Row& row) { return at(row) == 0 ? "" : format_exact(at(row)); },
            [at](Row& row, const std::string& cell) { at(row) = not_negative(cell); }};
}

template <class Row, int F, int B, int T>
Column<Row> number(std::string name, Quantity<F, B, T> Row::*field)
{
    return number<Row>(
        std::move(name), [field](auto& row) -> auto& { return (row.*field).value; });
}

/// Median and interval of an estimate. `unit` is the suffix of the columns' names.
template <class Row, class Unit>
void add_estimate(std::vector<Column<Row>>& columns, const std::string& name, Estimate<Unit> Row::*field,
                  const std::string& unit = "_s")
{
    columns.push_back(number<Row>(
        name + "_median" + unit, [field](auto& row) -> auto& { return (row.*field).median.value; }));
    columns.push_back(number<Row>(
        name + "_low" + unit, [field](auto& row) -> auto& { return (row.*field).low.value; }));
    columns.push_back(number<Row>(
        name + "_high" + unit, [field](auto& row) -> auto& { return (row.*field).high.value; }));
}

template <class Row>
Column<Row> count(std::string name, Estimate<Seconds> Row::*field, int Estimate<Seconds>::*which)
{
    return {std::move(name), [=](const Row& row) { return std::to_string(row.*field.*which); },
            [=](Row& row, const std::string& cell) {
                const double value = not_negative(cell);
                if (value > std::numeric_limits<int>::max()) throw Error("'" + printable(cell) + "' is too large");
                row.*field.*which = static_cast<int>(value);
            }};
}

/// What else used the machine; an empty cell is not known, and 0 is measured. `at` maps the row to its HostUse.
template <class Row, class At>
void add_host_use(std::vector<Column<Row>>& columns, At at)
{
    const auto add = [&](const char* name, std::optional<double> HostUse::*field) {
        columns.push_back({name, [=](const Row& row) { return at(row).*field ? format_exact(*(at(row).*field)) : ""; },
                           [=](Row& row, const std::string& cell) {
                               if (!cell.empty()) at(row).*field = not_negative(cell);
                           }});
    };
    add("others_processors", &HostUse::others);
    add("stolen_processors", &HostUse::stolen);
    add("waited_share", &HostUse::waited);
    add("shared_share", &HostUse::shared);
}

/// FLOPs, bytes and their origin. `at` maps the row to its work.
template <class Row, class At>
void add_work(std::vector<Column<Row>>& columns, At at)
{
    columns.push_back(number<Row>(
        "flops", [at](auto& row) -> auto& { return at(row).flops.value; }));
    columns.push_back(number<Row>(
        "executed_flops", [at](auto& row) -> auto& { return at(row).executed.value; }));
    columns.push_back(number<Row>(
        "compulsory_bytes", [at](auto& row) -> auto& { return at(row).compulsory.value; }));
    columns.push_back(number<Row>(
        "no_reuse_bytes", [at](auto& row) -> auto& { return at(row).no_reuse.value; }));
    columns.push_back(number<Row>(
        "read_bytes", [at](auto& row) -> auto& { return at(row).read.value; }));
    columns.push_back(number<Row>(
        "written_bytes", [at](auto& row) -> auto& { return at(row).written.value; }));
    columns.push_back({"work_known", [at](const Row& row) { return std::string(name(at(row).known)); },
                       [at](Row& row, const std::string& cell) { at(row).known = parse_enum<Known>(cell); }});
}

Column<Measurement> axis(const std::string& axis_name)
{
    return {axis_name == "working_set" ? "working_set_bytes" : axis_name,
            [axis_name](const Measurement& row) { return row.point.has(axis_name) ? row.point.text(axis_name) : ""; },
            [axis_name](Measurement& row, const std::string& cell) {
                if (!cell.empty()) row.point.set(axis_name, cell);
            }};
}

}  // namespace

const std::vector<std::string>& axis_names()
{
    static const std::vector<std::string> names{
        "model",       "batch",         "operation", "intensity",   "isa",       "precision",     "algorithm",
        "data",        "parameters",    "lr",        "threads",     "placement", "pages",         "cpu_node",
        "memory_node", "path",          "size",      "working_set", "graph",     "deterministic", "ranks",
        "scaling",     "communication", "bucket_mb", "batch_norm",  "round"};
    return names;
}

std::vector<Column<Measurement>> measurement_columns()
{
    using Row = Measurement;
    std::vector<Column<Row>> columns;
    columns.push_back(text("bench", &Row::bench));
    columns.push_back({"role", [](const Row& row) { return std::string(name(row.role)); },
                       [](Row& row, const std::string& cell) { row.role = parse_enum<Role>(cell); }});
    columns.push_back(text("device", &Row::device));
    for (const std::string& axis_name : axis_names()) columns.push_back(axis(axis_name));
    columns.push_back({"status", [](const Row& row) { return std::string(name(row.status)); },
                       [](Row& row, const std::string& cell) { row.status = parse_enum<Status>(cell); }});
    columns.push_back(text("reason", &Row::reason));
    add_estimate(columns, "launch", &Row::seconds);
    columns.push_back(count<Row>("samples", &Row::seconds, &Estimate<Seconds>::n));
    columns.push_back(count<Row>("discarded", &Row::seconds, &Estimate<Seconds>::discarded));
    add_estimate(columns, "data", &Row::data);
    add_estimate(columns, "forward", &Row::forward);
    add_estimate(columns, "backward", &Row::backward);
    add_estimate(columns, "update", &Row::update);
    add_estimate(columns, "exposed", &Row::exposed);
    add_estimate(columns, "hidden", &Row::hidden);
    columns.push_back(number("messages_bytes", &Row::messages));
    add_estimate(columns, "clock", &Row::clock, "_hz");
    columns.push_back(text("variant", &Row::variant));
    add_work<Row>(
        columns, [](auto& row) -> auto& { return row.work; });
    columns.push_back(number("memory_bytes", &Row::memory));
    add_host_use<Row>(
        columns, [](auto& row) -> auto& { return row.host; });
    columns.push_back(text("started_utc", &Row::started));
    columns.push_back(text("description", &Row::description));
    columns.push_back(text("remarks", &Row::remarks));
    return columns;
}

std::vector<Column<Sample>> sample_columns()
{
    using Row = Sample;
    std::vector<Column<Row>> columns{
        number("launch_s", &Row::seconds),
        number("data_s", &Row::data),
        number("forward_s", &Row::forward),
        number("backward_s", &Row::backward),
        number("update_s", &Row::update),
        {"loss", [](const Row& row) { return row.loss ? format_exact(*row.loss) : ""; },
         [](Row& row, const std::string& cell) {
             if (!cell.empty()) row.loss = to_number(cell);
         }},
        number("clock_hz", &Row::clock),
        number<Row>(
            "memory_clock_hz", [](auto& row) -> auto& { return row.conditions.memory_clock.value; }),
        number<Row>(
            "power_w", [](auto& row) -> auto& { return row.conditions.watts; }),
        number<Row>(
            "temperature_c", [](auto& row) -> auto& { return row.conditions.celsius; }),
        number<Row>(
            "exposed_s", [](auto& row) -> auto& { return row.communication.exposed.value; }),
        number<Row>(
            "hidden_s", [](auto& row) -> auto& { return row.communication.hidden.value; }),
        number<Row>(
            "messages_bytes", [](auto& row) -> auto& { return row.communication.bytes.value; }),
        text("disturbance", &Row::disturbance),
        {"used", [](const Row& row) { return std::string(row.used ? "1" : "0"); },
         [](Row& row, const std::string& cell) {
             if (cell != "0" && cell != "1") throw Error("'" + printable(cell) + "' is neither 0 nor 1");
             row.used = cell == "1";
         }},
    };
    add_host_use<Row>(
        columns, [](auto& row) -> auto& { return row.host; });
    return columns;
}

std::vector<Column<PartMeasurement>> part_columns()
{
    using Row = PartMeasurement;
    const auto part_text = [](std::string name, std::string TimedPart::*field) {
        return Column<Row>{std::move(name), [field](const Row& row) { return row.part.*field; },
                           [field](Row& row, const std::string& cell) { row.part.*field = cell; }};
    };
    std::vector<Column<Row>> columns;
    columns.push_back(part_text("layer", &TimedPart::layer));
    columns.push_back(part_text("kind", &TimedPart::kind));
    columns.push_back({"phase", [](const Row& row) { return std::string(name(row.part.phase)); },
                       [](Row& row, const std::string& cell) { row.part.phase = parse_enum<Phase>(cell); }});
    add_estimate(columns, "time", &Row::seconds);
    columns.push_back(count<Row>("samples", &Row::seconds, &Estimate<Seconds>::n));
    add_work<Row>(
        columns, [](auto& row) -> auto& { return row.part.work; });
    columns.push_back(part_text("implementation", &TimedPart::implementation));
    return columns;
}

}  // namespace roof
