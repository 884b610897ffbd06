// What the probes do beside their usual loops: exponentials, conflicts in banks, several readers of a line, and tiles.
// Expected values by plain arithmetic.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/shared.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/readings.hpp"

#include <cstring>
#include <set>
#include <utility>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::in_all_schedules;

TEST_CASE("blocks with the same stretch each read all of it", "[kernels]")
{
    constexpr int passes = 2;
    constexpr std::size_t threads = 512;
    const Stream stream;
    Arrays arrays(StreamOperation::load, std::size_t{41} * bulk_chunk_bytes, 6 * threads, stream);
    for (const auto& [blocks, readers] : {std::pair{3, 3}, {6, 2}}) {
        arrays.clear_results();
        StreamLaunch launch = arrays.launch();
        launch.blocks = blocks;
        launch.readers = readers;
        launch.passes = passes;
        launch.in_step = true;
        enqueue(stream_kernel_of({StreamOperation::load, StreamLayout::stretches, threads, true}), launch,
                stream.get());
        stream.synchronize();
        CHECK_NOTHROW(arrays.check(passes * readers, static_cast<std::size_t>(blocks) * threads));
    }
}
