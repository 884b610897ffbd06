// oneDNN 2.x makes a primitive's description from a description of the operation; 3.x has none of the latter. The
// templates here choose by what the header declares.
#include "workloads/onednn/program/dnnl.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>

namespace roof::onednn {
namespace {

using dnnl::prop_kind;

template <class Primitive>
concept HasOperation = requires
{
    typename Primitive::desc;
};

/// Implementation number `place` of the operation, from 0; none if there are fewer. `hint`: the forward pass, if any.
template <class Primitive, class... Hint, class... Arguments>
std::optional<typename Primitive::primitive_desc> implementation(int place, const dnnl::engine& engine,
                                                                 const dnnl::primitive_attr& attributes,
                                                                 const std::tuple<Hint...>& hint,
                                                                 const Arguments&... arguments)
{
    using Description = typename Primitive::primitive_desc;
    const auto advanced = [place](Description description) -> std::optional<Description> {
        for (int skipped = 0; skipped < place; ++skipped)
            if (!description.next_impl()) return std::nullopt;
        return description;
    };
    return std::apply(
        [&](const auto&... forward) {
            if constexpr (HasOperation<Primitive>) {
                const typename Primitive::desc operation(arguments...);  // next_impl() reads it
                return advanced(Description(operation, attributes, engine, forward...));
            } else {
                return advanced(Description(engine, arguments..., forward..., attributes));
            }
        },
        hint);
}

/// Each is a new description, because advancing a description also advances its copies in 3.x.
template <class Primitive, class... Arguments>
std::vector<typename Primitive::primitive_desc> implementations(const Arguments&... arguments)
{
    std::vector<typename Primitive::primitive_desc> all;
    try {
        while (auto next = implementation<Primitive>(static_cast<int>(all.size()), arguments...)) {
            const bool is_reference = std::string_view(next->impl_info_str()).starts_with("ref");
            if (is_reference && !all.empty()) break;
            all.push_back(*std::move(next));
        }
    } catch (const dnnl::error& error) {
        if (error.status != dnnl_unimplemented) throw;
    }
    return all;
}

template <class Primitive>
std::vector<Implementation> described(const std::vector<typename Primitive::primitive_desc>& implementations)
{
    std::vector<Implementation> all;
    for (const auto& one : implementations)
        all.push_back({one.impl_info_str(), one.scratchpad_desc(), [one] { return Primitive(one); },
                       [one](int argument) { return one.query_md(dnnl::query::exec_arg_md, argument); }});
    return all;
}

Dims square(int extent)
{
    return {extent, extent};
}

/// Positions between two that a window reads.
Dims gaps(const ConvolutionPass& shape)
{
    return square(shape.window.dilation - 1);
}

/// The dilation is an argument in 3.x only.
template <class Pooling, class... Hint, class... Maps>
auto pooling(const dnnl::engine& engine, const model::Window& window, const Dims& end_padding,
             const std::tuple<Hint...>& hint, const Maps&... maps)
{
    const Dims strides = square(window.stride);
    const Dims kernel = square(window.size);
    const Dims padding = square(window.padding);
    if constexpr (HasOperation<Pooling>)
        return *implementation<Pooling>(0, engine, attributes(), hint, maps..., strides, kernel, padding, end_padding);
    else
        return *implementation<Pooling>(0, engine, attributes(), hint, maps..., strides, kernel, square(0), padding,
                                        end_padding);
}

dnnl::memory::data_type data_type(Precision precision)
{
    return precision == Precision::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

Desc bias_of(const ConvolutionPass& shape)
{
    return shape.bias ? plain({shape.result.channels}) : Desc{};
}

Desc source_of(const ConvolutionPass& shape, bool is_plain)
{
    const Dims dims = dims_of(shape.batch, shape.source);
    return is_plain ? plain(dims, shape.precision) : any(dims, shape.precision);
}

Desc result_of(const ConvolutionPass& shape)
{
    return any(dims_of(shape.batch, shape.result), shape.precision);
}

}  // namespace

Dims dims_of(int batch, const model::Shape& map)
{
    return {batch, map.channels, map.height, map.width};
}

Dims weights_of(const model::Convolution& shape)
{
    const int groups = shape.groups;
    Dims dims{shape.result.channels / groups, shape.source.channels / groups, shape.window.size,
              shape.window.across().size};
    if (groups > 1) dims.insert(dims.begin(), groups);
    return dims;
}

Dims dims_of(const Desc& desc)
{
    return [](const auto& of) {
        if constexpr (requires { of.get_dims(); })
            return of.get_dims();
        else
            return of.dims();
    }(desc);
}

dnnl::memory::data_type data_type_of(const Desc& desc)
{
    return [](const auto& of) {
        if constexpr (requires { of.get_data_type(); })
            return of.get_data_type();
        else
            return of.data_type();
    }(desc);
}

Blocking blocking_of(const Desc& desc)
{
    return [](const auto& of) -> Blocking {
        if constexpr (requires { of.get_strides(); }) {
            if (of.get_format_kind() != dnnl::memory::format_kind::blocked) return {};
            return {of.get_strides(), of.get_inner_blks(), of.get_inner_idxs()};
        } else {
            if (of.data.format_kind != dnnl_blocked) return {};
            const auto& in = of.data.format_desc.blocking;
            return {{in.strides, in.strides + of.data.ndims},
                    {in.inner_blks, in.inner_blks + in.inner_nblks},
                    {in.inner_idxs, in.inner_idxs + in.inner_nblks}};
        }
    }(desc);
}

bool is_in_order(const Desc& desc)
{
    const Dims dims = dims_of(desc);
    const Blocking blocking = blocking_of(desc);
    if (blocking.strides.size() != dims.size() || blocking.blocks.size() > 1) return false;
    Dim step = 1;  // from a number to the next of the dimension
    for (std::size_t dim = dims.size(); dim-- > 0; step *= dims[dim]) {
        if (!blocking.blocks.empty() && blocking.block_dims.front() == static_cast<Dim>(dim)) {
            const Dim block = blocking.blocks.front();
            if (step != 1 || dims[dim] % block != 0 || (dims[dim] > block && blocking.strides[dim] != block))
                return false;
        } else if (dims[dim] > 1 && blocking.strides[dim] != step) {
            return false;
        }
    }
    return true;
}

dnnl::primitive_attr attributes(bool relu)
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (relu) {
        dnnl::post_ops after;
        [](auto& operations) {
            if constexpr (requires { operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F); })
                operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
            else
                operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
        }(after);
        attributes.set_post_ops(after);
    }
    return attributes;
}

std::vector<Implementation> convolution_implementations(const dnnl::engine& engine, const ConvolutionPass& shape,
                                                        dnnl::algorithm algorithm, bool is_plain)
{
    using dnnl::convolution_backward_data, dnnl::convolution_backward_weights, dnnl::convolution_forward;
    const model::Window across = shape.window.across();
    const Dims strides{shape.window.stride, across.stride}, padding{shape.window.padding, across.padding};
    const Desc weights = any(weights_of(shape), shape.precision), result = result_of(shape);
    const auto forward = [&](dnnl::algorithm by) {
        return implementations<convolution_forward>(
            engine, attributes(shape.relu), std::tuple(), prop_kind::forward_training, by, source_of(shape, is_plain),
            weights, bias_of(shape), result, strides, gaps(shape), padding, padding);
    };
    if (shape.pass == Pass::forward) return described<convolution_forward>(forward(algorithm));
    // oneDNN needs a forward pass of the same shape to make a backward pass.
    const auto hints = forward(dnnl::algorithm::convolution_direct);
    if (hints.empty()) return {};
    const auto hint = std::tie(hints.front());
    if (shape.pass == Pass::backward_data)
        return described<convolution_backward_data>(
            implementations<convolution_backward_data>(engine, attributes(), hint, algorithm, source_of(shape, false),
                                                       weights, result, strides, gaps(shape), padding, padding));
    return described<convolution_backward_weights>(implementations<convolution_backward_weights>(
        engine, attributes(), hint, algorithm, source_of(shape, is_plain), any(weights_of(shape)), bias_of(shape),
        result, strides, gaps(shape), padding, padding));
}

std::vector<Implementation> product_implementations(const dnnl::engine& engine, const ConvolutionPass& shape)
{
    using dnnl::inner_product_backward_data, dnnl::inner_product_backward_weights, dnnl::inner_product_forward;
    if (shape.window != model::Window{} || shape.groups != 1) return {};
    const Dim positions = Dim{shape.batch} * shape.source.height * shape.source.width;
    const Desc source = plain({positions, shape.source.channels}, shape.precision);
    const Desc result = plain({positions, shape.result.channels}, shape.precision);
    const Dims weights{shape.result.channels, shape.source.channels};
    const auto forward = implementations<inner_product_forward>(engine, attributes(shape.relu), std::tuple(),
                                                                prop_kind::forward_training, source,
                                                                any(weights, shape.precision), bias_of(shape), result);
    if (shape.pass == Pass::forward || forward.empty()) return described<inner_product_forward>(forward);
    const auto hint = std::tie(forward.front());
    if (shape.pass == Pass::backward_data)
        return described<inner_product_backward_data>(implementations<inner_product_backward_data>(
            engine, attributes(), hint, source, any(weights, shape.precision), result));
    return described<inner_product_backward_weights>(implementations<inner_product_backward_weights>(
        engine, attributes(), hint, source, any(weights), bias_of(shape), result));
}

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm)
{
    const Dims map = dims_of(source);
    Dims end_padding;  // the last window may end outside the map
    for (std::size_t axis = 2; axis < 4; ++axis) {
        const Dim end = (result[axis] - 1) * window.stride + window.size - window.padding;
        end_padding.push_back(std::max<Dim>(window.padding, end - map[axis]));
    }
    const auto forward =
        pooling<dnnl::pooling_forward>(engine, window, end_padding, std::tuple(), prop_kind::forward_training,
                                       algorithm, source, any(result, precision_of(source)));
    const auto backward = pooling<dnnl::pooling_backward>(engine, window, end_padding, std::tie(forward), algorithm,
                                                          source, forward.dst_desc());
    return {described<dnnl::pooling_forward>({forward}).front(), described<dnnl::pooling_backward>({backward}).front()};
}

PoolingPasses describe_resampling(const dnnl::engine& engine, const Desc& source, const Dims& result)
{
    using dnnl::resampling_backward, dnnl::resampling_forward;
    const dnnl::algorithm algorithm = dnnl::algorithm::resampling_linear;
    const auto forward =
        *implementation<resampling_forward>(0, engine, attributes(), std::tuple(), prop_kind::forward_training,
                                            algorithm, source, any(result, precision_of(source)));
    const auto backward = *implementation<resampling_backward>(0, engine, attributes(), std::tie(forward), algorithm,
                                                               source, forward.dst_desc());
    return {described<resampling_forward>({forward}).front(), described<resampling_backward>({backward}).front()};
}

std::string library_version()
{
    const dnnl::version_t& version = *dnnl::version();
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

Precision precision_of(const Desc& desc)
{
    if (data_type_of(desc) == dnnl::memory::data_type::f32) return Precision::fp32;
    if (data_type_of(desc) == dnnl::memory::data_type::bf16) return Precision::bf16;
    throw std::logic_error("a tensor that is neither fp32 nor bf16");
}

Desc plain(const Dims& dims, Precision precision)
{
    Dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    return {dims, data_type(precision), strides};
}

Desc rows(const Dims& dims, Dim apart, Precision precision)
{
    return {dims, data_type(precision), Dims{apart, 1}};
}

Desc in_format(const Dims& dims, dnnl::memory::format_tag format, Precision precision)
{
    return {dims, data_type(precision), format};
}

Desc any(const Dims& dims, Precision precision)
{
    return {dims, data_type(precision), dnnl::memory::format_tag::any};
}

std::string layout_name(const Desc& desc)
{
    if (dims_of(desc).empty() || desc.get_size() == 0) return "nothing";
    const Blocking blocking = blocking_of(desc);
    if (blocking.strides.empty()) return "packed";
    std::vector<std::size_t> order(blocking.strides.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t dim) { return blocking.strides[dim]; });
    const dnnl::memory::data_type type = data_type_of(desc);
    const bool is_known = type == dnnl::memory::data_type::f32 || type == dnnl::memory::data_type::bf16;
    const std::string precision(is_known ? traits(precision_of(desc)).name : "bytes");
    std::string name;
    for (const std::size_t dim : order) {
        const bool cut = std::ranges::find(blocking.block_dims, static_cast<Dim>(dim)) != blocking.block_dims.end();
        name += static_cast<char>((cut ? 'A' : 'a') + static_cast<int>(dim));
    }
    for (std::size_t i = 0; i < blocking.blocks.size(); ++i)
        name += std::to_string(blocking.blocks[i]) + static_cast<char>('a' + static_cast<int>(blocking.block_dims[i]));
    return precision + " " + name;
}

}  // namespace roof::onednn
