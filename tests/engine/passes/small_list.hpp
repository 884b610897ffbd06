// Lists written by hand, and lists as text, in which a tensor has the name that the test gave it.
#pragma once

#include "workloads/engine/passes/passes.hpp"

#include <map>
#include <string>

namespace roof::ir {

class SmallList {
  public:
    /// A tensor of 2 images of 4x4 positions.
    Tensor map(const std::string& name, int channels = 8, Precision precision = Precision::bf16)
    {
        return named(name, maps_of(2, {channels, 4, 4}, precision));
    }
    Tensor named(const std::string& name, const Tensor& shape)
    {
        const Tensor made = list.tensor(shape);
        names_[made.block] = name;
        return made;
    }
    ChannelNumbers channels(const std::string& norm)
    {
        const Tensor each{.batch = 1, .channels = 8};
        return {named(norm + ".mean", each), named(norm + ".deviation", each), named(norm + ".scale", each),
                named(norm + ".shift", each)};
    }
    void forward(const std::string& layer, const std::string& kind = {}) { list.begin(layer, kind, Phase::forward); }
    void backward(const std::string& layer, const std::string& kind = {}) { list.begin(layer, kind, Phase::backward); }

    /// A line for each stage: "bn: statistics(x); y = relu(x*)", backward "bn': ...". A star: scaled and shifted; |y: 0
    /// where y is 0.
    std::string text() const
    {
        std::string lines;
        for (const List::Stage& stage : list.stages) {
            if (stage.entries.empty()) continue;
            std::string line;
            for (const Entry& entry : stage.entries)
                line += (line.empty() ? "" : "; ") +
                        std::visit([this](const auto& one) { return said(one); }, entry.operation);
            lines += stage.part.layer + (stage.part.phase == Phase::backward ? "': " : ": ") + line + "\n";
        }
        return lines;
    }

    Program program;
    List list{program};

  private:
    std::string of(const Tensor& tensor, const Tensor& scale = {}) const
    {
        const auto found = names_.find(tensor.block);
        const std::string name = !tensor ? "" : found == names_.end() ? "new" : found->second;
        return name + (scale ? "*" : "");
    }
    std::string plus(const Tensor& one, const Tensor& other) const
    {
        return of(one) + (other ? " + " + of(other) : "");
    }
    /// What a gradient is masked by.
    std::string mask(const auto& gradient) const
    {
        std::string by;
        if (gradient.output) by = "|" + of(gradient.output);
        if constexpr (requires { gradient.signs; })
            if (gradient.signs) by += "|signs";
        if constexpr (requires { gradient.relu; })
            if (gradient.relu) by += "|" + of(gradient.source) + "*";
        if constexpr (requires { gradient.winners; })
            if (gradient.winners) by += " by " + of(gradient.winners);
        return by;
    }
    std::string norms(const auto& gradient) const
    {
        const std::string other = of(gradient.other_norm.source);
        const bool is_sum_alone = other.empty() && gradient.other_norm.sum;
        return of(gradient.source) + (other.empty() ? "" : ", " + other) + (is_sum_alone ? ", sum" : "");
    }

    std::string said(const Statistics& a) const
    {
        return std::string("statistics(") + (a.sum ? "sums of " : "") + of(a.source) + ")";
    }
    std::string said(const MomentStatistics&) const { return "moment statistics"; }
    std::string said(const Normalise& a) const
    {
        const std::string sum = of(a.source, a.scale) + (a.other ? " + " + of(a.other, a.other_scale) : "");
        return of(a.result) + (a.signs ? ", signs" : "") + " = " + (a.relu ? "relu(" + sum + ")" : sum);
    }
    std::string said(const ReduceGradient& a) const
    {
        return (a.result ? of(a.result) + " = " : "") + "sums(" + plus(a.share, a.other_share) + mask(a) + "; " +
               norms(a) + ")";
    }
    std::string said(const NormGradient& a) const
    {
        return of(a.result) + (a.other_norm.result ? ", " + of(a.other_norm.result) : "") + " = norm(" +
               of(a.gradient) + mask(a) + "; " + norms(a) + ")";
    }
    std::string said(const MaskGradient& a) const
    {
        return of(a.result) + " = " + plus(a.share, a.other_share) + mask(a);
    }
    std::string said(const Convolve& a) const
    {
        const std::string source = of(a.source, a.scale);
        if (a.shape.pass == Pass::forward)
            return of(a.result) + (a.shape.statistics ? ", sums" : "") + " = convolution(" + source + ")";
        if (a.shape.pass == Pass::backward_data) return of(a.source) + " = convolution(" + of(a.result) + ")";
        return of(a.weights) + (a.bias ? ", " + of(a.bias) : "") + " = weights(" + source + ", " + of(a.result) + ")";
    }
    std::string said(const Multiply& a) const
    {
        const std::string gelu = a.before_gelu ? "; gelu of " + of(a.before_gelu) : "";
        return a.pass == Pass::forward         ? of(a.result) + " = product(" + of(a.source) + gelu + ")"
               : a.pass == Pass::backward_data ? of(a.source) + " = product(" + of(a.result) + gelu + ")"
                                               : of(a.weights) + (a.bias ? ", " + of(a.bias) : "") + " = weights(" +
                                                     of(a.source) + ", " + of(a.result) + ")";
    }
    std::string said(const LayerNorm& a) const
    {
        const std::string sum = a.other ? ", " + of(a.sum) : "";
        return of(a.result) + sum + " = positions(" + plus(a.source, a.other) + ")";
    }
    std::string said(const Activate& a) const { return of(a.result) + " = activation(" + of(a.source) + ")"; }
    std::string said(const Scale& a) const
    {
        const std::string source =
            a.activation ? std::string(name(*a.activation)) + "(" + of(a.source) + ")" : of(a.source);
        return of(a.result) + " = " + source + " * " + of(a.factor);
    }
    std::string said(const Turn& a) const { return of(a.result) + " = turn(" + of(a.source) + ")"; }
    std::string said(const AttendCached& a) const
    {
        return of(a.result) + " = attend(" + of(a.source) + (a.angles ? " by " + of(a.angles) : "") + ")";
    }
    std::string said(const MaxPool& a) const { return of(a.result) + " = pool(" + of(a.source, a.scale) + ")"; }
    std::string said(const MaxPoolGradient& a) const { return of(a.source) + " = pool(" + of(a.result) + ")"; }
    std::string said(const LibraryNorm& a) const
    {
        return of(a.result) + " = library(" + of(a.source) + (a.shape.relu ? ", relu)" : ")");
    }
    std::string said(const LibraryNormGradient& a) const
    {
        return of(a.result) + " = library(" + of(a.gradient) + (a.output ? "|" + of(a.output) : "") + "; " +
               of(a.source) + ")";
    }
    std::string said(const Widen& a) const
    {
        std::string all;
        for (std::size_t k = 0; k < a.from.size(); ++k)
            all += (k > 0 ? ", " : "") + of(a.to[k]) + " = " + of(a.from[k]);
        return all;
    }
    std::string said(const Descend& a) const { return std::string("descend") + (a.copies ? " with copies" : ""); }
    std::string said(const DescendProduct& a) const { return "descend(" + of(a.source) + ", " + of(a.gradient) + ")"; }
    std::string said(const auto& /*other*/) const { return "other"; }

    std::map<int, std::string> names_;
};

inline const Tensor numbers{.batch = 1, .channels = 8};

/// What a batch norm has beside its maps. Its bias has the place in all values that its gradient has in all gradients.
struct Norm {
    ChannelNumbers channels;
    Tensor bias, sum, sum_of_products;
};

inline Norm norm_in(SmallList& of, const std::string& name)
{
    static std::size_t place = 0;
    Norm norm{of.channels(name), of.named(name + ".bias", numbers), of.named(name + ".db", numbers),
              of.named(name + ".dw", numbers)};
    norm.bias.begin = norm.sum.begin = place += 1024;
    return norm;
}

inline void normalise(SmallList& to, const Norm& norm, const Tensor& x, const Tensor& y, bool relu)
{
    to.list.append(Statistics{.source = x, .bias = norm.bias, .channels = norm.channels});
    to.list.append(
        Normalise{.source = x, .scale = norm.channels.scale, .shift = norm.channels.shift, .result = y, .relu = relu});
}

inline void differentiate(SmallList& to, const Norm& norm, const Tensor& dy, const Tensor& x, const Tensor& dx,
                          const Tensor& output = {})
{
    to.list.append(ReduceGradient{.share = dy,
                                  .output = output,
                                  .source = x,
                                  .channels = norm.channels,
                                  .sum = norm.sum,
                                  .sum_of_products = norm.sum_of_products});
    to.list.append(NormGradient{.gradient = dy,
                                .output = output,
                                .source = x,
                                .channels = norm.channels,
                                .sum = norm.sum,
                                .sum_of_products = norm.sum_of_products,
                                .result = dx});
}

inline ConvolutionPass shape_of(Pass pass, Precision precision = Precision::bf16)
{
    return {{.batch = 2, .source = {8, 4, 4}, .result = {8, 4, 4}, .window = {}}, pass, precision};
}

inline Convolve convolve(const Tensor& x, const Tensor& y, const Tensor& weights, Pass pass = Pass::forward)
{
    return {.shape = shape_of(pass, x.precision), .source = x, .weights = weights, .result = y};
}

}  // namespace roof::ir
