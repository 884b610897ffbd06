#include "ert/cupti/open_ranges.hpp"

#include "ert/cupti/nvtx_parameters.hpp"
#include "ert/cupti/range_index.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace roof::cupti {
namespace {

constexpr std::array<CUpti_CallbackId, 5> range_calls{
    CUPTI_CBID_NVTX_nvtxRangePushA, CUPTI_CBID_NVTX_nvtxRangePushEx, CUPTI_CBID_NVTX_nvtxRangePop,
    CUPTI_CBID_NVTX_nvtxDomainRangePushEx, CUPTI_CBID_NVTX_nvtxDomainRangePop};

template <class Parameters>
const Parameters& as(const CUpti_NvtxData& data)
{
    return *static_cast<const Parameters*>(data.functionParams);
}

std::string text(const char* words)
{
    return words == nullptr ? "" : words;
}

std::string name_in(const nvtxEventAttributes_t* attributes)
{
    if (attributes == nullptr || attributes->messageType != NVTX_MESSAGE_TYPE_ASCII) return "";
    return text(attributes->message.ascii);
}

}  // namespace

void OpenRanges::push(std::uint32_t thread, const void* domain, std::string name)
{
    const std::lock_guard lock(mutex_);
    threads_[thread].push_back({domain, std::move(name), ++opened_});
}

void OpenRanges::pop(std::uint32_t thread, const void* domain)
{
    const std::lock_guard lock(mutex_);
    std::vector<Open>& open = threads_[thread];
    const auto last =
        std::find_if(open.rbegin(), open.rend(), [&](const Open& range) { return range.domain == domain; });
    if (last != open.rend()) open.erase(std::next(last).base());
    if (open.empty()) threads_.erase(thread);
}

std::span<const CUpti_CallbackId> OpenRanges::calls()
{
    return range_calls;
}

void OpenRanges::on_call(std::uint32_t thread, CUpti_CallbackId call, const CUpti_NvtxData& data)
{
    switch (call) {
        case CUPTI_CBID_NVTX_nvtxRangePushA:
            return push(thread, nullptr, text(as<nvtxRangePushA_params>(data).message));
        case CUPTI_CBID_NVTX_nvtxRangePushEx:
            return push(thread, nullptr, name_in(as<nvtxRangePushEx_params>(data).eventAttrib));
        case CUPTI_CBID_NVTX_nvtxRangePop:
            return pop(thread, nullptr);
        case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
            const auto& given = as<nvtxDomainRangePushEx_params>(data);
            return push(thread, given.domain, name_in(given.core.eventAttrib));
        }
        case CUPTI_CBID_NVTX_nvtxDomainRangePop:
            return pop(thread, as<nvtxDomainRangePop_params>(data).domain);
        default:
            return;
    }
}

Label OpenRanges::label(std::uint32_t thread) const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string_view> innermost_first;
    if (const auto found = threads_.find(thread); found != threads_.end())
        for (auto range = found->second.rbegin(); range != found->second.rend(); ++range)
            innermost_first.push_back(range->name);
    Label label = label_in(innermost_first);
    if (label.phase.empty()) label.phase = phase_opened_last();
    return label;
}

std::string OpenRanges::phase_opened_last() const
{
    std::uint64_t last = 0;
    std::string_view phase;
    for (const auto& [thread, open] : threads_)
        for (const Open& range : open)
            if (range.order > last && !phase_in(range.name).empty()) {
                last = range.order;
                phase = phase_in(range.name);
            }
    return std::string(phase);
}

bool OpenRanges::is_within(const std::string& wanted) const
{
    const std::lock_guard lock(mutex_);
    return std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
        return std::any_of(thread.second.begin(), thread.second.end(),
                           [&](const Open& range) { return is_named(range.name, wanted); });
    });
}

}  // namespace roof::cupti
