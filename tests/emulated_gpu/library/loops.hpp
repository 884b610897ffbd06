// The loops that take the place of cuDNN and cuBLASLt.
#pragma once

namespace roof::emulated {

/// Whether convolutions and products compute bias and ReLU themselves; else a kernel of the engine follows. True at first.
bool& loops_fuse();

}  // namespace roof::emulated
