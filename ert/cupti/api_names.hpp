// Names of the runtime's and the driver's functions, by CUPTI's numbers.
#pragma once

#include "ert/cupti/library.hpp"
#include "ert/recording/records.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace roof::cupti {

/// "cudaLaunchKernel", without the version and the kind of default stream that CUPTI adds. "function 1234" for a number
/// unknown to CUPTI.
std::string api_name(const Cupti& cupti, ApiDomain domain, std::uint32_t function);

/// "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel", "cuMemAlloc_v2" -> "cuMemAlloc".
std::string plain_api_name(std::string name);

}  // namespace roof::cupti
