// Subjects of the "flops" bench on the tensor cores of compute capability 9.0 by wgmma, and of 10.0 by tcgen05: the instructions
// that alone reach their full rate.
//
// Launched    one kernel of whole waves of resident blocks of one warpgroup; each adds products of matrices in shared memory to
//             64 x 128 sums in registers (tcgen05: 128 x 256 in tensor memory). How many blocks at once is found by trying.
// Saturates   the tensor cores. Shared memory gives 6 KiB for each instruction (12 KiB), three quarters of what it could.
// FLOPs       2 m n k for each instruction. Dense alone. Operands are random numbers with busy significands.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if one bit of any block's sums differs from the host's on whole numbers; if the machine code of the loop holds
//             other than the instructions counted (the assembler takes alike ones in a row for one).
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/kernels/wgmma.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/wgmma_operands.hpp"
#include "ert/method/bench/subject.hpp"

#include <memory>

namespace roof::gpu {

/// Throws InputError for a precision that wgmma has none of.
Wgmma wgmma_for(Precision precision, bool is_e5m2);

/// FLOPs of one block in one step.
double flops_of_step(Wgmma instruction, Tile tile = {});

/// On the device, current meanwhile. Throws OutOfMemory, Unsupported or Error.
std::unique_ptr<Subject> make_wgmma(Precision precision, bool is_e5m2, DeviceId id, std::shared_ptr<const Nvml> nvml);
/// The same by tcgen05.
std::unique_ptr<Subject> make_tcgen05(Precision precision, bool is_e5m2, DeviceId id, std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
