// Probe "flops": the arithmetic ceiling of a core, and of all cores together.
//
// Launched: on every thread, a generated loop of at least 24 instructions of the kinds that the operation names, on
//   independent register chains; no memory is touched inside the loop. How many chains, and in which order, is found by
//   trying: see `candidates` in operations.hpp. `best` tries all kinds.
// Saturates: the arithmetic pipes that the operation names. `best` is the roof of the precision. `fma` is what most tools
//   call the peak; cores with add pipes beside their multiply-add pipes do more, and `fma+add` shows it. `mul+add` is the
//   roof of code built without fma; `dot` and `tile` are the products of vectors and of tiles in bf16 and int8.
//   The factor of a multiplication is -1, so multipliers toggle little: where power limits the clock, real data may run
//   somewhat slower.
// Counts: 2 FLOPs per multiply-add, fused or in a product, 1 per addition, multiplication, division or root, in every lane.
//   Integer operations count alike. Bytes: none.
// Falsified by: a result that differs in one bit from the host reference; a loop whose decoded instructions are not those
//   counted; a rate above clock x pipes x lanes; or another mix, of any width, that runs faster than `best`.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> flops_bench(const ProbeContext& context);

}  // namespace roof::cpu
