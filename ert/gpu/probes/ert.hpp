// Bench "ert" of a GPU: the curve under the roofs, as the Empirical Roofline Toolkit measures it.
//
// Launched    one kernel template: each vector of 16 bytes is loaded once, and as many multiply-adds are done with it as the
//             intensity asks for; passes over the working set fill the launch length. How the blocks share it is found by trying.
// Saturates   the path to the level that holds the working set where the intensity is low, the multiply-add pipe where it is
//             high; the knee in between is to fall where the two roofs cross.
// FLOPs       2 per multiply-add; bytes: those loaded. Both exact, so intensity is too.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if the sums of all threads differ from the host's (the numbers are such that no order of adding rounds); if the
//             machine code of the loop holds other multiply-adds and loads than those counted; a point above a roof.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <string_view>

namespace roof::gpu {

/// Multiply-adds of a vector for "1/8" … "64" FLOPs per byte. Throws InputError naming the legal words.
int multiply_adds_for(std::string_view intensity);

/// What one pass over so many vectors adds to the sums of all threads.
double due_sum(Precision precision, int multiply_adds, std::size_t vectors);

/// `nvml` may be null.
std::unique_ptr<Bench> ert_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
