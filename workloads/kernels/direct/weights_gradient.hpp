// The weights' gradient of a direct convolution, shared among threads, in the layouts of convolution_shape.hpp.
#pragma once

#include "workloads/kernels/direct/weights_gradient_plan.hpp"

namespace roof::kernels {

/// Scratch holds the sums of weight regions that several threads share, until all threads are done. Both channel counts
/// must be multiples of the loops' lanes. Results are bitwise reproducible for equal numbers of threads.
class WeightsGradient {
  public:
    WeightsGradient(const WeightsGradientLoops& loops, const ConvolutionShape& shape, int threads);

    /// Scratch size in numbers; the memory must be aligned to a cache line.
    std::size_t scratch() const;
    /// `Element`: BFloat16 if the loops support it, else float. `db`: [outputs] or null. In bf16 the last image of an
    /// odd batch is paired with zeros.
    template <class Element>
    void run(const Element* x, const Element* dy, float* dw, float* db, float* scratch) const;

  private:
    template <class Element>
    struct Maps {
        const Element* x;
        const Element* dy;
    };
    /// One thread's part of the scratch memory.
    struct Scratch {
        float* slot;
        float* bias;
        float* x;
        float* dy;
    };
    /// The maps that the loops read in a unit, and the fetches during its last step.
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
    /// Computes a unit: each group of output blocks with each input block. Calls fetch(part, parts) before each
    /// product.
    template <class Fetch>
    void add_products(const GradientRegion& of, const GradientStep& first, const View& view, const GradientSums& sums,
                      const Fetch& fetch) const;
    /// Fetches a part of what view() will read of the unit that begins with this step.
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
    int batch_;  ///< images; the plan's shape counts pairs if the loops use pairs
    int threads_;
};

}  // namespace roof::kernels
