#include "ert/base/utc.hpp"

#include <fmt/chrono.h>

namespace roof {

std::string utc_text(std::time_t seconds)
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

std::optional<std::time_t> utc_seconds(const std::string& text, const char* form)
{
    std::tm time{};
    if (::strptime(text.c_str(), form, &time) == nullptr) return std::nullopt;
    return ::timegm(&time);
}

}  // namespace roof
