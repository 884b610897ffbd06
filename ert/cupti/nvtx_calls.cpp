#include "ert/cupti/nvtx_calls.hpp"

#include "ert/cupti/nvtx_parameters.hpp"

#include <array>

namespace roof::cupti {
namespace {

constexpr std::array<CUpti_CallbackId, 5> calls{CUPTI_CBID_NVTX_nvtxRangePushA, CUPTI_CBID_NVTX_nvtxRangePushEx,
                                                CUPTI_CBID_NVTX_nvtxRangePop, CUPTI_CBID_NVTX_nvtxDomainRangePushEx,
                                                CUPTI_CBID_NVTX_nvtxDomainRangePop};

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

std::span<const CUpti_CallbackId> range_calls()
{
    return calls;
}

std::optional<RangeCall> range_call(CUpti_CallbackId call, const CUpti_NvtxData& data)
{
    switch (call) {
        case CUPTI_CBID_NVTX_nvtxRangePushA:
            return RangeCall{true, nullptr, text(as<nvtxRangePushA_params>(data).message)};
        case CUPTI_CBID_NVTX_nvtxRangePushEx:
            return RangeCall{true, nullptr, name_in(as<nvtxRangePushEx_params>(data).eventAttrib)};
        case CUPTI_CBID_NVTX_nvtxRangePop:
            return RangeCall{false, nullptr, ""};
        case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
            const auto& given = as<nvtxDomainRangePushEx_params>(data);
            return RangeCall{true, given.domain, name_in(given.core.eventAttrib)};
        }
        case CUPTI_CBID_NVTX_nvtxDomainRangePop:
            return RangeCall{false, as<nvtxDomainRangePop_params>(data).domain, ""};
        default:
            return std::nullopt;
    }
}

}  // namespace roof::cupti
