#include "analysis/recordings/counted_work.hpp"

#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/counters/counter_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace roof::analysis {
namespace {

constexpr double sector = 32;

/// The first of these metrics that exists with this unit.
std::optional<double> value_of(const Metrics& metrics, std::initializer_list<std::string> names, std::string_view unit)
{
    for (const std::string& name : names) {
        const auto metric = metrics.find(name);
        if (metric != metrics.end() && (metric->second.unit == unit || metric->second.unit.empty()))
            return metric->second.value;
    }
    return {};
}

/// Metrics that are summed to a quantity. All of them are needed.
struct Sum {
    std::string precision;
    std::vector<const CounterMetric*> terms;
};

/// The precision in names such as "flops.fp32" and "tensor.bf16" if the quantity is of that kind; otherwise empty.
std::string precision_in(const std::string& quantity, std::string_view kind)
{
    return quantity.starts_with(kind) ? quantity.substr(kind.size()) : std::string{};
}

/// Instructions outside tensor cores, by quantity and source. Packed pairs are a separate sum, because most chips have
/// none.
std::map<std::pair<std::string, std::string>, Sum> scalar_sums()
{
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const CounterMetric& metric : built_in_counter_table().metrics) {
        const std::string precision = precision_in(metric.quantity, "flops.");
        if (precision.empty()) continue;
        Sum& sum = sums[{metric.quantity, metric.source}];
        sum.precision = precision;
        sum.terms.push_back(&metric);
    }
    return sums;
}

/// "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum" -> "ffma".
std::string operation_in(std::string_view metric)
{
    constexpr std::string_view before = "_op_", after = "_pred_on";
    const std::size_t begin = std::min(metric.find(before), metric.size() - before.size()) + before.size();
    return std::string(metric.substr(begin, metric.find(after) - begin));
}

void count_scalar(const Metrics& metrics, const Sum& sum, CountedWork& work)
{
    std::vector<std::string> absent;
    double flops = 0;
    for (const CounterMetric* const term : sum.terms) {
        // Older versions of Nsight Compute name the same metric "sm__sass_…" instead of "smsp__sass_…".
        const std::string older = "sm" + term->metric.substr(std::string_view("smsp").size());
        const auto count = value_of(metrics, {term->metric, older}, "inst");
        if (!count) absent.push_back(operation_in(term->metric));
        flops += count.value_or(0) * term->factor;
    }
    if (absent.empty())
        work.flops[sum.precision] += Flops{flops};
    else if (absent.size() < sum.terms.size())
        work.missing.push_back(
            fmt::format("FLOPs of {}: {} not counted, so the sum is incomplete", sum.precision, join(absent, " and ")));
}

/// The tensor-core metric whose sum or part by sparsity this is; null for any other metric.
const CounterMetric* whole_tensor_metric(const std::string& name)
{
    constexpr std::string_view part = "_sparsity_o", sum = ".sum";
    const std::size_t at = name.find(part);
    const std::string whole = at == name.npos ? name : name.substr(0, at) + std::string(sum);
    return first_in(built_in_counter_table().metrics,
                    [&](const CounterMetric& m) { return m.metric == whole && m.quantity.starts_with("tensor."); });
}

struct TensorMetrics {
    std::set<std::string> names, precisions;
};

std::vector<TensorMetrics> tensor_metrics_of_families()
{
    const CounterTable& table = built_in_counter_table();
    std::vector<TensorMetrics> all;
    for (const ChipFamily& family : table.families) {
        TensorMetrics& of_family = all.emplace_back();
        for (const CounterMetric& metric : table.metrics_of(family, "all")) {
            if (!metric.quantity.starts_with("tensor.")) continue;
            of_family.names.insert(metric.metric);
            of_family.precisions.insert(precision_in(metric.quantity, "tensor."));
        }
    }
    return all;
}

/// Names the precisions of tensor cores that each chip with the counted metrics has, and that no metric counts.
void list_uncounted_tensor_work(const Metrics& metrics, CountedWork& work)
{
    static const std::vector<TensorMetrics> families = tensor_metrics_of_families();
    TensorMetrics counted;
    bool has_scalar = false;
    for (const auto& [name, metric] : metrics) {
        has_scalar = has_scalar || name.find("_sass_thread_inst_executed_op_") != name.npos;
        if (const CounterMetric* const known = whole_tensor_metric(name)) {
            counted.names.insert(known->metric);
            counted.precisions.insert(precision_in(known->quantity, "tensor."));
        }
    }
    if (counted.names.empty()) {
        if (has_scalar) work.missing.emplace_back("FLOPs of tensor cores: there is no metric");
        return;
    }
    std::optional<std::set<std::string>> missing;
    for (const TensorMetrics& family : families) {
        if (!std::ranges::includes(family.names, counted.names)) continue;
        if (!missing) missing = family.precisions;
        std::erase_if(*missing, [&](const std::string& precision) {
            return counted.precisions.contains(precision) || !family.precisions.contains(precision);
        });
    }
    if (missing && !missing->empty())
        work.missing.push_back(fmt::format("FLOPs of tensor cores in {}: there is no metric",
                                           join(std::vector<std::string>(missing->begin(), missing->end()), ", ")));
}

/// FLOPs of tensor cores: the sums, or the metrics by sparsity if there is no sum. Integer operations are excluded.
void count_tensor(const Metrics& metrics, CountedWork& work)
{
    constexpr std::string_view stem = "sm__ops_path_tensor_src_", sum = ".sum";
    for (auto metric = metrics.lower_bound(stem); metric != metrics.end(); ++metric) {
        const std::string& name = metric->first;
        if (!name.starts_with(stem)) break;
        if (!name.ends_with(sum)) continue;
        const CounterMetric* const known = whole_tensor_metric(name);
        if (known != nullptr && known->metric != name && metrics.contains(known->metric)) continue;
        const std::string precision = known == nullptr ? "" : precision_in(known->quantity, "tensor.");
        if (precision.empty())
            work.missing.push_back(fmt::format("FLOPs of {}: the precision is unknown", name));
        else if (precision != "int8" && metric->second.value > 0)
            work.flops[precision] += Flops{known->factor * metric->second.value};
    }
    if (metrics.contains("sm__inst_executed_pipe_tensor.sum"))
        work.missing.push_back(
            "FLOPs of tensor cores: sm__inst_executed_pipe_tensor counts instructions, whose FLOPs differ by chip and "
            "type; ask for sm__ops_path_tensor_src_*.sum");
}

/// Adds traffic that the main metric of the level excludes.
void add_other_traffic(const Metrics& metrics, const std::string& level, const std::string& main_metric,
                       CountedWork& work)
{
    if (!work.bytes.contains(level)) return;
    for (const CounterMetric& metric : built_in_counter_table().metrics)
        if (metric.quantity == "bytes." + level && metric.metric != main_metric)
            work.bytes[level] += Bytes{metric.factor * value_of(metrics, {metric.metric}, "byte").value_or(0)};
}

void count_bytes(const Metrics& metrics, const std::string& level, const std::string& bytes, const std::string& sectors,
                 CountedWork& work)
{
    bool has_one_direction = false;
    for (const auto& [name, unit, size] : {std::tuple{bytes, "byte", 1.0}, {sectors, "sector", sector}}) {
        const auto read = value_of(metrics, {name + "_read.sum", name + "_op_read.sum"}, unit);
        const auto written = value_of(metrics, {name + "_write.sum", name + "_op_write.sum"}, unit);
        auto whole = value_of(metrics, {name + ".sum"}, unit);
        if (!whole && read && written) whole = *read + *written;
        if (whole) {
            work.bytes[level] = {size * *whole};
            return;
        }
        has_one_direction = has_one_direction || read || written;
    }
    if (has_one_direction) work.missing.push_back(fmt::format("bytes at {}: only one direction was counted", level));
}

/// The names of this project's own counts of a processor: by events (cpu/counters) and under valgrind
/// (tools/roof/programs).
void count_own(const Metrics& metrics, CountedWork& work)
{
    constexpr std::string_view flops = "FLOPs of ";
    constexpr std::array<std::pair<std::string_view, const char*>, 6> bytes{{{"bytes of operands", "L1"},
                                                                             {"lines into L1", "L2"},
                                                                             {"lines into L2", "L3"},
                                                                             {"lines from memory", "DRAM"},
                                                                             {"read from memory", "DRAM"},
                                                                             {"written to memory", "DRAM"}}};
    for (const auto& [name, metric] : metrics) {
        if (metric.unit == "FLOP" && name.starts_with(flops)) {
            const std::string kind = name.substr(flops.size());
            work.flops[kind.substr(0, kind.find(' '))] += Flops{metric.value};  // "fp32 by FMA, 256 bits"
        }
        const auto known = std::ranges::find(bytes, name, [](const auto& entry) { return entry.first; });
        if (known != bytes.end() && metric.unit == "byte") work.bytes[known->second] += Bytes{metric.value};
    }
}

}  // namespace

Flops CountedWork::total() const
{
    Flops sum{};
    for (const auto& [precision, count] : flops) sum += count;
    return sum;
}

std::string CountedWork::precision() const
{
    const auto most = std::ranges::max_element(flops, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == flops.end() ? std::string{} : most->first;
}

CountedWork count_work(const Metrics& metrics)
{
    CountedWork work;
    static const auto sums = scalar_sums();
    for (const auto& [key, sum] : sums) count_scalar(metrics, sum, work);
    count_tensor(metrics, work);
    list_uncounted_tensor_work(metrics, work);
    count_own(metrics, work);
    if (work.flops.empty() && work.missing.empty()) work.missing.push_back("FLOPs: there is no metric");
    count_bytes(metrics, "L1", "l1tex__t_bytes", "l1tex__t_sectors", work);
    add_other_traffic(metrics, "L1", "l1tex__t_bytes.sum", work);
    if (const auto bytes = value_of(metrics, {"smsp__sass_data_bytes_mem_shared.sum"}, "byte"))
        work.bytes["shared"] = {*bytes};
    count_bytes(metrics, "L2", "lts__t_bytes", "lts__t_sectors", work);
    // An access to the far partition of an L2 is counted at the near slice and, from the fabric, at the far one.
    const auto fabric = value_of(metrics, {"lts__t_sectors_srcunit_ltcfabric.sum"}, "sector");
    if (fabric && work.bytes.contains("L2")) work.bytes["L2"].value -= sector * *fabric;
    count_bytes(metrics, "DRAM", "dram__bytes", "dram__sectors", work);
    if (work.bytes.empty()) work.missing.push_back("bytes: there is no metric at any level");
    return work;
}

}  // namespace roof::analysis
