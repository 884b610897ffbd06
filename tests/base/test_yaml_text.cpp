#include "ert/base/yaml_text.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using Catch::Contains;

TEST_CASE("a YAML text has one document, whose keys are words that stand once in their map")
{
    CHECK(parse_yaml("a: 1\nb: {a: 2}\n", "x.yaml")["b"]["a"].as<int>() == 2);
    CHECK(parse_yaml("", "x.yaml").IsNull());
    CHECK_THROWS_WITH(parse_yaml("a: 1\na: 2\n", "x.yaml"), Contains("x.yaml:2: the key 'a' appears twice"));
    CHECK_THROWS_WITH(parse_yaml("a: 1\n---\nb: 2\n", "x.yaml"), Contains("x.yaml:2: a second document"));
    CHECK_THROWS_WITH(parse_yaml("a: 1\n...\nb: 2\n", "x.yaml"), Contains("x.yaml:3: a second document"));
    CHECK(parse_yaml("%YAML 1.2\n---\na: 1\n", "x.yaml")["a"].as<int>() == 1);
    CHECK_THROWS_WITH(parse_yaml("- &a {b: 1}\n- <<: *a\n", "x.yaml"),
                      Contains("x.yaml:2: merge keys (<<) are not read"));
    CHECK(parse_yaml("# text\n---\na: 1\n...\n", "x.yaml")["a"].as<int>() == 1);
    CHECK_THROWS_WITH(parse_yaml("[a, b]: 1\n", "x.yaml"), Contains("x.yaml:1: a key is one word"));
    CHECK_THROWS_AS(parse_yaml("a: [1\n", "x.yaml"), InputError);
}

TEST_CASE("aliases that multiply values, and deep nesting, are refused")
{
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        std::string list;
        for (int k = 0; k < 10; ++k) list += before + (k < 9 ? ", " : "");
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
    }
    CHECK_THROWS_WITH(parse_yaml(bomb, "x.yaml"), Contains("more than 100000 values"));
    CHECK_THROWS_WITH(parse_yaml("a: &a [*a]\n", "x.yaml"), Contains("nested too deeply"));
    // 1 + 271 (1 + 368) values, and one more.
    std::string many = "- &a [0";
    for (int i = 1; i < 368; ++i) many += ", " + std::to_string(i);
    many += "]\n";
    for (int i = 1; i < 271; ++i) many += "- *a\n";
    CHECK(parse_yaml(many, "x.yaml").size() == 271);
    CHECK_THROWS_WITH(parse_yaml(many + "- x\n", "x.yaml"), "x.yaml:272: there are more than 100000 values");
    const auto nested = [](const std::string& begin, const std::string& end, int depth) {
        std::string text = "0";
        for (int i = 0; i < depth; ++i) text = begin + text + end;
        return text;
    };
    for (const auto& [begin, end] : {std::pair{"[", "]"}, {"{a: ", "}"}}) {
        CHECK_NOTHROW(parse_yaml(nested(begin, end, 100), "x.yaml"));
        CHECK_THROWS_WITH(parse_yaml(nested(begin, end, 101), "x.yaml"), "x.yaml:1: values are nested too deeply");
    }
    CHECK_THROWS_AS(parse_yaml(std::string(100'000, '['), "x.yaml"), InputError);
}

TEST_CASE("a text with too many values is refused before the library reads it")
{
    std::string list = "[";
    for (int i = 0; i < 250'000; ++i) list += "a,";
    CHECK_THROWS_WITH(parse_yaml(list + "a", "x.yaml"),
                      Contains("x.yaml: there are more than 100000 values"));  // and no "]"
}

TEST_CASE("a tab or a wrong indent is said in plain words, with its line")
{
    CHECK_THROWS_WITH(parse_yaml("run:\n\t- bench: train\n", "p.yaml"),
                      Catch::StartsWith("p.yaml:2") && Catch::Contains("not with a tab"));
    CHECK_THROWS_WITH(parse_yaml("run:\n  - bench: train\n   model: a\n", "p.yaml"),
                      Catch::StartsWith("p.yaml:3") && Catch::Contains("indent of this line"));
}

TEST_CASE("a node is written on one line, whatever style it was read in")
{
    const YAML::Node node =
        parse_yaml("name: small\nimage:\n  - 3\n  - 32\nlayers:\n  - relu: {name: a}\n  - flatten\n", "x");
    CHECK(on_one_line(node) == "{name: small, image: [3, 32], layers: [{relu: {name: a}}, flatten]}");
}

TEST_CASE("a value of another kind is an error with its line")
{
    const YAML::Node node = parse_yaml("a: 1\nb: word\n", "x.yaml");
    CHECK_THROWS_WITH(reading_yaml("x.yaml", [&] { return node["b"].as<int>(); }), Contains("x.yaml:2"));
}

TEST_CASE("the keys of a map are checked, and the library's words are made plain")
{
    const YamlReader reader("x.yaml");
    const YAML::Node node = parse_yaml("a: 1\nbench: 2\n", "x.yaml");
    CHECK_NOTHROW(reader.check_keys(node, {"a", "bench"}, "key"));
    CHECK_THROWS_WITH(reader.check_keys(node, {"a", "batch"}, "key"), Contains("x.yaml:2: ") && Contains("'bench'"));
    CHECK_THROWS_WITH(reader.check_keys(node["a"], {"a", "b"}, "key"),
                      "x.yaml:1: a map is expected, with the keys a, b");
    for (const std::string tab : {"illegal block entry", "illegal map value"})
        CHECK(in_plain_words(tab) ==
              tab + ": indent with blanks, not with a tab, and begin a list or a map on a line of its own");
    for (const std::string indent : {"end of map not found", "end of sequence not found"})
        CHECK(in_plain_words(indent) == indent + ": the indent of this line is that of no line above it");
    CHECK(in_plain_words("bad file") == "bad file");
}
