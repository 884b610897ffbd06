#include "workloads/model/onnx_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <set>

namespace roof::model::onnx_file {
namespace {

long long product(const Numbers& numbers)
{
    long long result = 1;
    for (const long long number : numbers) {
        if (__builtin_mul_overflow(result, std::abs(number), &result) || result > 1LL << 60)
            throw Refused{"of " + text(numbers) + " values"};
    }
    return result;
}

long long extent_of(const Parts& parts)
{
    long long extent = 1;
    for (const Part& part : parts) extent *= part.extent;
    return extent;
}

/// Takes the innermost or outermost places off the front of `rest`, `extent` of them.
Parts taken(Parts& rest, long long extent)
{
    Parts made;
    while (extent > 1) {
        if (rest.empty()) return {};
        Part& next = rest.front();
        if (extent % next.extent == 0) {
            extent /= next.extent;
            made.push_back(next);
            rest.erase(rest.begin());
        } else if (next.extent % extent == 0) {
            const long long inner = next.extent / extent;
            made.push_back({next.of, extent, next.stride * inner});
            next.extent = inner;
            extent = 1;
        } else {
            return {};
        }
    }
    return made;
}

}  // namespace

std::size_t axis_of(long long axis, std::size_t axes)
{
    const long long found = axis < 0 ? axis + static_cast<long long>(axes) : axis;
    if (found < 0 || found >= static_cast<long long>(axes)) throw Refused{"of axis " + std::to_string(axis)};
    return static_cast<std::size_t>(found);
}

Parts joined(const Parts& parts)
{
    Parts made;
    for (const Part& part : parts) {
        if (part.extent == 1) continue;
        if (!made.empty() && made.back().of == part.of && made.back().stride == part.stride * part.extent)
            made.back() = {part.of, made.back().extent * part.extent, part.stride};
        else
            made.push_back(part);
    }
    return made;
}

View View::of(int layer, const Shape& shape, long long images, std::size_t axes)
{
    using Of = Part::Of;
    std::vector<Parts> all{joined({{Of::images, images, 1}}), joined({{Of::channels, shape.channels, 1}}),
                           joined({{Of::positions, shape.height, shape.width}}),
                           joined({{Of::positions, shape.width, 1}})};
    all.resize(axes);
    return {.layer = layer, .axes = std::move(all)};
}

Numbers View::dims() const
{
    Numbers all;
    for (const Parts& axis : axes) all.push_back(extent_of(axis));
    return all;
}

Parts View::parts() const
{
    Parts all;
    for (const Parts& axis : axes) all.insert(all.end(), axis.begin(), axis.end());
    return joined(all);
}

long long View::count(Part::Of of) const
{
    long long count = 1;
    for (const Parts& axis : axes)
        for (const Part& part : axis) count *= part.of == of ? part.extent : 1;
    return count;
}

Numbers reshaped(const Numbers& from, const Numbers& to)
{
    Numbers dims = to;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0 && axis < from.size()) dims[axis] = from[axis];
        if (dims[axis] < -1 || dims[axis] == 0 || dims[axis] > 1LL << 40) throw Refused{"to " + text(to)};
    }
    const long long elements = product(from);
    const auto rest = std::ranges::find(dims, -1);
    if (rest != dims.end()) *rest = elements / product(dims);
    if (std::ranges::count(to, -1) > 1 || product(dims) != elements)
        throw Refused{"to " + text(to) + ", which is not the batch and its values"};
    return dims;
}

View reshaped(View view, const Numbers& to)
{
    const Numbers dims = reshaped(view.dims(), to);
    Parts left = view.parts();
    view.axes.clear();
    for (const long long extent : dims) {
        view.axes.push_back(joined(taken(left, extent)));
        if (extent_of(view.axes.back()) != extent) throw Refused{"to " + text(to) + ", which cuts an axis"};
    }
    return view;
}

View transposed(View view, const Numbers& perm)
{
    const std::set<long long> seen(perm.begin(), perm.end());
    const std::size_t axes = view.axes.size();
    if (axes == 0 || perm.size() != axes || seen.size() != axes || *seen.begin() != 0 ||
        *seen.rbegin() + 1 != static_cast<long long>(axes))
        throw Refused{"by " + text(perm)};
    std::vector<Parts> made;
    for (const long long axis : perm) made.push_back(view.axes[static_cast<std::size_t>(axis)]);
    view.axes = std::move(made);
    return view;
}

View squeezed(View view, const Numbers& axes)
{
    std::set<std::size_t> gone;
    for (const long long axis : axes) gone.insert(axis_of(axis, view.axes.size()));
    std::vector<Parts> kept;
    for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
        const long long extent = extent_of(view.axes[axis]);
        const bool is_gone = axes.empty() ? extent == 1 : gone.contains(axis);
        if (is_gone && extent != 1) throw Refused{"of an axis of " + std::to_string(extent)};
        if (!is_gone) kept.push_back(view.axes[axis]);
    }
    view.axes = std::move(kept);
    return view;
}

View unsqueezed(View view, Numbers axes)
{
    const std::size_t count = view.axes.size() + axes.size();
    for (long long& axis : axes) axis = static_cast<long long>(axis_of(axis, count));
    std::ranges::sort(axes);
    for (const long long axis : axes) {
        if (axis > static_cast<long long>(view.axes.size())) throw Refused{"of axis " + std::to_string(axis)};
        view.axes.insert(view.axes.begin() + axis, Parts{});
    }
    return view;
}

View sliced(View view, long long axis, long long first, long long end, long long step)
{
    const std::size_t at = axis_of(axis, view.axes.size());
    Parts& parts = view.axes[at];
    const long long extent = extent_of(parts);
    first = bound_of(first, extent);
    end = bound_of(end, extent);
    if (first == 0 && end == extent && step == 1) return view;
    if (end <= first || parts.front().of == Part::Of::images) throw Refused{"of other than channels and positions"};
    Part& outer = parts.front();
    const long long inner = extent / outer.extent;
    if (first % inner != 0 || end % inner != 0 || step < 1 ||
        (step > 1 && (inner > 1 || outer.of != Part::Of::positions)))
        throw Refused{"of a part of an axis"};
    (outer.of == Part::Of::channels ? view.channel : view.position) += first / inner * outer.stride;
    outer.extent = ((end - first) / inner + step - 1) / step;
    outer.stride *= step;
    parts = joined(parts);
    return view;
}

Parts parts_of(const View& view, Part::Of kind)
{
    Parts some;
    for (const Part& part : view.parts())
        if (part.of == kind) some.push_back(part);
    return joined(some);
}

bool are_together(const Parts& parts)
{
    return parts.empty() || (parts.size() == 1 && parts.front().stride == 1);
}

std::vector<int> order_of(const Parts& parts, int first)
{
    std::vector<int> order{first};
    for (const Part& part : parts) {
        std::vector<int> next;
        for (const int outer : order) {
            for (long long k = 0; k < part.extent; ++k) next.push_back(outer + static_cast<int>(k * part.stride));
        }
        order = std::move(next);
    }
    return order;
}

std::vector<int> positions_of(const View& view)
{
    if (view.count(Part::Of::positions) > 1 << 22) throw Refused{"of more than 4 million positions in another order"};
    std::vector<int> all = order_of(parts_of(view, Part::Of::positions), static_cast<int>(view.position));
    for (int& position : all)
        position = view.order.empty() ? position : view.order.at(static_cast<std::size_t>(position));
    return all;
}

void renumber(View& view, Part::Of kind, std::vector<int> order)
{
    long long stride = 1;
    for (Parts& axis : view.axes | std::views::reverse) {
        for (Part& part : axis | std::views::reverse) {
            if (part.of != kind) continue;
            part.stride = stride;
            stride *= part.extent;
        }
        axis = joined(axis);
    }
    if (kind != Part::Of::positions) return;
    view.order = std::move(order);
    view.position = 0;
}

}  // namespace roof::model::onnx_file
