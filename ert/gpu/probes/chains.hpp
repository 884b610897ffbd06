// Subjects of the "flops" bench on the CUDA cores.
//
// Launched    one kernel of whole waves of resident blocks; each thread runs independent chains of one kind of instruction over
//             a run-time number of steps. How many chains, and how many blocks at once, is found by trying.
// Saturates   the pipe of that instruction and precision; registers only.
// FLOPs       2 per multiply-add, 1 per addition or multiplication, in each lane: fp16 and bf16 have two in a register. Loop
//             counters are not counted: 3 instructions of some 515.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if one bit of any chain of any thread differs from the host's; if the machine code of the loop holds other than
//             the instructions counted; if more chains or threads raise the rate.
#pragma once

#include "ert/gpu/device.hpp"
#include "ert/gpu/kernels/chains.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/subject.hpp"

#include <memory>
#include <string_view>

namespace roof::gpu {

/// FLOPs of all threads of one block in one step.
double flops_of_step(const ChainKernel& kernel);

/// "fma", "add" or "mul"; throws InputError for others.
ChainOperation parse_chain_operation(std::string_view word);

/// On the device, current meanwhile. Throws OutOfMemory, Unsupported or Error.
std::unique_ptr<Subject> make_chains(Precision precision, ChainOperation operation, DeviceId id,
                                     std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
