// Passes of positions: sums and turns that are computed where they are read.
#include "tests/engine/passes/small_list.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::ir;

TEST_CASE("a layer norm computes the sum that it reads first, and others still read it")
{
    for (const std::string what : {"plain", "relu", "one map", "read before", "no norm"}) {
        INFO(what);
        SmallList of;
        const Tensor a = of.map("a"), b = of.map("b"), x = of.map("x"), y = of.map("y");
        of.forward("add", "add");
        of.list.add_work({.flops = Flops{256}, .compulsory = {}, .no_reuse = {}});
        of.list.append(
            Normalise{.source = a, .other = what == "one map" ? Tensor{} : b, .result = x, .relu = what == "relu"});
        of.forward("norm", "layer_norm");
        if (what == "read before") of.list.append(Normalise{.source = x, .result = of.map("z")});
        if (what != "no norm") of.list.append(LayerNorm{.source = x, .result = y});
        of.forward("next", "add");
        of.list.append(Normalise{.source = x, .other = y, .result = of.map("w")});
        const std::string before = of.text();
        add_in_norms(of.list);
        CHECK(of.text() == (what == "plain" ? "norm: y, x = positions(a + b)\nnext: w = x + y\n" : before));
        if (what != "plain") continue;
        CHECK(std::next(of.list.stages.begin())->part.work.flops.value == 256);
        CHECK(std::next(of.list.stages.begin())->entries.front().implementation == "roof:layer_norm of a sum");
    }
}

TEST_CASE("a product of two maps applies the activation of the one that it alone reads")
{
    for (const std::string what : {"first", "second", "read", "a factor for each channel"}) {
        INFO(what);
        SmallList of;
        const Tensor g = of.map("g"), a = of.map("a"), y = of.map("y");
        const bool is_map = what != "a factor for each channel";
        const Tensor u = is_map ? of.map("u") : of.named("u", {.batch = 2, .channels = 8});
        of.forward("act", "silu");
        of.list.add_work({.flops = Flops{256}, .compulsory = {}, .no_reuse = {}});
        of.list.append(Activate{model::LayerKind::silu, g, {}, a});
        of.forward("gated", "multiply");
        of.list.append(what == "second" ? Scale{u, a, y} : Scale{a, u, y});
        if (what == "read") of.list.append(Normalise{.source = a, .result = of.map("z")});
        const std::string before = of.text();
        activate_in_scales(of.list);
        CHECK(of.text() == (what == "read" ? before : "gated: y = silu(g) * u\n"));
        if (what != "read") CHECK(of.list.stages.back().part.work.flops.value == 256);
    }
}

TEST_CASE("attention over a cache turns what it alone reads, where half of a head is whole vectors")
{
    for (const auto& [half, is_read, fuses] :
         {std::tuple{8, false, true}, {24, false, true}, {4, false, false}, {12, false, false}, {8, true, false}}) {
        INFO(half << (is_read ? ", read" : ""));
        SmallList of;
        const Tensor q = of.map("q"), t = of.map("t"), y = of.map("y");
        of.forward("rope", "rope");
        of.list.append(Turn{q, t, of.named("angles", {.batch = 2, .channels = half})});
        of.forward("attention", "attention");
        of.list.append(AttendCached{.source = t, .cache = of.map("cache"), .result = y});
        if (is_read) of.list.append(Normalise{.source = t, .result = of.map("z")});
        const std::string before = of.text();
        turn_in_attention(of.list);
        CHECK(of.text() == (fuses ? "attention: y = attend(q by angles)\n" : before));
    }
    SmallList of;
    of.forward("attention", "attention");
    of.list.append(AttendCached{.source = of.map("q"), .cache = of.map("cache"), .result = of.map("y")});
    turn_in_attention(of.list);
    CHECK(of.text() == "attention: y = attend(q)\n");
}
