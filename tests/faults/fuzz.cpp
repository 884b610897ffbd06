// The readers for libFuzzer, which looks for inputs that reach new code. The first byte of an input chooses the reader.
// ROOF_CORPUS names a folder that gets the corpus of each reader; it is the argument of the program, too.
#include "tests/fakes/temporary_folder.hpp"
#include "tests/faults/readers.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace {

const std::vector<roof::faults::Reader>& all()
{
    static const std::vector<roof::faults::Reader> readers = roof::faults::readers(ROOF_TESTS);
    return readers;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    const char* const folder = std::getenv("ROOF_CORPUS");
    if (folder == nullptr) return 0;
    int number = 0;
    for (std::size_t i = 0; i < all().size(); ++i)
        for (const std::string& text : all()[i].corpus)
            std::ofstream(std::string(folder) + "/" + std::to_string(number++), std::ios::binary)
                << static_cast<char>(i) << text;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const roof::fakes::TemporaryFolder scratch;
    if (size == 0 || data[0] >= all().size()) return -1;
    const roof::faults::Reader& reader = all()[data[0]];
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string failure = roof::faults::answer_of(reader, text, scratch.path().string()).failure;
    if (failure.empty()) return 0;
    std::cerr << reader.name << ": " << failure << std::endl;
    std::abort();
}
