// PyTorch's profile: Chrome's trace format, with times in microseconds. The files are long, so they are read event by
// event. Times keep all digits, because some count from 1970.
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/operators.hpp"
#include "ert/base/names.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/records.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace roof::analysis {

namespace {

using Json = nlohmann::json;

/// "1690000000000000.123" microseconds -> nanoseconds; nullopt for any other text.
std::optional<std::int64_t> nanoseconds_in(std::string_view microseconds)
{
    const std::size_t point = std::min(microseconds.find('.'), microseconds.size());
    std::string digits(microseconds.substr(0, point));
    std::string_view fraction = microseconds.substr(std::min(point + 1, microseconds.size()));
    if (digits.empty() || digits == "-") return {};
    if (digits.find_first_of("eE") != digits.npos || fraction.find_first_of("eE") != fraction.npos) return {};
    for (std::size_t i = 0; i < 3; ++i) digits += i < fraction.size() ? fraction[i] : '0';
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(digits);
    constexpr std::int64_t farthest = 4'000'000'000'000'000'000;
    return value && *value <= farthest && *value >= -farthest ? value : std::nullopt;
}

/// One event of the trace. Numbers are kept as text.
struct Event {
    std::string phase, category, name, start, duration, process, thread;
    std::map<std::string, std::string, std::less<>> arguments;
    std::vector<std::vector<long long>> dims;  ///< of an operator's inputs
    std::vector<std::string> values, types;    ///< of them
    std::string id;                            ///< of a flow
};

/// In names such as "Memcpy HtoD (Pinned -> Device)".
constexpr std::array<Named<CopyKind>, 4> copy_kinds{{{CopyKind::host_to_device, "HtoD"},
                                                     {CopyKind::device_to_host, "DtoH"},
                                                     {CopyKind::peer, "PtoP"},
                                                     {CopyKind::host_to_host, "HtoH"}}};

Number number_in(const std::string& text)
{
    return parse_number<std::uint64_t>(text);
}

/// Receives the parser's events and adds each entry of `traceEvents` to the row.
class Handler : public nlohmann::json_sax<Json> {
  public:
    Handler(std::string name, ImportedRow& row) : name_(std::move(name)), row_(row) {}

    std::size_t events = 0;
    std::map<std::string, std::string> models;  ///< models of the devices
    OperatorTrace trace;
    std::map<std::string, std::size_t> left;  ///< events by their category, which is none that is read

    bool null() override { return scalar(""); }
    bool boolean(bool value) override { return scalar(value ? "1" : "0"); }
    bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
    bool string(string_t& value) override { return scalar(value); }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override
    {
        ++depth_;
        if (depth_ == event_depth) event_ = {};
        return true;
    }
    bool key(string_t& value) override
    {
        (depth_ == 1 ? section_ : depth_ == event_depth ? key_ : argument_) = value;
        return true;
    }
    bool end_object() override
    {
        if (depth_ == event_depth && section_ == "traceEvents") end_event();
        if (depth_ == event_depth && section_ == "deviceProperties")
            models["gpu:" + event_.arguments["id"]] = event_.arguments["name"];
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override
    {
        ++depth_;
        if (depth_ == event_depth + 3 && argument_ == "Input Dims" && section_ == "traceEvents")
            event_.dims.emplace_back();
        return true;
    }
    bool end_array() override
    {
        --depth_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override
    {
        throw InputError(fmt::format("{}: byte {}: {}", name_, position, error.what()));
    }

  private:
    static constexpr int event_depth = 3;  ///< the document, its list, the event
    /// Categories that repeat what others say, or say nothing about times of devices and operators.
    static constexpr std::array<std::string_view, 9> known_and_left{"python_function",
                                                                    "gpu_user_annotation",
                                                                    "Trace",
                                                                    "overhead",
                                                                    "cuda_sync",
                                                                    "cpu_instant_event",
                                                                    "ac2g",
                                                                    "fwdbwd",
                                                                    ""};
    static constexpr std::string_view module_mark = "nn.Module: ";

    bool scalar(const std::string& value)
    {
        if (depth_ == event_depth && section_ == "deviceProperties") event_.arguments[key_] = value;
        if (section_ != "traceEvents") return true;
        if (depth_ == event_depth) set(value);
        if (depth_ == event_depth + 1 && key_ == "args") event_.arguments[argument_] = value;
        // grid and block are lists within the arguments
        if (depth_ == event_depth + 2 && argument_ == "Concrete Inputs") event_.values.push_back(value);
        if (depth_ == event_depth + 2 && argument_ == "Input type") event_.types.push_back(value);
        if (depth_ >= event_depth + 3 && argument_ == "Input Dims" && !event_.dims.empty())
            event_.dims.back().push_back(parse_number<long long>(value).value_or(-1));
        if (depth_ == event_depth + 2 && key_ == "args" && argument_ != "Concrete Inputs") {
            std::string& list = event_.arguments[argument_];
            list += (list.empty() ? "" : "x") + value;
        }
        return true;
    }

    void set(const std::string& value)
    {
        if (key_ == "ph") event_.phase = value;
        if (key_ == "cat") event_.category = value;
        if (key_ == "name") event_.name = value;
        if (key_ == "ts") event_.start = value;
        if (key_ == "dur") event_.duration = value;
        if (key_ == "pid") event_.process = value;
        if (key_ == "tid") event_.thread = value;
        if (key_ == "id") event_.id = value;
    }

    const std::string& argument(std::string_view name) const
    {
        static const std::string none;
        const auto found = event_.arguments.find(name);
        return found == event_.arguments.end() ? none : found->second;
    }

    std::int64_t time_in(const std::string& text, std::string_view what) const
    {
        if (const auto time = nanoseconds_in(text)) return *time;
        throw InputError(fmt::format("{}: event {}, '{}': its {} '{}' is not a time", name_, events,
                                     printable(event_.name), what, printable(text)));
    }

    void end_event()
    {
        ++events;
        const std::string& is = event_.category;
        const bool kernel = is == "kernel" || is == "Kernel", copy = is == "gpu_memcpy" || is == "Memcpy";
        const bool fill = is == "gpu_memset" || is == "Memset";
        const bool call = is == "cuda_runtime" || is == "cuda_driver" || is == "Runtime";
        if (event_.name == "[memory]") add_memory();
        if (is == "fwdbwd") add_flow();
        const bool is_module = is == "python_function" && event_.name.starts_with(module_mark);
        const bool is_old_range =
            is == "Operator" && kind_in(event_.name) != RangeKind::nvtx && !event_.name.starts_with("autograd::");
        const bool is_operator = is == "cpu_op" || (is == "Operator" && !is_old_range);
        const bool is_range = is == "user_annotation" || is_old_range;
        if (event_.phase != "X") return;
        if (is == "cuda_profiler_range") return add_counters();
        if (!(kernel || copy || fill || call || is_module || is_operator || is_range)) {
            if (std::ranges::find(known_and_left, is) == known_and_left.end()) ++left[is];
            return;
        }
        const std::int64_t from = time_in(event_.start, "start");
        const Seconds start = since_zero(from);
        const Seconds duration{static_cast<double>(time_in(event_.duration, "duration")) * 1e-9};
        if (duration.value < 0) throw InputError(fmt::format("{}: event {}: it ends before it begins", name_, events));
        if (kernel) add_kernel(start, duration);
        if (copy || fill) add_copy(start, duration, fill);
        if (call) add_call(start, duration);
        if (is_operator) add_operator(span_from(from));
        if (is_module) trace.modules.push_back({span_from(from), event_.name.substr(module_mark.size())});
        if (is_range) add_range(span_from(from));
        if (is_range) row_.ranges.push_back({number_in(event_.thread), RangeKind::nvtx, event_.name, start, duration});
    }

    ThreadSpan span_from(std::int64_t from) const
    {
        const std::int64_t begin = from - zero_.value_or(from);
        return {event_.thread, begin, begin + time_in(event_.duration, "duration")};
    }

    /// A range of the program that marks a step or a phase.
    void add_range(const ThreadSpan& span)
    {
        const std::string_view phase = phase_in(event_.name);
        if (kind_in(event_.name) == RangeKind::step) trace.steps.push_back(span);
        if (phase == "forward" || phase == "backward" || phase == "update")
            trace.phases.emplace_back(span, parse_enum<Phase>(phase));
        else if (!phase.empty())
            trace.phases.emplace_back(span, std::nullopt);
    }

    void add_operator(const ThreadSpan& span)
    {
        static const std::map<std::string, Precision, std::less<>> types{{"float", Precision::fp32},
                                                                         {"double", Precision::fp64},
                                                                         {"c10::Half", Precision::fp16},
                                                                         {"c10::BFloat16", Precision::bf16}};
        const auto type = types.find(event_.types.empty() ? "" : event_.types.front());
        const Precision precision = type == types.end() ? Precision::fp32 : type->second;
        const bool has_shapes = std::ranges::any_of(event_.dims, [](const auto& dims) { return !dims.empty(); });
        OperatorSpan made{span, event_.name, {}, has_shapes};
        made.work =
            work_of({event_.name, event_.dims, event_.values, static_cast<double>(traits(precision).storage_bytes)});
        if (!made.work) made.work = work_of_compiled();
        if (made.work && made.work->is_contraction && trace.precision.empty() && type != types.end())
            trace.precision = traits(precision).name;
        trace.operators.push_back(std::move(made));
    }

    /// What Inductor says of a kernel that it made. Nothing for other operators.
    std::optional<OperatorWork> work_of_compiled() const
    {
        const auto gigabytes = parse_number<double>(argument("kernel_num_gb"));
        const double flops = parse_number<double>(argument("kernel_flop")).value_or(0);
        if (!gigabytes && flops <= 0) return {};
        const Bytes bytes{gigabytes.value_or(0) * 1e9};
        return OperatorWork{"compiled", Flops{flops}, bytes, bytes, flops > 0};
    }

    void add_flow()
    {
        if (event_.phase != "s" && event_.phase != "f") return;
        const std::int64_t at = time_in(event_.start, "start");
        since_zero(at);
        Flow& flow = trace.flows[event_.id];
        const bool begins = event_.phase == "s";
        (begins ? flow.from_thread : flow.to_thread) = event_.thread;
        (begins ? flow.from : flow.to) = at - *zero_;
    }

    Seconds since_zero(std::int64_t nanoseconds)
    {
        if (!zero_) zero_ = nanoseconds;
        return {static_cast<double>(nanoseconds - *zero_) * 1e-9};
    }

    /// A record of PyTorch's device allocator: the allocated bytes, negative for a release to the pool.
    void add_memory()
    {
        const std::string& bytes = argument("Bytes");
        const bool releases = bytes.starts_with('-');
        const Number size = number_in(releases ? bytes.substr(1) : bytes);
        if (argument("Device Type") != "1" || !size) return;
        MemoryRecord record;
        record.cause.device = "gpu:" + argument("Device Id");
        record.action = releases ? MemoryAction::release : MemoryAction::allocate;
        record.memory = MemoryKind::pool;
        record.address = number_in(argument("Addr"));
        record.bytes = bytes_of(size);
        record.start = since_zero(time_in(event_.start, "start"));
        row_.memory.push_back(std::move(record));
    }

    Cause cause() const
    {
        const std::string& device = argument("device");
        return {"gpu:" + (device.empty() ? "0" : device),
                number_in(argument("stream")),
                number_in(argument("correlation")),
                {},
                {}};
    }

    void add_kernel(Seconds start, Seconds duration)
    {
        row_.kernels.push_back({cause(), event_.name, start, duration, argument("grid"), argument("block"),
                                number_in(argument("registers per thread")),
                                bytes_of(number_in(argument("shared memory"))), number_in(argument("graph node id"))});
    }

    /// CUPTI's counters of a kernel. Its times are no times: the profiler divides the whole equally.
    void add_counters()
    {
        for (const auto& [metric, text] : event_.arguments)
            if (const auto value = parse_number<double>(text))
                row_.counters.push_back(
                    {"gpu:" + event_.process, CounterScope::kernel, {}, {}, event_.name, ranges_, metric, *value, {}});
        ++ranges_;
    }

    void add_copy(Seconds start, Seconds duration, bool fill)
    {
        const std::size_t arrow = event_.name.find("->");
        const bool both = !fill && arrow != std::string::npos;
        row_.copies.push_back(
            {cause(),
             fill ? CopyKind::fill : value_found_in(copy_kinds, event_.name).value_or(CopyKind::device_to_device),
             both ? memory_in(std::string_view(event_.name).substr(0, arrow)) : std::nullopt,
             both ? memory_in(std::string_view(event_.name).substr(arrow)) : std::nullopt,
             bytes_of(number_in(argument("bytes"))), start, duration});
    }

    void add_call(Seconds start, Seconds duration)
    {
        const ApiDomain domain = event_.category == "cuda_driver" ? ApiDomain::driver : ApiDomain::runtime;
        row_.calls.push_back({number_in(event_.thread),
                              number_in(argument("correlation")),
                              {},
                              {},
                              domain,
                              event_.name,
                              start,
                              duration});
    }

    std::string name_;
    ImportedRow& row_;
    int depth_ = 0;
    std::uint64_t ranges_ = 0;  ///< with counters
    std::string section_, key_, argument_;
    Event event_;
    std::optional<std::int64_t> zero_;
};

/// The FLOPs of a step on a GPU, from the shapes of the operators that the host ran in it, where the trace has them.
void count_by_shapes(const OperatorTrace& trace, Imported& imported)
{
    if (imported.rows.size() > 1) return;  // they are of all devices
    ImportedRow host;
    Imported unused;
    make_layers(trace, host, unused);
    for (const std::string& missing : unused.missing)
        if (missing.starts_with(without_formula)) imported.missing.push_back(missing);
    const Work& work = host.measurement.work;
    if (work.flops.value <= 0) return;
    Measurement& row = imported.rows.back().measurement;
    row.work.flops = work.flops;
    row.work.executed = work.executed;
    row.work.known = Known::analytic;
    if (!trace.precision.empty()) row.point.set("precision", trace.precision);
    imported.missing.back() = "bytes: this is a recording of times; Nsight Compute counts them";
    imported.remarks.push_back("FLOPs are those of one step's operators that have a formula, from their shapes");
}

}  // namespace

bool is_kineto(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '{' && text.find("\"traceEvents\"") != text.npos;
}

Imported read_kineto(const std::string& text, const std::string& name, const std::string& row_name)
{
    Imported imported{"PyTorch profiler", {}, {}, {}, {}};
    ImportedRow row = imported_row(row_name, "gpu:0");
    Handler handler(name, row);
    Json::sax_parse(text, &handler);
    for (const auto& [category, count] : handler.left)
        imported.remarks.push_back(
            fmt::format("not read, of '{}': {} event{}", printable(category), count, count == 1 ? "" : "s"));
    const bool has_gpu = !row.kernels.empty() || !row.calls.empty() || !row.copies.empty() || !row.counters.empty();
    if (!has_gpu && handler.trace.operators.empty())
        throw InputError(fmt::format("{}: none of its {} events is an operator, a kernel, a copy or a CUDA call", name,
                                     handler.events));
    if (!has_gpu) {
        row.measurement.device = "cpu";
        make_layers(handler.trace, row, imported);
        row.ranges.clear();  // a time breakdown is one of a GPU
        row.memory.clear();
        imported.rows.push_back(std::move(row));
        return imported;
    }
    label_calls(handler.trace, row);
    add_timeline(std::move(row), handler.models, imported);
    count_by_shapes(handler.trace, imported);
    add_counted_flops(imported);
    return imported;
}

}  // namespace roof::analysis
