// Fusions: each is a pass over the list of a step's operations that finds what it can do for an executor and does it. A
// pass leaves the values of the step as they are, but for rounding.
#pragma once

#include "workloads/engine/ir/list.hpp"

#include <map>
#include <variant>
#include <vector>

namespace roof::ir {

/// Runs the passes that the executor wants, in the order below.
void run_passes(List& list, const Settings& settings, const Choosers& choosers);

/// Between batch norms a convolution reads the source of the one before, and applies its scale, shift and ReLU itself:
/// where it alone reads the ReLU, and the library can do so in both passes that read it. Narrow values only.
void read_scaled_sources(List& list, const Choosers& choosers);
/// A max pool that alone reads the ReLU of a batch norm does so, too. Backward, the batch norm finds the gradient of
/// the pool as it reads it, twice: less than to write it.
void read_scaled_pools(List& list);
/// A batch norm behind a 1x1 convolution and before a sum finds its statistics and gradients from moments of what the
/// convolution reads (passes.hpp), where the executor finds that faster.
void take_moments(List& list, const Choosers& choosers);
/// A convolution sums its result for the statistics of the batch norm behind it, where the library can. Narrow values
/// only: in fp32, sums of squares are not precise enough.
void sum_for_statistics(List& list, const Choosers& choosers);

/// A sum normalises the batch norms that it alone reads. `only_whole`: of two maps, with a ReLU.
void normalise_in_sums(List& list, bool only_whole);
/// Backward, the pass that masks the gradient of such a sum also finds the sums of the first batch norm.
void reduce_with_mask(List& list);
/// That pass reads the signs of the sum, a bit for each value, in place of the sum.
void keep_signs(List& list);
/// Of a sum of two batch norms it finds the sums of both. `only_signed`: where it reads signs.
void reduce_pairs(List& list, bool only_signed);
/// One operation finds the gradients of the sources of both.
void spread_pairs(List& list);
/// All of a sum, of its batch norms and of its ReLU is one stage in each direction.
void join_sums(List& list);

/// A library computes batch norms in one operation, where the executor finds that faster.
void take_library_norms(List& list, const Choosers& choosers);
/// Backward, a batch norm computes again whether its ReLU clipped a value: less than to read its result.
void mask_again(List& list);

/// Convolutions write the gradient of their bias in the pass of the weights, and read trained values in fp32.
void take_whole_gradients(List& list);
/// A product for the gradient of weights also sums the gradient of their layer's bias, where the library can.
void sum_in_products(List& list, const Choosers& choosers);
/// A product applies the GELU by tanh behind it; backward, the product before its gradient does. Where the library can.
void activate_in_products(List& list, const Choosers& choosers);
/// Convolutions write gradients of weights in the precision of the activations. They are widened together.
void narrow_gradients(List& list, const Settings& settings);
/// Weights of linear layers are updated from the factors of their gradient.
void update_from_factors(List& list, const Settings& settings);

/// A layer norm that reads a sum of two maps first computes it, too.
void add_in_norms(List& list);
/// A product of two maps applies the activation of one that it alone reads.
void activate_in_scales(List& list);
/// Attention over a cache turns its queries and keys, where half of a head's channels are whole vectors.
void turn_in_attention(List& list);

/// A product without a bias writes narrow logits for the loss, whose gradient overwrites them.
void narrow_logits(List& list);
/// The logits' gradient overwrites them, and backward results gradients that nothing reads any more.
void write_in_place(List& list);

// A 1x1 convolution y = x W' and the batch norm behind it, from moments of x instead of passes over y, which has more
// channels. With n rows, C the covariance of the columns of x and m their mean:
//   mean of y = W m;   variance of y[c] = W[c] C W[c]'
// With g the gradient of the batch norm's result, s its sums, P = g' x - s m', a = weight / deviation, and
// p[c] = P[c] W[c]' / deviation^2 / n:
//   dweight[c] = n p[c] deviation;   dW[c] = a (P[c] - n p[c] W[c] C)
//   dx = g (a W) - (x - m') W' (a p W) - (a s / n) W
// So y is neither read for its statistics nor backward, and its gradient is never written. All sums are fp32.

/// Appends the statistics of the batch norm behind a convolution with this source and these weights. Those that it
/// returns have what the backward pass reads.
MomentStatistics append_statistics(List& list, const Tensor& source, const Tensor& weights, const Statistics& norm);

// What passes look for: which operations use a tensor, and the operations of a batch norm.

/// An operation in its list; none without an entry.
struct ListPlace {
    List::Stage* stage = nullptr;
    Entry* entry = nullptr;

    explicit operator bool() const { return entry != nullptr; }
    /// Returns the operation if it is of this type and not removed, else null.
    template <class Op>
    Op* as() const
    {
        return entry == nullptr || entry->is_removed ? nullptr : std::get_if<Op>(&entry->operation);
    }
};

/// Calls use(place, operation) for each operation of this type, in the order of the list. It may move operations.
template <class Op>
void for_each_of(List& list, const auto& use)
{
    std::vector<ListPlace> places;
    for (List::Stage& stage : list.stages) {
        for (Entry& entry : stage.entries) {
            if (std::holds_alternative<Op>(entry.operation)) places.push_back({&stage, &entry});
        }
    }
    for (const ListPlace& place : places) {
        if (Op* const operation = place.as<Op>()) use(place, *operation);
    }
}

/// Holds for the list as it is when this is made.
class Uses {
  public:
    explicit Uses(List& list);

    /// Operations that read the tensor, in the order of the list.
    const std::vector<ListPlace>& readers(const Tensor& tensor) const { return of(readers_, tensor); }
    std::vector<ListPlace> readers(const Tensor& tensor, Phase phase) const;
    /// The operation that alone reads it forward, if there is one.
    ListPlace only_reader(const Tensor& tensor) const;
    /// Those that read or write it.
    const std::vector<ListPlace>& users(const Tensor& tensor) const { return of(users_, tensor); }
    /// The first of them of this type; null if there is none.
    template <class Op>
    Op* first(const Tensor& tensor) const
    {
        for (const ListPlace& place : users(tensor))
            if (Op* const operation = place.as<Op>()) return operation;
        return nullptr;
    }

  private:
    using Places = std::map<int, std::vector<ListPlace>>;
    static const std::vector<ListPlace>& of(const Places& places, const Tensor& tensor);

    Places readers_, users_;
};

/// The batch norm that alone reads a convolution forward, and for which that may sum its result: its Statistics. Narrow
/// values without bias only.
ListPlace norm_behind(const Uses& uses, const ListPlace& convolution);

/// Backward, the ReLU of the batch norm with this result is known from the source.
void mask_by_source(const Uses& uses, const Tensor& result);

/// Moves what is left of a stage to the begin or the end of another, with its work.
void join(List::Stage& from, List::Stage& to, bool at_begin = false);

}  // namespace roof::ir
