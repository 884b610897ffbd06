// The gradient of the weights of a direct convolution, as shared among threads. Layouts are those of
// convolution_shape.hpp. Scratch memory is small: sums of regions of the weights on which several threads work.
#pragma once

#include "workloads/kernels/direct/weights_gradient_plan.hpp"

namespace roof::kernels {

/// Sums of a region of the weights that another thread began lie in scratch until all are done. Both numbers of
/// channels are multiples of the loops' lanes. Results are equal to the bit for equal numbers of threads.
class WeightsGradient {
  public:
    WeightsGradient(const WeightsGradientLoops& loops, const ConvolutionShape& shape, int threads);

    /// Numbers of scratch memory, aligned to a cache line.
    std::size_t scratch() const;
    /// `Element`: BFloat16 with loops for it, else float. `db`: [outputs] or null. In bf16 the image left over in an
    /// odd batch is paired with zeros.
    template <class Element>
    void run(const Element* x, const Element* dy, float* dw, float* db, float* scratch) const;

  private:
    template <class Element>
    struct Maps {
        const Element* x;
        const Element* dy;
    };
    /// A thread's part of the scratch memory.
    struct Scratch {
        float* slot;
        float* bias;
        float* x;
        float* dy;
    };
    /// The maps as the loops read them in a unit, and what they fetch while they are at its last step.
    struct View {
        GradientShape shape;
        Maps<float> maps;
        GradientStep after;
    };

    const GradientShape& shape() const { return plan_.shape(); }
    std::ptrdiff_t cells(int blocks) const { return std::ptrdiff_t{blocks} * shape().cell; }
    std::size_t slot() const;
    std::size_t bias_slot() const;
    std::size_t x_slot() const;   ///< for pairs of images
    std::size_t dy_slot() const;  ///< likewise
    Scratch part(float* scratch, std::size_t thread) const;
    GradientSums in_weights(const GradientRegion& region, float* dw) const;
    GradientSums in_slot(const GradientRegion& region, float* slot) const;
    /// A unit: each group of blocks of outputs with each block of inputs. Calls fetch(part, parts) before each.
    template <class Fetch>
    void add_products(const GradientRegion& of, const GradientStep& first, const View& view, const GradientSums& sums,
                      const Fetch& fetch) const;
    /// A part of what view() will read of the unit that begins with this step.
    void fetch(int, const GradientStep&, const Maps<float>&, int, int) const {}
    void fetch(int unit, const GradientStep& first, const Maps<BFloat16>& maps, int part, int parts) const;
    View view(const GradientRegion& of, const GradientStep& first, const GradientStep& next, const Maps<float>& maps,
              const Scratch& scratch) const;
    View view(const GradientRegion& of, const GradientStep& first, const GradientStep& next, const Maps<BFloat16>& maps,
              const Scratch& scratch) const;
    template <class Element>
    void run_units(Range mine, const Maps<Element>& maps, float* dw, const Scratch& scratch, bool has_bias) const;
    void add_slots(int thread, int threads, float* dw, const float* slots) const;

    const WeightsGradientLoops& loops_;
    GradientPlan plan_;
    int batch_;  ///< images; the plan's shape has pairs of them if the loops have
    int threads_;
};

}  // namespace roof::kernels
