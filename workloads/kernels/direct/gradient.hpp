// The weights' gradient of a direct convolution, shared among threads, in the layouts of convolution_shape.hpp.
#pragma once

#include "workloads/kernels/direct/gradient_plan.hpp"

namespace roof::kernels {

/// Scratch holds the sums of weight regions that several threads share, until all threads are done, and the packed
/// pixels of bf16 maps. Both channel counts must be multiples of the loops' lanes. Results are bitwise reproducible for
/// equal numbers of threads.
class DirectGradient {
  public:
    DirectGradient(const DirectLoops& loops, const ConvolutionShape& shape, const ConvolutionOptions& options);

    /// Scratch size in numbers; the memory must be aligned to a cache line.
    std::size_t scratch() const;
    /// `db`: [outputs] or null. If the loops read pairs, the last image of an odd batch is paired with zeros.
    void run(const Elements& x, const Elements& dy, float* dw, float* db, float* scratch) const;

  private:
    struct Maps {
        Elements x, dy;
    };
    /// One thread's part of the scratch memory.
    struct Scratch {
        float* slot;
        float* bias;
        float* x;
        float* dy;
    };
    /// The part of a map that a unit reads: images as the loops count them, channel blocks and pixels.
    struct Window {
        Range images, blocks, rows, columns;

        int rows_of_all() const { return length(images) * length(blocks) * length(rows); }
    };
    /// A row of a window, in two images if the loops read pairs. `second`: null if there is none.
    struct Pixels {
        const BFloat16* first;
        const BFloat16* second;
    };
    /// The maps that the loops read in a unit, and the fetches during its last step.
    struct View {
        GradientShape shape;
        const float* x;
        const float* dy;
        GradientStep after;
    };

    const GradientShape& shape() const { return plan_.shape(); }
    std::ptrdiff_t cells(int blocks) const { return std::ptrdiff_t{blocks} * shape().cell; }
    std::size_t slot() const;
    std::size_t bias_slot() const;
    std::size_t packed(const Window& window) const;
    Window source_window(const GradientPiece& piece, const Range& blocks) const;
    Window result_window(const GradientPiece& piece, const Range& blocks) const;
    Scratch part(float* scratch, std::size_t thread) const;
    GradientSums in_weights(const GradientRegion& region, float* dw) const;
    GradientSums in_slot(const GradientRegion& region, float* slot) const;
    Pixels row_of(const Elements& map, const GradientStrides& strides, const Window& window, int index) const;
    /// Packs the window and returns its strides in `to`.
    GradientStrides pack(const Elements& map, const GradientStrides& strides, const Window& window, float* to) const;
    /// Fetches into the L2 part `part` of `parts` of what pack() will read.
    void fetch(const Elements& map, const GradientStrides& strides, const Window& window, int part, int parts) const;
    View view(const GradientRegion& of, const GradientStep& first, const GradientStep& next, const Maps& maps,
              const Scratch& scratch) const;
    /// Computes a unit: each group of output blocks with each input block. Calls fetch_next(part, parts) before each
    /// product.
    template <class Fetch>
    void add_products(const GradientRegion& of, const GradientStep& first, const View& view, const GradientSums& sums,
                      const Fetch& fetch_next) const;
    void run_units(Range mine, const Maps& maps, float* dw, const Scratch& scratch, bool has_bias) const;
    void add_slots(int thread, int threads, float* dw, const float* slots) const;

    const DirectLoops& loops_;
    bool is_packed_;  ///< bf16 maps
    GradientPlan plan_;
    int batch_;  ///< images; the plan's shape counts pairs if the loops read pairs
    int threads_;
    std::size_t x_slot_ = 0, dy_slot_ = 0;  ///< packed words per thread, an upper bound for all units
};

}  // namespace roof::kernels
