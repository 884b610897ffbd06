// A moment as rows and looks state it: "2026-11-29T04:57:36Z", UTC in whole seconds.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace roof {

std::string utc_text(std::time_t seconds);
/// Seconds since 1970; none for a text of another form. `form`: as strptime() has it.
std::optional<std::time_t> utc_seconds(const std::string& text, const char* form = "%Y-%m-%dT%H:%M:%SZ");

}  // namespace roof
