// Callgrind's file with addresses, and the work of a program from it. The code is written by hand as an ELF file.
#include "analysis/instructions/executed_work.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/skip.hpp"

#include <elf.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

using namespace roof;
using namespace roof::analysis;

namespace {

const std::string head =
    "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd: ./program\npositions: instr\n"
    "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw\n";

/// Two functions of one object, one of which calls the other, and code that is in no file.
std::string counts(const std::string& object)
{
    return head + "\nob=(1) " + object +
           "\nfl=(1) a.c\nfn=(7) scale\n0x1000 100 100 0 0 30 0 0 20 0 0 5 0\n0x1004 100 0 100 0 0 7 0 0 3 0 0 9\n"
           "\nfn=(8) main'2\n0x1008 2\ncob=(1)\ncfn=(7)\ncalls=1 0x1000\n0x1008 200 100 100 0 30 7 0 20 3\n"
           "\nob=(2) ???\nfn=(9) 0x4000\n0x4000 50\n"
           "\nob=(1)\nfn=(7)\n0x1004 1\n\ntotals: 253\n";
}

/// 64-bit, with one segment: at 0x1000 in memory, 0x200 in the file.
std::string elf(const std::string& code)
{
    Elf64_Ehdr top{};
    std::memcpy(top.e_ident, ELFMAG, SELFMAG);
    top.e_ident[EI_CLASS] = ELFCLASS64;
    top.e_phoff = sizeof top;
    top.e_phentsize = sizeof(Elf64_Phdr);
    top.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_offset = 0x200;
    segment.p_vaddr = 0x1000;
    segment.p_filesz = code.size();
    std::string file(0x200, '\0');
    std::memcpy(file.data(), &top, sizeof top);
    std::memcpy(file.data() + sizeof top, &segment, sizeof segment);
    return file + code;
}

}  // namespace

TEST_CASE("callgrind's counts are those of each instruction, without what called functions cost")
{
    const auto functions = parse_callgrind(counts("/bin/program"));
    REQUIRE(functions.size() == 3);
    const auto named = [&](const std::string& name) {
        return *std::ranges::find(functions, name, &ExecutedFunction::name);
    };
    const ExecutedFunction scale = named("scale");
    CHECK(scale.object == "/bin/program");
    REQUIRE(scale.instructions.size() == 3);
    CHECK(scale.instructions[0].address == 0x1000);
    CHECK(scale.instructions[0].times == 100);
    CHECK(scale.instructions[0].first_read == 30);
    CHECK(scale.instructions[0].last_read == 20);
    CHECK(scale.instructions[0].written_back == 5);
    CHECK(scale.instructions[1].first_written == 7);
    CHECK(scale.instructions[1].last_written == 3);
    CHECK(named("main").instructions.size() == 1);
    CHECK(named("0x4000").object == "???");
}

TEST_CASE("another file than callgrind's with addresses is an error")
{
    CHECK_THROWS_AS(parse_callgrind(""), Error);
    CHECK_THROWS_AS(parse_callgrind("positions: line\nevents: Ir\nfn=(1) f\n12 3\n"), Error);
    CHECK_THROWS_AS(parse_callgrind(head + "fn=(1) f\n0x10 many\n"), Error);
}

TEST_CASE("code is found by its address, and an address by its place in the file")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "program", elf("\x0f\x58\xc1\x90"));
    const ObjectCode code(folder / "program");
    REQUIRE(code.at(0x1003).size() == 1);
    CHECK(code.at(0x1003)[0] == 0x90);
    CHECK(code.at(0x1004).empty());
    CHECK(code.at(0xfff).empty());
    CHECK(code.address_of(0x202) == 0x1002);
    CHECK_FALSE(code.address_of(0x1ff));
    write_file(folder / "text", "#!/bin/sh\n");
    CHECK_THROWS_AS(ObjectCode(folder / "text"), Error);
    CHECK_THROWS_AS(ObjectCode(folder / "none"), Error);
    write_file(folder / "cut", elf("").substr(0, 70));
    CHECK_THROWS_AS(ObjectCode(folder / "cut"), Error);
}

TEST_CASE("a program's work is that of its functions, and code in no file is unknown")
{
    if (!missing_decoder().empty()) return skip(missing_decoder());
    const fakes::TemporaryFolder folder;
    // at 0x1000 mulps xmm0, [rax] and a nop; at 0x1004 movups [rax], xmm0 and a nop; at 0x1008 ret
    constexpr std::string_view code("\x0f\x59\x00\x90\x0f\x11\x00\x90\xc3", 9);
    write_file(folder / "program", elf(std::string(code)));
    const ExecutedProgram program = executed_work(parse_callgrind(counts((folder / "program").string())));
    REQUIRE(program.functions.size() == 3);
    const ExecutedWork& scale = program.functions.front();
    CHECK(scale.name == "scale");
    CHECK(scale.instructions == 201);
    CHECK(scale.total_flops() == 4 * 100);
    CHECK(scale.flops.begin()->first.text() == "fp32 by SSE, 128 bits");
    CHECK(scale.operand_bytes == 16 * 201);
    CHECK(scale.into_first == 64 * 37);
    CHECK(scale.read == 64 * 20);
    CHECK(scale.written == 64 * (3 + 11));  // 14 changed lines left, of which stores fetched 3
    CHECK(program.whole.unknown == 50);
    CHECK(program.whole.instructions == 253);
    CHECK(program.whole.by_precision() == std::map<std::string, double>{{"fp32", 400}});
}

TEST_CASE("a line that stores fetched counts where it was fetched, not where it left")
{
    const auto line = [](double fetched, double left) {
        return ExecutedInstruction{.address = 1, .times = 0, .last_written = fetched, .written_back = left};
    };
    // The first fills a cache with changed lines, which leave while the second reads.
    const ExecutedProgram filled = executed_work({{"fill", "x", {line(100, 20)}}, {"read", "x", {line(0, 70)}}});
    CHECK(filled.whole.written == 64 * 100);
    // Here more left than stores fetched: 80 lines were read first, and changed in place.
    const ExecutedProgram changed = executed_work({{"fill", "x", {line(100, 20)}}, {"axpy", "x", {line(0, 160)}}});
    CHECK(changed.whole.written == 64 * 180);
}
