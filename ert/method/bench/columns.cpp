// The columns of measurements.csv, samples.csv and layers.csv, a line each. One that a file lacks reads as empty.
#include "ert/base/fields.hpp"
#include "ert/method/bench/measurement.hpp"

namespace roof {
namespace {

/// A number that is not negative. 0 is also what is not known, and its cell is empty; a count is always written, and so
/// is an optional number that is known.
template <class Row, auto... members>
constexpr Field<Row> amount(std::string_view name)
{
    return {name, false,
            [](const Row& row, std::string& line) {
                const auto& value = (row.*....*members);
                using Value = std::remove_cvref_t<decltype(value)>;
                if constexpr (std::is_integral_v<Value>)
                    write_cell(line, value);
                else if constexpr (is_optional<Value>)
                    line += value ? format_exact(*value) : "";
                else if constexpr (std::is_same_v<Value, double>)
                    line += value == 0 ? "" : format_exact(value);
                else
                    line += value.value == 0 ? "" : format_exact(value.value);
            },
            [](Row& row, std::string_view cell) {
                auto value = (row.*....*members);
                if (!cell.empty()) read_cell(value, cell);
                if (parse_number<double>(cell).value_or(0) < 0) throw Error("'" + printable(cell) + "' is less than 0");
                (row.*....*members) = value;
            }};
}

template <auto... members>
constexpr auto of_launch = amount<Sample, members...>;

/// Median and interval.
template <class Row, auto... members>
constexpr std::array<Field<Row>, 3> estimate(std::string_view median, std::string_view low, std::string_view high)
{
    using Value = std::remove_cvref_t<decltype((Row{}.*....*members))>;
    return {amount<Row, members..., &Value::median>(median), amount<Row, members..., &Value::low>(low),
            amount<Row, members..., &Value::high>(high)};
}

/// FLOPs, bytes and their origin. `members`: the path to the work.
template <class Row, auto... members>
constexpr std::array<Field<Row>, 7> work()
{
    return {amount<Row, members..., &Work::flops>("flops"),
            amount<Row, members..., &Work::executed>("executed_flops"),
            amount<Row, members..., &Work::compulsory>("compulsory_bytes"),
            amount<Row, members..., &Work::no_reuse>("no_reuse_bytes"),
            amount<Row, members..., &Work::read>("read_bytes"),
            amount<Row, members..., &Work::written>("written_bytes"),
            field<Row, members..., &Work::known>("work_known")};
}

/// What else used the machine; an empty cell is not known, and 0 is measured.
template <class Row>
constexpr std::array host_use{amount<Row, &Row::host, &HostUse::others>("others_processors"),
                              amount<Row, &Row::host, &HostUse::stolen>("stolen_processors"),
                              amount<Row, &Row::host, &HostUse::waited>("waited_share"),
                              amount<Row, &Row::host, &HostUse::shared>("shared_share")};

constexpr std::array<std::string_view, 29> axes{
    "model",     "batch",         "operation",   "intensity",  "isa",           "precision",
    "algorithm", "data",          "parameters",  "lr",         "optimizer",     "tokens",
    "phase",     "threads",       "placement",   "pages",      "cpu_node",      "memory_node",
    "path",      "size",          "working_set", "graph",      "deterministic", "ranks",
    "scaling",   "communication", "bucket_mb",   "batch_norm", "round"};

template <std::size_t axis>
constexpr Field<Measurement> axis_field()
{
    return {axes[axis] == "working_set" ? "working_set_bytes" : axes[axis], false,
            [](const Measurement& row, std::string& line) {
                if (row.point.has(axes[axis])) append_csv_cell(line, row.point.text(axes[axis]));
            },
            [](Measurement& row, std::string_view cell) {
                if (!cell.empty()) row.point.set(axes[axis], std::string(cell));
            }};
}

template <std::size_t... each>
constexpr std::array<Field<Measurement>, axes.size()> axis_fields(std::index_sequence<each...>)
{
    return {axis_field<each>()...};
}

/// One after the other: single fields, and arrays of them.
template <class Row, class... Parts>
std::vector<Field<Row>> joined(const Parts&... parts)
{
    std::vector<Field<Row>> all;
    const auto add = [&](const auto& part) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, Field<Row>>)
            all.push_back(part);
        else
            all.insert(all.end(), part.begin(), part.end());
    };
    (add(parts), ...);
    return all;
}

constexpr Field<Sample> loss{
    "loss", false, [](const Sample& row, std::string& line) { line += row.loss ? format_exact(*row.loss) : ""; },
    [](Sample& row, std::string_view cell) { read_cell(row.loss, cell); }};

constexpr Field<Measurement> lower_bound{
    "flops_at_least", false, [](const Measurement& row, std::string& line) { line += row.work.at_least ? "1" : ""; },
    [](Measurement& row, std::string_view cell) { row.work.at_least = cell == "1"; }};

/// "65536:1.2e7 262144:3e6": bytes kept, and bytes moved again where fewer are.
constexpr Field<PartMeasurement> refetched{
    "refetched_bytes", false,
    [](const PartMeasurement& row, std::string& line) {
        std::string_view blank;
        for (const Refetch& one : row.part.work.refetched) {
            line.append(blank) += format_exact(one.kept.value) + ":" + format_exact(one.moved.value);
            blank = " ";
        }
    },
    [](PartMeasurement& row, std::string_view cell) {
        if (cell.empty()) return;
        for (const std::string& pair : split(cell, ' ')) {
            const std::vector<std::string> ends = split(pair, ':');
            if (ends.size() != 2) throw Error("'" + printable(cell) + "' is not 'BYTES:BYTES BYTES:BYTES ...'");
            Refetch& one = row.part.work.refetched.emplace_back();
            read_cell(one.kept, ends[0]);
            read_cell(one.moved, ends[1]);
        }
    }};

constexpr Field<Sample> used{"used", false, [](const Sample& row, std::string& line) { line += row.used ? '1' : '0'; },
                             [](Sample& row, std::string_view cell) {
                                 if (cell != "0" && cell != "1")
                                     throw Error("'" + printable(cell) + "' is neither 0 nor 1");
                                 row.used = cell == "1";
                             }};

}  // namespace

const std::vector<std::string>& axis_names()
{
    static const std::vector<std::string> names(axes.begin(), axes.end());
    return names;
}

const std::vector<Field<Measurement>>& measurement_fields()
{
    using Row = Measurement;
    using Time = Estimate<Seconds>;
    using Lasting = SustainedLaunches;
    constexpr auto lasting = &Row::sustained;
    static const auto fields = joined<Row>(
        field<Row, &Row::bench>("bench"), field<Row, &Row::role>("role"), field<Row, &Row::device>("device"),
        axis_fields(std::make_index_sequence<axes.size()>()), field<Row, &Row::status>("status"),
        field<Row, &Row::reason>("reason"),
        estimate<Row, &Row::seconds>("launch_median_s", "launch_low_s", "launch_high_s"),
        amount<Row, &Row::seconds, &Time::n>("samples"), amount<Row, &Row::seconds, &Time::discarded>("discarded"),
        estimate<Row, &Row::data>("data_median_s", "data_low_s", "data_high_s"),
        estimate<Row, &Row::forward>("forward_median_s", "forward_low_s", "forward_high_s"),
        estimate<Row, &Row::backward>("backward_median_s", "backward_low_s", "backward_high_s"),
        estimate<Row, &Row::update>("update_median_s", "update_low_s", "update_high_s"),
        estimate<Row, &Row::exposed>("exposed_median_s", "exposed_low_s", "exposed_high_s"),
        estimate<Row, &Row::hidden>("hidden_median_s", "hidden_low_s", "hidden_high_s"),
        amount<Row, &Row::messages>("messages_bytes"),
        estimate<Row, &Row::clock>("clock_median_hz", "clock_low_hz", "clock_high_hz"),
        field<Row, &Row::variant>("variant"), work<Row, &Row::work>(), lower_bound,
        amount<Row, &Row::memory>("memory_bytes"), host_use<Row>,
        estimate<Row, lasting, &Lasting::seconds>("sustained_median_s", "sustained_low_s", "sustained_high_s"),
        amount<Row, lasting, &Lasting::clock>("sustained_clock_hz"),
        amount<Row, lasting, &Lasting::instant>("instant_power_w"),
        amount<Row, lasting, &Lasting::limit>("power_limit_w"),
        estimate<Row, lasting, &Lasting::energy>("energy_median_j", "energy_low_j", "energy_high_j"),
        estimate<Row, lasting, &Lasting::forward>("forward_energy_median_j", "forward_energy_low_j",
                                                  "forward_energy_high_j"),
        estimate<Row, lasting, &Lasting::backward>("backward_energy_median_j", "backward_energy_low_j",
                                                   "backward_energy_high_j"),
        estimate<Row, lasting, &Lasting::update>("update_energy_median_j", "update_energy_low_j",
                                                 "update_energy_high_j"),
        field<Row, &Row::time_known>("time_known"), field<Row, &Row::started>("started_utc"),
        field<Row, &Row::description>("description"), field<Row, &Row::remarks>("remarks"));
    return fields;
}

const std::vector<Field<Sample>>& sample_fields()
{
    using Row = Sample;
    static const auto fields = joined<Row>(
        of_launch<&Row::seconds>("launch_s"), of_launch<&Row::data>("data_s"), of_launch<&Row::forward>("forward_s"),
        of_launch<&Row::backward>("backward_s"), of_launch<&Row::update>("update_s"), loss,
        of_launch<&Row::clock>("clock_hz"), of_launch<&Row::conditions, &Conditions::memory_clock>("memory_clock_hz"),
        of_launch<&Row::conditions, &Conditions::watts>("power_w"),
        of_launch<&Row::conditions, &Conditions::celsius>("temperature_c"),
        of_launch<&Row::communication, &Communication::exposed>("exposed_s"),
        of_launch<&Row::communication, &Communication::hidden>("hidden_s"),
        of_launch<&Row::communication, &Communication::bytes>("messages_bytes"),
        field<Row, &Row::disturbance>("disturbance"), used, host_use<Row>, field<Row, &Row::window>("window"),
        of_launch<&Row::launches>("launches"), of_launch<&Row::energy>("energy_j"),
        of_launch<&Row::conditions, &Conditions::instant>("instant_power_w"),
        of_launch<&Row::conditions, &Conditions::limit>("power_limit_w"));
    return fields;
}

const std::vector<Field<PartMeasurement>>& part_fields()
{
    using Row = PartMeasurement;
    static const auto fields = joined<Row>(
        field<Row, &Row::part, &TimedPart::layer>("layer"), field<Row, &Row::part, &TimedPart::kind>("kind"),
        field<Row, &Row::part, &TimedPart::phase>("phase"),
        estimate<Row, &Row::seconds>("time_median_s", "time_low_s", "time_high_s"),
        amount<Row, &Row::seconds, &Estimate<Seconds>::n>("samples"), work<Row, &Row::part, &TimedPart::work>(),
        refetched, field<Row, &Row::part, &TimedPart::implementation>("implementation"));
    return fields;
}

}  // namespace roof
