#include "ert/cupti/chips.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/units.hpp"
#include "ert/cupti/parameters.hpp"

#include <cstdlib>

namespace roof::cupti {
namespace {

bool is_in_nanoseconds(const std::string& dimension)
{
    return dimension == "nanosecond";
}

}  // namespace

Chip::Chip(std::shared_ptr<const Cupti> cupti, std::string name, const Image& availability)
    : cupti_(std::move(cupti)), name_(std::move(name))
{
    auto made = parameters<CUpti_Profiler_Host_Initialize_Params>(host_initialisation.of(cupti_->version()));
    made.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    made.pChipName = name_.c_str();
    made.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    const auto make = cupti_->function<decltype(cuptiProfilerHostInitialize)>("cuptiProfilerHostInitialize");
    const CUptiResult result = make(&made);
    if (result != CUPTI_SUCCESS)
        throw Unsupported("CUPTI counts nothing on the chip " + name_ + " (" + cupti_->describe(result) + ")");
    host_ = made.pHostObject;
}

Chip::~Chip()
{
    auto left =
        parameters<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
    left.pHostObject = host_;
    cupti_->function<decltype(cuptiProfilerHostDeinitialize)>("cuptiProfilerHostDeinitialize")(&left);
}

Image Chip::configuration(const std::vector<std::string>& metrics)
{
    const std::vector<const char*> names = pointers(metrics);
    auto added = parameters<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
        CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
    added.pHostObject = host_;
    added.ppMetricNames = const_cast<const char**>(names.data());
    added.numMetrics = names.size();
    const auto add = cupti_->function<decltype(cuptiProfilerHostConfigAddMetrics)>("cuptiProfilerHostConfigAddMetrics");
    if (const CUptiResult result = add(&added); result != CUPTI_SUCCESS)
        throw Error("the chip " + name_ + " cannot count " + join(metrics, ", ") + " (" + cupti_->describe(result) +
                    ")");

    auto sized = parameters<CUpti_Profiler_Host_GetConfigImageSize_Params>(
        CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
    sized.pHostObject = host_;
    cupti_->call<decltype(cuptiProfilerHostGetConfigImageSize)>("cuptiProfilerHostGetConfigImageSize", &sized);

    Image image(sized.configImageSize);
    auto taken =
        parameters<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
    taken.pHostObject = host_;
    taken.configImageSize = image.size();
    taken.pConfigImage = image.data();
    cupti_->call<decltype(cuptiProfilerHostGetConfigImage)>("cuptiProfilerHostGetConfigImage", &taken);
    return image;
}

std::vector<double> Chip::values(const Image& counted, std::size_t range, const std::vector<std::string>& metrics) const
{
    const std::vector<const char*> names = pointers(metrics);
    std::vector<double> values(metrics.size());
    auto asked = parameters<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
        CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
    asked.pHostObject = host_;
    asked.pCounterDataImage = counted.data();
    asked.counterDataImageSize = counted.size();
    asked.rangeIndex = range;
    asked.ppMetricNames = const_cast<const char**>(names.data());
    asked.numMetrics = names.size();
    asked.pMetricValues = values.data();
    cupti_->call<decltype(cuptiProfilerHostEvaluateToGpuValues)>("cuptiProfilerHostEvaluateToGpuValues", &asked);
    for (std::size_t i = 0; i < metrics.size(); ++i)
        if (is_in_nanoseconds(dimension(metrics[i]))) values[i] *= nanosecond;
    return values;
}

std::string Chip::range_name(const Image& counted, std::size_t range) const
{
    auto asked =
        parameters<CUpti_Profiler_Host_GetRangeName_Params>(CUpti_Profiler_Host_GetRangeName_Params_STRUCT_SIZE);
    asked.pCounterDataImage = counted.data();
    asked.counterDataImageSize = counted.size();
    asked.rangeIndex = range;
    asked.delimiter = "/";
    cupti_->call<decltype(cuptiProfilerHostGetRangeName)>("cuptiProfilerHostGetRangeName", &asked);
    const std::string name = asked.pRangeName == nullptr ? "" : asked.pRangeName;
    std::free(const_cast<char*>(asked.pRangeName));
    return name;
}

std::string Chip::dimension(const std::string& metric) const
{
    auto asked = parameters<CUpti_Profiler_Host_GetMetricProperties_Params>(metric_properties.of(cupti_->version()));
    asked.pHostObject = host_;
    asked.pMetricName = metric.c_str();
    cupti_->call<decltype(cuptiProfilerHostGetMetricProperties)>("cuptiProfilerHostGetMetricProperties", &asked);
    return asked.pDimUnit == nullptr ? "" : asked.pDimUnit;
}

/// The names are those of Nsight Compute, so that the files of both can be read in the same way.
std::string Chip::unit(const std::string& metric) const
{
    const std::string said = dimension(metric);
    if (is_in_nanoseconds(said)) return "s";
    if (said == "instruction") return "inst";
    if (said.ends_with("_sector")) return "sector";
    return said == "math_op" ? "op" : said;
}

}  // namespace roof::cupti
