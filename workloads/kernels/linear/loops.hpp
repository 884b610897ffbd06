// The loops of a linear layer's products, with vectors of `lanes` words. A source file selects its instruction set with
// a pragma and includes this last. The code calls nothing of the standard library: the linker could use a copy compiled
// for this set in the whole program.
#pragma once

#include "workloads/kernels/linear/backward.hpp"
#include "workloads/kernels/linear/forward.hpp"
#include "workloads/kernels/linear/gradient.hpp"

namespace roof::kernels {

template <int lanes, Dot dot>
class LinearLoopsFor {
  public:
    static void forward(const LinearShape& shape, const Elements& w, const Elements& x, float* y, Range rows)
    {
        if (w.precision == Precision::bf16)
            LinearForward<lanes, BFloat16, dot>::run(shape, w.as<BFloat16>(), x.as<BFloat16>(), y, rows);
        else
            LinearForward<lanes, float, dot>::run(shape, w.as<float>(), x.as<float>(), y, rows);
    }

    static void backward_data(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx, Range columns)
    {
        if (w.precision == Precision::bf16)
            LinearBackward<lanes, BFloat16, dot>::run(shape, w.as<BFloat16>(), dy.as<BFloat16>(), dx, columns);
        else
            LinearBackward<lanes, float, dot>::run(shape, w.as<float>(), dy.as<float>(), dx, columns);
    }

    static void backward_weights(const LinearShape& shape, const Elements& x, const Elements& dy, float* g, Range rows)
    {
        give(shape, x, dy, Storing<lanes>{g}, rows);
    }

    static void update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                       const LinearTrained& trained, Range rows)
    {
        give(shape, x, dy, Descending<lanes>{trained, rate}, rows);
    }

  private:
    /// Passes the gradient of these rows of the weights to the sink.
    template <class Sink>
    static void give(const LinearShape& shape, const Elements& x, const Elements& dy, const Sink& sink, Range rows)
    {
        if (x.precision == Precision::bf16)
            LinearGradient<lanes, BFloat16, dot>::run(shape, x.as<BFloat16>(), dy.as<BFloat16>(), sink, rows);
        else
            LinearGradient<lanes, float, dot>::run(shape, x.as<float>(), dy.as<float>(), sink, rows);
    }
};

}  // namespace roof::kernels
