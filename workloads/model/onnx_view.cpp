#include "workloads/model/onnx_view.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace roof::model::onnx_file {
namespace {

long long product(const Numbers& numbers)
{
    constexpr long long most = 1LL << 40;
    long long result = 1;
    for (const long long number : numbers) {
        if (std::abs(result) > most / std::max(1LL, std::abs(number))) throw Refused{"of " + text(numbers) + " values"};
        result *= number;
    }
    return result;
}

std::size_t axis_of(long long axis, std::size_t axes)
{
    const long long found = axis < 0 ? axis + static_cast<long long>(axes) : axis;
    if (found < 1 || found >= static_cast<long long>(axes)) throw Refused{"of axis " + std::to_string(axis)};
    return static_cast<std::size_t>(found);
}

}  // namespace

View reshaped(View view, const Numbers& to, long long batch)
{
    if (to.empty()) throw Refused{"to a single value"};
    Numbers dims(to.begin() + 1, to.end());
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0 && axis < view.dims.size()) dims[axis] = view.dims[axis];
        if (dims[axis] < -1 || dims[axis] == 0 || dims[axis] > 1LL << 31) throw Refused{"to " + text(to)};
    }
    const long long elements = product(view.dims);
    const auto rest = std::ranges::find(dims, -1);
    if (rest != dims.end()) *rest = elements / std::max(1LL, std::abs(product(dims)));
    const bool keeps_batch = to[0] == batch || to[0] == 0 || to[0] == -1;
    if (!keeps_batch || std::ranges::count(to, -1) > 1 || product(dims) != elements)
        throw Refused{"to " + text(to) + ", which is not the batch and its values"};
    view.dims = std::move(dims);
    return view;
}

View transposed(View view, const Numbers& perm, const Shape& map)
{
    const std::size_t axes = view.dims.size();
    std::set<long long> seen(perm.begin(), perm.end());
    if (perm.size() != axes + 1 || perm[0] != 0 || seen.size() != perm.size() || *seen.begin() != 0 ||
        *seen.rbegin() != static_cast<long long>(axes))
        throw Refused{"by " + text(perm)};
    std::size_t moved = axes;  // the axes behind stay in place
    while (moved > 0 && perm[moved] == static_cast<long long>(moved)) --moved;
    if (moved == 0) return view;
    const Numbers before(view.dims.begin(), view.dims.begin() + static_cast<std::ptrdiff_t>(moved));
    const long long positions = 1LL * map.height * map.width;
    const long long block = product(view.dims) / std::max(1LL, product(before));
    if (block % positions != 0) throw Refused{"by " + text(perm) + ", which moves more than channels"};

    Numbers after, strides(moved, 1);
    for (std::size_t axis = moved; axis-- > 1;) strides[axis - 1] = strides[axis] * before[axis];
    for (std::size_t axis = 0; axis < moved; ++axis)
        after.push_back(before[static_cast<std::size_t>(perm[axis + 1] - 1)]);
    const int together = static_cast<int>(block / positions);  // channels
    std::vector<int> order;
    for (long long at = 0; at < product(after); ++at) {
        long long from = 0;
        long long rest = at;
        for (std::size_t axis = moved; axis-- > 0;) {
            from += rest % after[axis] * strides[static_cast<std::size_t>(perm[axis + 1] - 1)];
            rest /= after[axis];
        }
        for (int channel = 0; channel < together; ++channel) {
            const int source = static_cast<int>(from) * together + channel;
            order.push_back(view.order.empty() ? source : view.order[static_cast<std::size_t>(source)]);
        }
    }
    std::ranges::copy(after, view.dims.begin());
    if (!std::ranges::is_sorted(order) || !view.order.empty()) view.order = std::move(order);
    return view;
}

View squeezed(View view, const Numbers& axes)
{
    std::set<std::size_t> gone;
    for (const long long axis : axes) gone.insert(axis_of(axis, view.dims.size() + 1));
    Numbers kept;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis) {
        const bool is_gone = axes.empty() ? view.dims[axis] == 1 : gone.contains(axis + 1);
        if (is_gone && view.dims[axis] != 1) throw Refused{"of an axis of " + std::to_string(view.dims[axis])};
        if (!is_gone) kept.push_back(view.dims[axis]);
    }
    view.dims = std::move(kept);
    return view;
}

View unsqueezed(View view, Numbers axes)
{
    const std::size_t count = view.dims.size() + 1 + axes.size();
    for (long long& axis : axes) axis = static_cast<long long>(axis_of(axis, count));
    std::ranges::sort(axes);
    for (const long long axis : axes) {
        if (axis - 1 > static_cast<long long>(view.dims.size())) throw Refused{"of axis " + std::to_string(axis)};
        view.dims.insert(view.dims.begin() + axis - 1, 1);
    }
    return view;
}

}  // namespace roof::model::onnx_file
