// The gradient of the weights of a direct convolution, as shared among threads. Layouts are those of direct.hpp. Scratch memory
// is small: sums of regions of the weights on which several threads work.
#pragma once

#include "workloads/onednn/loops/direct/weights_gradient_isa.hpp"

namespace roof::onednn {

/// How many numbers of scratch memory, aligned to a cache line, the pass on so many threads needs.
std::size_t direct_weights_scratch(const DirectShape& shape, int threads);
/// Both numbers of channels are multiples of direct_lanes(). `db`: [outputs] or null. Equal to the bit for equal numbers of
/// threads.
void direct_backward_weights(const DirectShape& shape, const float* x, const float* dy, float* dw, float* db,
                             float* scratch, int threads);

/// The work is a row of units: a region of the weights after the other, and within each a piece of the batch after the other.
/// Each thread has a part of the row, as long as any other's. Sums of a region that another thread began lie in scratch until
/// all are done.
class WeightsGradient {
  public:
    WeightsGradient(const WeightsGradientLoops& loops, const DirectShape& shape, int threads);

    std::size_t scratch() const;
    void run(const float* x, const float* dy, float* dw, float* db, float* scratch) const;

  private:
    /// Some blocks of outputs by some blocks of inputs, whose weights a part of an L2 holds.
    struct Region {
        Range outputs, inputs;
    };
    struct Maps {
        const float* x;
        const float* dy;
    };

    void choose_region();
    int regions(int outputs, int inputs) const;
    int pieces() const;
    Range units(int thread, int threads) const;
    Region region(int unit) const;
    GradientPiece piece(int unit) const;
    GradientStep first_step(int unit) const;
    std::ptrdiff_t cells(int blocks) const { return std::ptrdiff_t{blocks} * shape_.cell; }
    std::size_t slot() const;
    std::size_t bias_slot() const;
    GradientSums in_weights(const Region& region, float* dw) const;
    GradientSums in_slot(const Region& region, float* slot) const;
    /// A unit: each group of blocks of outputs with each block of inputs. `after`: the step that comes after it.
    void add_products(const Region& of, const GradientStep& first, const GradientStep& after, const Maps& maps,
                      const GradientSums& sums) const;
    void run_units(Range mine, const Maps& maps, float* dw, float* slot, float* bias) const;
    void add_slots(int thread, int threads, float* dw, const float* slots) const;

    const WeightsGradientLoops& loops_;
    GradientShape shape_;
    int threads_;
    int region_outputs_, region_inputs_;             ///< blocks, at most
    int piece_images_, piece_rows_, piece_columns_;  ///< at most
};

}  // namespace roof::onednn
