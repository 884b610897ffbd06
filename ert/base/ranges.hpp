// What std::ranges lacks before C++23: ranges as vectors, places as pointers, membership.
#pragma once

#include <algorithm>
#include <functional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace roof {

/// What `make` makes of each of the values, in their order.
template <std::ranges::input_range Values, class Make>
auto mapped(Values&& values, const Make& make)
{
    using Made = std::invoke_result_t<const Make&, std::ranges::range_reference_t<Values>>;
    std::vector<std::remove_cvref_t<Made>> made;
    for (auto&& value : values) made.push_back(std::invoke(make, value));
    return made;
}

/// The first of the values whose projection is `wanted`; null without one.
template <std::ranges::forward_range Values, class Wanted, class Projection = std::identity>
auto* find_in(Values& values, const Wanted& wanted, Projection projection = {})
{
    const auto found = std::ranges::find(values, wanted, projection);
    return found == std::ranges::end(values) ? nullptr : &*found;
}

/// The first of the values for which `is_wanted`; null without one.
template <std::ranges::forward_range Values, class Choice>
auto* first_in(Values& values, const Choice& is_wanted)
{
    const auto found = std::ranges::find_if(values, is_wanted);
    return found == std::ranges::end(values) ? nullptr : &*found;
}

/// Whether `wanted` is one of the values, or a projection of one.
template <class Wanted, std::ranges::input_range Values, class Projection = std::identity>
bool is_in(const Wanted& wanted, const Values& values, Projection projection = {})
{
    return std::ranges::find(values, wanted, projection) != std::ranges::end(values);
}

/// Appends the value unless it is there.
template <class Value>
void add_once(std::vector<Value>& values, const std::type_identity_t<Value>& value)
{
    if (!is_in(value, values)) values.push_back(value);
}

}  // namespace roof
