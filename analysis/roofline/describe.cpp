// Placements in sentences.
#include "analysis/roofline/place.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

std::string share_text(const Placement& p)
{
    if (p.fraction() >= shown_as_above)
        return (p.roof_may_be_higher ? "≤ 100%" : "> 100%") + (p.served_by.empty() ? "" : ", from " + p.served_by);
    return (p.is_at_most() ? "≤ " : "") + percent(p.fraction());
}

std::string_view headroom_sense(bool roof_may_be_higher, bool bytes_may_be_more)
{
    if (roof_may_be_higher && bytes_may_be_more) return "about ";
    return roof_may_be_higher ? "at least " : bytes_may_be_more ? "up to " : "";
}

std::string accesses_text(const LevelPlacement& level)
{
    constexpr double shown = 1.05;
    const double times = level.low.value > 0 ? 1 + level.again / level.low : 1;
    if (times < shown) return level.access;
    return fmt::format("{}{}each byte {:.2g} times", level.access, level.access.empty() ? "" : ", ", times);
}

std::string roof_name(const Placement& p, const std::string& roof)
{
    const auto level = std::ranges::find(p.levels, roof, &LevelPlacement::level);
    const std::string accesses = level == p.levels.end() ? "" : accesses_text(*level);
    return accesses.empty() ? roof : roof + " " + accesses;
}

std::string bytes_text(const LevelBytes& bytes)
{
    return format_si(bytes.low.value, "B") + (bytes.high > bytes.low ? " to " + format_si(bytes.high.value, "B") : "");
}

std::string explain(const Placement& p, const std::string& name)
{
    std::string what = name.empty() ? p.name : name;
    if (name.empty() && p.scope == Scope::step && p.batch > 0) what += fmt::format(" batch {} step", p.batch);
    if (p.scope == Scope::layer && p.phase) what += " " + p.phase_name();
    std::string text = fmt::format("{}: {} in {}", what, rate_text(p.flops.value, "FLOP", p.is_lower_bound),
                                   with_interval(p.seconds, "s"));
    if (p.flops.value > 0) text += " = " + rate_text(p.rate.median.value, "FLOP/s", p.is_lower_bound);
    if (!p.levels.empty()) {
        const LevelPlacement& farthest = p.levels.back();
        text += fmt::format("; {} at least to {}, {} FLOP/B", format_si(farthest.low.value, "B"), farthest.level,
                            intensity_text(farthest.intensity_low, farthest.intensity_high));
    }
    if (p.link)
        text += fmt::format("; {} over each link, {} FLOP/B", format_si(p.link->low.value, "B"),
                            plain_number(p.link->intensity_high.value, 2));
    const std::string_view lasting = p.lasting ? "lasting " : "";
    if (!p.binds.empty())
        text += (p.is_sum ? fmt::format("; its {}roofs allow {}, most of it {}: ", lasting,
                                        format_duration(p.attainable.value), roof_name(p, p.binds))
                          : fmt::format("; the {}{} roof allows {}: ", lasting, roof_name(p, p.binds),
                                        format_duration(p.attainable.value))) +
                (p.fraction() >= shown_as_above ? fmt::format("it took 1/{} of that", plain_number(p.fraction()))
                                                : share_text(p) + " reached");
    return text + ".";
}

std::string remarks_on(const Placement& p)
{
    if (p.levels.empty() || !(p.flops.value > 0)) return {};
    const LevelPlacement& farthest = p.levels.back();
    std::string text;
    if (is_above(farthest, p.rate.median) && !p.served_by.empty())
        text += fmt::format(" Above the {} roof: part of these bytes was still in a cache.", farthest.level);
    if (farthest.high > farthest.low && farthest.roof.value > 0)
        text += fmt::format(" Moved at every use (no reuse) they would be {} and take {} at {}'s roof.",
                            format_si(farthest.high.value, "B"), format_duration((farthest.high / farthest.roof).value),
                            farthest.level);
    return text;
}

}  // namespace roof::analysis
