#include "analysis/recorded/counted_work.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace roof::analysis {

namespace {

constexpr double sector = 32;

/// The first of the names that is there with that unit. Another unit is as good as absent: it is not what the name promises.
std::optional<double> value_of(const Metrics& metrics, std::initializer_list<std::string> names, std::string_view unit)
{
    for (const std::string& name : names) {
        const auto metric = metrics.find(name);
        if (metric != metrics.end() && (metric->second.unit == unit || metric->second.unit.empty()))
            return metric->second.value;
    }
    return {};
}

std::optional<double> thread_instructions(const Metrics& metrics, const std::string& operation)
{
    const std::string name = "__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
    return value_of(metrics, {"smsp" + name, "sm" + name}, "inst");
}

struct Scalar {
    std::string_view precision;
    std::array<std::string_view, 3> operations;  ///< add, mul, fma
    double weight;                               ///< of an addition; a multiply-add counts twice that
};

constexpr std::array scalars{
    Scalar{"fp64", {"dadd", "dmul", "dfma"}, 1},
    Scalar{"fp32", {"fadd", "fmul", "ffma"}, 1},
    Scalar{"fp32", {"fadd2", "fmul2", "ffma2"}, 2},
    Scalar{"fp16", {"hadd", "hmul", "hfma"}, 2},
};

void count_scalar(const Metrics& metrics, const Scalar& scalar, CountedWork& work)
{
    std::vector<std::string> absent;
    double flops = 0;
    for (std::size_t i = 0; i < scalar.operations.size(); ++i) {
        const std::string operation(scalar.operations[i]);
        const auto count = thread_instructions(metrics, operation);
        if (!count) absent.push_back(operation);
        flops += count.value_or(0) * scalar.weight * (i == 2 ? 2 : 1);
    }
    if (absent.empty())
        work.flops[std::string(scalar.precision)] += Flops{flops};
    else if (absent.size() < scalar.operations.size())
        work.missing.push_back(
            fmt::format("FLOPs of {}: {} not counted, and a part is no sum", scalar.precision, join(absent, " and ")));
}

std::string tensor_precision(std::string_view source)
{
    for (const std::string_view precision : {"fp64", "tf32_dst", "bf16_dst", "fp16", "fp8", "fp4", "int8"})
        if (source.starts_with(precision)) return std::string(precision.substr(0, precision.find('_')));
    return {};
}

/// FLOPs of tensor cores: parents, and parts by sparsity where the parent is not there. Integer operations are no FLOPs.
void count_tensor(const Metrics& metrics, CountedWork& work)
{
    constexpr std::string_view stem = "sm__ops_path_tensor_src_", sum = ".sum", part = "_sparsity_o";
    for (auto metric = metrics.lower_bound(stem); metric != metrics.end(); ++metric) {
        const std::string_view name = metric->first;
        if (!name.starts_with(stem)) break;
        if (!name.ends_with(sum)) continue;
        const std::size_t at = name.find(part);
        if (at != name.npos && metrics.contains(std::string(name.substr(0, at)) + std::string(sum))) continue;
        const std::string precision = tensor_precision(name.substr(stem.size()));
        if (precision.empty())
            work.missing.push_back(fmt::format("FLOPs of {}: of no precision that is known here", name));
        else if (precision != "int8" && metric->second.value > 0)
            work.flops[precision] += Flops{metric->second.value};
    }
    if (metrics.contains("sm__inst_executed_pipe_tensor.sum"))
        work.missing.push_back(
            "FLOPs of tensor cores: sm__inst_executed_pipe_tensor counts instructions, whose FLOPs differ by chip and "
            "type; ask for sm__ops_path_tensor_src_*.sum");
}

void count_bytes(const Metrics& metrics, const std::string& level, const std::string& bytes, const std::string& sectors,
                 CountedWork& work)
{
    const auto whole = value_of(metrics, {bytes + ".sum"}, "byte");
    const auto read = value_of(metrics, {bytes + "_read.sum", bytes + "_op_read.sum"}, "byte");
    const auto written = value_of(metrics, {bytes + "_write.sum", bytes + "_op_write.sum"}, "byte");
    const auto all_sectors = value_of(metrics, {sectors + ".sum"}, "sector");
    const auto sectors_read = value_of(metrics, {sectors + "_read.sum", sectors + "_op_read.sum"}, "sector");
    const auto sectors_written = value_of(metrics, {sectors + "_write.sum", sectors + "_op_write.sum"}, "sector");
    if (whole)
        work.bytes[level] = {*whole};
    else if (read && written)
        work.bytes[level] = {*read + *written};
    else if (all_sectors)
        work.bytes[level] = {sector * *all_sectors};
    else if (sectors_read && sectors_written)
        work.bytes[level] = {sector * (*sectors_read + *sectors_written)};
    else if (read || written || sectors_read || sectors_written)
        work.missing.push_back(fmt::format("bytes at {}: only one direction was counted", level));
}

struct ProcessorEvent {
    std::string_view end;  ///< of the event's name, in capitals
    std::string_view precision;
    double flops;
};

/// Intel's events count a multiply-add twice already.
constexpr std::array processor_events{
    ProcessorEvent{"SCALAR_SINGLE", "fp32", 1},      ProcessorEvent{"128B_PACKED_SINGLE", "fp32", 4},
    ProcessorEvent{"256B_PACKED_SINGLE", "fp32", 8}, ProcessorEvent{"512B_PACKED_SINGLE", "fp32", 16},
    ProcessorEvent{"SCALAR_DOUBLE", "fp64", 1},      ProcessorEvent{"128B_PACKED_DOUBLE", "fp64", 2},
    ProcessorEvent{"256B_PACKED_DOUBLE", "fp64", 4}, ProcessorEvent{"512B_PACKED_DOUBLE", "fp64", 8},
};

void count_processor(const Metrics& metrics, CountedWork& work)
{
    constexpr std::string_view stem = "FP_ARITH_INST_RETIRED";
    for (const std::string_view precision : {"fp32", "fp64"}) {
        double flops = 0;
        std::size_t seen = 0;
        for (const ProcessorEvent& event : processor_events) {
            if (event.precision != precision) continue;
            const auto metric = std::ranges::find_if(metrics, [&](const auto& m) {
                return m.first.starts_with(stem) && m.first.size() == stem.size() + 1 + event.end.size() &&
                       m.first.ends_with(event.end);  // one character between: '.', ':' or '_'
            });
            if (metric == metrics.end()) continue;
            ++seen;
            flops += event.flops * metric->second.value;
        }
        if (seen == 4)
            work.flops[std::string(precision)] += Flops{flops};
        else if (seen > 0)
            work.missing.push_back(fmt::format(
                "FLOPs of {}: only {} of the 4 widths were counted (scalar, 128B, 256B, 512B)", precision, seen));
    }
}

bool holds_any(std::string_view name, std::initializer_list<std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

/// AMD's events up to Zen 4 do not tell single precision from double: their FLOPs have no precision.
void count_amd(const Metrics& metrics, CountedWork& work)
{
    for (const auto& [name, metric] : metrics) {
        if (!holds_any(name, {"FP_RET_SSE_AVX_OPS.ALL", "RETIRED_SSE_AVX_FLOPS_ALL", "RETIRED_SSE_AVX_FLOPS:ANY"}))
            continue;
        work.flops[""] += Flops{metric.value};
        work.missing.push_back("precision: AMD's " + name + " counts single and double together");
    }
}

/// Lines of 64 bytes between the memory and the last cache, of all channels; perf gives some of them in bytes already.
void count_memory_lines(const Metrics& metrics, CountedWork& work)
{
    constexpr double line = 64;
    double bytes = 0;
    bool read = false, written = false;
    for (const auto& [name, metric] : metrics) {
        const bool reads = holds_any(name, {"CAS_COUNT_READ", "CAS_COUNT.RD", "CAS_COUNT_RD", "UMC_CAS_CMD.RD"});
        const bool writes = holds_any(name, {"CAS_COUNT_WRITE", "CAS_COUNT.WR", "CAS_COUNT_WR", "UMC_CAS_CMD.WR"});
        if (!reads && !writes) continue;
        bytes += metric.value * (metric.unit == "byte" ? 1 : line);
        read = read || reads;
        written = written || writes;
    }
    if (read && written)
        work.bytes["DRAM"] = {bytes};
    else if (read || written)
        work.missing.push_back("bytes at DRAM: only one direction was counted");
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
    for (const Scalar& scalar : scalars) count_scalar(metrics, scalar, work);
    count_tensor(metrics, work);
    count_processor(metrics, work);
    count_amd(metrics, work);
    if (work.flops.empty() && work.missing.empty()) work.missing.push_back("FLOPs: no metric of them");
    count_memory_lines(metrics, work);
    count_bytes(metrics, "L1", "l1tex__t_bytes", "l1tex__t_sectors", work);
    // From compute capability 9.0 on, bulk copies go by a pipe that l1tex__t_bytes does not see.
    for (const char* bulk :
         {"l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum", "l1tex__m_l1tex2xbar_write_bytes_pipe_tma.sum"})
        if (const auto bytes = value_of(metrics, {bulk}, "byte"); bytes && work.bytes.contains("L1"))
            work.bytes["L1"] += Bytes{*bytes};
    count_bytes(metrics, "L2", "lts__t_bytes", "lts__t_sectors", work);
    count_bytes(metrics, "DRAM", "dram__bytes", "dram__sectors", work);
    if (work.bytes.empty()) work.missing.push_back("bytes: no metric of them at any level");
    return work;
}

}  // namespace roof::analysis
