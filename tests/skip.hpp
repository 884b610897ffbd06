// How a test says that it cannot run here.
#pragma once

#include <string>

namespace roof::tests {

/// Marks the test case as skipped, for a reason such as "this processor has no AVX2", which is printed; ctest reports
/// it. For use as `return skip(...)`. A test case that fails is not skipped.
void skip(const std::string& reason);

}  // namespace roof::tests

using roof::tests::skip;
