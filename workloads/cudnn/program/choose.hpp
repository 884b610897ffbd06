// How a program learns what will compute its convolutions and products, and how much scratch memory that takes: it asks, and is
// answered by a device that tries candidates, or by a test.
#pragma once

#include "workloads/cudnn/program/operations.hpp"

#include <functional>
#include <string>

namespace roof::cudnn {

struct Choice {
    int plan = -1;               ///< its number with who chose
    std::size_t workspace = 0;   ///< bytes
    std::string implementation;  ///< "cudnn: engine 62 k2=1"
    std::string algorithm;       ///< of a convolution: gemm, winograd, fft
    int winograd_tile = 0;       ///< outputs along a tile's edge, where the library says it; 0: not known
    bool fused = true;           ///< bias and ReLU are computed with it; else they are left to another operation
};

struct Product {
    Pass pass = Pass::forward;
    int batch = 1;
    int inputs = 1;
    int outputs = 1;
    Precision precision = Precision::fp32;         ///< of what is read; tf32 too
    Precision result_precision = Precision::fp32;  ///< of what is written
    bool bias = false;
    bool relu = false;
};

struct Choosers {
    std::function<Choice(const ConvolutionShape&)> convolution;
    std::function<Choice(const Product&)> product;
    /// Of a whole batch norm; no plan: our own kernels compute it. Without this function they compute all.
    std::function<Choice(const NormShape&)> norm{};
};

}  // namespace roof::cudnn
