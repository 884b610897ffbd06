// Subjects of the "flops" bench on the tensor cores by mma.sync: the instruction that every generation since Ampere has.
//
// Launched    one kernel of whole waves of resident blocks; each warp has independent chains of products, each adding A * B, A and
//             B in registers, to its sums. How many chains, and how many blocks at once, is found by trying; in fp64 also
//             which of the two shapes.
// Saturates   the tensor cores, as far as this instruction reaches them: on compute capability 9.0 wgmma reaches farther.
// FLOPs       2 m n k for each instruction. Dense alone. Operands are random numbers with busy significands.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if one bit of any warp's sums differs from the host's on whole numbers; if the machine code of the loop holds
//             other than the instructions counted.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/kernels/mma.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/subject.hpp"

#include <memory>
#include <vector>

namespace roof::gpu {

/// Those a GPU of this compute capability (90 for 9.0) can do the precision with; fp8 in one of its two formats.
std::vector<Mma> mma_instructions_for(Precision precision, bool is_e5m2, int capability);

/// FLOPs of all warps of one block in one step.
double flops_of_step(Mma instruction);

/// On the device, current meanwhile. Throws OutOfMemory, Unsupported or Error.
std::unique_ptr<Subject> make_mma(Precision precision, bool is_e5m2, int capability, DeviceId id,
                                  std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
