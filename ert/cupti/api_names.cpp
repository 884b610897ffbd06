#include "ert/cupti/api_names.hpp"

#include <cupti.h>

#include <array>
#include <string_view>

namespace roof::cupti {
namespace {

/// Whether the name ends with "_v" and digits.
bool has_version(std::string_view name)
{
    const std::size_t letters = name.find_last_not_of("0123456789");
    return letters != std::string_view::npos && letters + 1 < name.size() && letters > 0 && name[letters] == 'v' &&
           name[letters - 1] == '_';
}

}  // namespace

std::string plain_api_name(std::string name)
{
    if (has_version(name)) name.resize(name.rfind('_'));
    for (const std::string_view stream : {"_ptsz", "_ptds"})
        if (name.ends_with(stream)) name.resize(name.size() - stream.size());
    if (has_version(name)) name.resize(name.rfind('_'));
    return name;
}

std::string api_name(const Cupti& cupti, ApiDomain domain, std::uint32_t function)
{
    const char* name = nullptr;
    const auto ask = cupti.function<decltype(cuptiGetCallbackName)>("cuptiGetCallbackName");
    const CUpti_CallbackDomain of =
        domain == ApiDomain::runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    if (ask(of, function, &name) != CUPTI_SUCCESS || name == nullptr) return "function " + std::to_string(function);
    return plain_api_name(name);
}

}  // namespace roof::cupti
