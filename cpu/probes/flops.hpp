// Probe "flops": the arithmetic ceiling of one core, and of all cores together.
//
// Launched: on every thread, a generated loop of at least 24 instructions of the operation's kinds, on independent
//   register chains, without memory accesses. Trials choose the number and order of chains: see `candidates` in
//   operations.hpp. `best` tries all kinds.
// Saturates: the arithmetic pipes of the operation. `best` is the ceiling of the precision. `fma` is what most tools
//   call the peak; cores with separate add pipes do more, and `fma+add` shows it. `mul+add` is the ceiling of code
//   built without fma; `dot` and `tile` are the products of vectors and of tiles in bf16 and int8. The factor of a
//   multiplication is -1, so multipliers toggle few bits: where power limits the clock, real data may run somewhat
//   slower.
// Counts: 2 FLOPs per multiply-add, fused or in a product, 1 per addition, multiplication, division or root, in every
//   lane. Integer operations count alike. Bytes: none.
// Falsified by: a result that differs in one bit from the host reference; a loop whose decoded instructions are not
//   those counted; a rate above clock x pipes x lanes; another mix, of any width, that runs faster than `best`.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> flops_bench(const ProbeContext& context);

}  // namespace roof::cpu
