// digest.csv: what it keeps, and what is refused.
#include "analysis/fleet/digest.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/compressed.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

Digest made_digest()
{
    Digest digest{
        .node = "n17", .kind = "xeon-26cpu", .plan = "0123", .revision = "abc", .time = "2026-11-22T18:02:16Z"};
    digest.facts = {{"BIOS", "2.1, \"beta\""}};
    digest.ceilings = {{"cpu bandwidth DRAM load threads=26", "B/s", "steady", 1e11, 0.99e11, 1.01e11, 0, 30, 5},
                       {"cpu compute fp32 fma", "FLOP/s", "at least", 2e12, 1.9e12, HUGE_VAL, 2.1e12, 4}};
    digest.links = {{"n17 n18", "B/s", "steady", 1.2e9, 1.1e9, 1.3e9, 0, 9}};
    return digest;
}

/// The text with one replacement, and checksums that match it.
std::string forged(const std::string& from, const std::string& to)
{
    std::string text = to_csv(made_digest());
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    return with_checksums(text);
}

}  // namespace

TEST_CASE("a digest reads back as it was written")
{
    const Digest digest = parse_digest(to_csv(made_digest()), "digest.csv");
    CHECK(digest.node == "n17");
    CHECK(digest.kind == "xeon-26cpu");
    CHECK(digest.time == made_digest().time);
    CHECK(digest.facts.at("BIOS") == "2.1, \"beta\"");
    CHECK_FALSE(digest.facts.contains("node"));
    REQUIRE(digest.ceilings.size() == 2);
    CHECK(digest.ceilings[0].high == 1.01e11);
    CHECK(digest.ceilings[0].n == 30);
    CHECK(digest.ceilings[0].rounds == 5);
    CHECK(digest.ceilings[1].is_lower_bound());
    CHECK(digest.ceilings[1].spec == 2.1e12);
    REQUIRE(digest.links.size() == 1);
    CHECK(digest.links[0].name == "n17 n18");
}

TEST_CASE("a digest of an older version lacks the rounds of its intervals")
{
    std::string text = "what,name,value,low,high,unit,state,n,spec\n";
    for (const char* const fact : {"node,n17", "kind,xeon", "plan,0123", "revision,abc", "time,2026-11-22T18:02:16Z"})
        text += std::string("fact,") + fact + ",,,,,,\n";
    text += "ceiling,cpu L1 load,1e+11,9.9e+10,1.01e+11,B/s,steady,30,\nend,,6,,,,,,\n";
    const Digest digest = parse_digest(with_checksums(text), "d");
    REQUIRE(digest.ceilings.size() == 1);
    CHECK(digest.ceilings[0].n == 30);
    CHECK(digest.ceilings[0].rounds == 0);
}

TEST_CASE("messages between nodes are links, not ceilings of a node")
{
    Results results;
    for (const auto& [bench, path] : {std::pair{"network_pair", "0-1"}, {"network", "2x1"}, {"network", "1x2"}}) {
        Measurement row;
        row.bench = bench;
        row.role = Role::bandwidth;
        row.device = "cpu";
        if (row.bench == "network") row.point.set("operation", "ring");
        row.point.set("path", path);
        row.point.set("size", "1048576");
        row.work.compulsory = row.work.no_reuse = Bytes{1 << 20};
        row.samples.resize(9, Sample{.seconds = Seconds{1e-3}});
        row.seconds = {Seconds{1e-3}, Seconds{1e-3}, Seconds{1e-3}, 9, 0};
        row.variant = "n1 n2, made";
        results.rows.push_back(row);
    }
    const Digest digest = make_digest(results);
    REQUIRE(digest.ceilings.size() == 1);
    CHECK_THAT(digest.ceilings[0].name, Contains("1x2"));
    REQUIRE(digest.links.size() == 1);
    CHECK(digest.links[0].name == "n1 n2");
}

TEST_CASE("a digest with numbers that no measurement has is refused")
{
    for (const char* number : {"nan", "inf", "-1e11", "0", "1e999", "x", ""})
        CHECK_THROWS_WITH(parse_digest(forged(",1e+11,", std::string(",") + number + ","), "d"),
                          Contains("no number above 0"));
    CHECK_THROWS_WITH(parse_digest(forged(",1e+11,", ",5e+11,"), "d"), Contains("outside its interval"));
    CHECK_THROWS_WITH(parse_digest(forged("steady,30", "steady,-3"), "d"), Contains("number of samples"));
    CHECK_THROWS_WITH(parse_digest(forged("steady,30,,5", "steady,30,,-5"), "d"), Contains("number of rounds"));
}

TEST_CASE("a digest with a foreign name, time or line is refused")
{
    CHECK_THROWS_WITH(parse_digest(forged(",n17,", ",../n17,"), "d"), Contains("no node's name"));
    CHECK_THROWS_WITH(parse_digest(forged(",2026-11-22T", ",yesterday-22T"), "d"), Contains("no time"));
    CHECK_THROWS_WITH(parse_digest(forged(",2026-11-22T", ",2026-13-22T"), "d"), Contains("no time"));
    for (const char* ends : {"n18", "n17 ../n18", " n18", "n17 n18 n19"})
        CHECK_THROWS_WITH(parse_digest(forged("link,n17 n18", std::string("link,") + ends), "d"),
                          Contains("not the names of two nodes"));
    CHECK_THROWS_WITH(parse_digest(forged("fact,revision", "fact,node"), "d"), Contains("stands twice"));
    CHECK_THROWS_WITH(parse_digest(forged("link,n17", "script,n17"), "d"), Contains("no fact, ceiling, link or end"));
    CHECK_THROWS_WITH(parse_digest("id,seconds\n", "d"), Contains("columns"));
}

TEST_CASE("a digest that is cut off, changed or too long is refused")
{
    const std::string text = to_csv(made_digest());
    CHECK_THROWS_WITH(parse_digest(text.substr(0, text.rfind("end,")), "d"), Contains("cut off"));
    std::string changed = text;
    changed.replace(changed.find("1.01e+11"), 8, "1.02e+11");
    CHECK_THROWS_WITH(parse_digest(changed, "d"), Contains("checksum"));
    CHECK_THROWS_WITH(parse_digest(text + std::string(largest_digest, 'x'), "d"), Contains("longer than 1 MiB"));
}

TEST_CASE("a digest of eight GPUs has all of their ceilings, and is compressed")
{
    Digest digest = made_digest();
    for (int i = 0; i < 8 * 63; ++i) {
        digest.ceilings.push_back(digest.ceilings.front());
        digest.ceilings.back().name += " " + std::to_string(i);
    }
    const std::string text = to_csv(digest);
    const std::string file = compressed(text);
    CHECK(file.size() < text.size() / 4);
    const Digest read = parse_digest(file, "d");
    CHECK(read.ceilings.size() == digest.ceilings.size());
    CHECK_FALSE(read.facts.contains("left out"));
    CHECK_THROWS_AS(parse_digest(file.substr(0, file.size() / 2), "d"), InputError);
    CHECK_THROWS_WITH(parse_digest(compressed(std::string(2 * largest_digest, 'x')), "d"), Contains("more than 1 MiB"));
    CHECK_THROWS_WITH(parse_digest(compressed(file), "d"), Contains("d:1: "));
}

TEST_CASE("a digest of more than 1 MiB keeps what fits, and says how many rates it left out")
{
    Digest digest = made_digest();
    for (int i = 0; i < 20'000; ++i) {
        digest.ceilings.push_back(digest.ceilings.front());
        digest.ceilings.back().name += " " + std::to_string(i);
        digest.links.push_back(digest.links.front());
        digest.links.back().name = "n17 m" + std::to_string(i);
    }
    const std::string text = to_csv(digest);
    CHECK(text.size() <= largest_digest);
    const Digest read = parse_digest(text, "d");
    CHECK(read.links.size() > 10'000);
    CHECK(std::stoul(read.facts.at("left out")) + read.links.size() + read.ceilings.size() == 40'003);
}

namespace {

Measurement made_flops(const std::string& operation, const std::string& isa, const std::string& precision, double rate,
                       int threads)
{
    Measurement row;
    row.bench = "flops";
    row.role = Role::compute;
    row.device = "cpu";
    row.point.set("operation", operation);
    row.point.set("isa", isa);
    row.point.set("precision", precision);
    row.point.set("threads", std::to_string(threads));
    row.work.flops = Flops{1e9};
    row.samples.resize(9, Sample{.seconds = Seconds{1e9 / rate}});
    row.seconds = {Seconds{1e9 / rate}, Seconds{1e9 / rate}, Seconds{1e9 / rate}, 9, 0};
    return row;
}

}  // namespace

TEST_CASE("twin rates are one in the digest, their geometric mean, and all others stay")
{
    Results results;
    for (const char* precision : {"fp64", "fp32"})
        for (const char* operation : {"best", "fma", "mul+add", "add"})
            for (const int threads : {1, 4})
                for (const char* isa : {"sse", "avx2"})
                    results.rows.push_back(made_flops(operation, isa, precision,
                                                      threads * (precision == std::string("fp64") ? 1e10 : 4e10),
                                                      threads));
    results.rows.push_back(made_flops("div", "avx2", "fp64", 1e9, 1));
    results.rows.push_back(made_flops("best", "scalar", "fp64", 5e9, 4));
    const Digest digest = make_digest(results);
    std::vector<std::string> names;
    for (const DigestRate& rate : digest.ceilings) names.push_back(rate.name);
    CHECK(names == std::vector<std::string>{
                       "cpu compute core mean of 8 sse threads=4", "cpu compute core mean of 8 avx2 threads=4",
                       "cpu compute core best fp64 scalar threads=4", "cpu compute core mean of 8 sse threads=1",
                       "cpu compute core mean of 8 avx2 threads=1", "cpu compute core div fp64 avx2 threads=1"});
    CHECK(digest.ceilings[0].value == Approx(8e10));  // 4 threads; sqrt(1e10 * 4e10) each
    CHECK(digest.ceilings[3].value == Approx(2e10));
}

TEST_CASE("the file of a long digest is compressed, that of a short one is text")
{
    const fakes::TemporaryFolder folder;
    Results results;
    results.folder = folder.path();
    const auto kept = [&] {
        keep_digest(results);
        return read_file(folder / "digest.csv");
    };
    for (int i = 0; i < 20; ++i)
        results.rows.push_back(made_flops("operation" + std::to_string(i), "avx2", "fp32", 1e10, 4));
    CHECK_FALSE(is_compressed(kept()));
    for (int i = 20; i < 200; ++i)
        results.rows.push_back(made_flops("operation" + std::to_string(i), "avx2", "fp32", 1e10, 4));
    const std::string file = kept();
    CHECK(is_compressed(file));
    CHECK(decompressed(file, "d", largest_digest) == to_csv(make_digest(results)));
}
