// The printed Kubernetes manifest against the published schemas of its objects: data/kubernetes_1.33.json has the definitions that Job,
// Namespace and ResourceQuota refer to, from the OpenAPI specification of Kubernetes 1.33 (Apache License 2.0), without descriptions. As
// kubectl does with --validate=strict, they allow no other properties.
#include "analysis/fleet/fleet_scripts.hpp"
#include "analysis/fleet/node_list.hpp"
#include "ert/base/files.hpp"
#include "ert/base/number.hpp"

#include <yaml-cpp/yaml.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace roof;
using nlohmann::json;

namespace {

/// Plain scalars as YAML 1.2 reads them; quoted ones are strings.
json to_json(const YAML::Node& node)
{
    if (node.IsNull()) return nullptr;
    if (node.IsMap()) {
        json object = json::object();
        for (const auto& entry : node) object[entry.first.as<std::string>()] = to_json(entry.second);
        return object;
    }
    if (node.IsSequence()) {
        json array = json::array();
        for (const YAML::Node& entry : node) array.push_back(to_json(entry));
        return array;
    }
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return text;
    if (text == "true" || text == "false") return text == "true";
    if (const auto whole = parse_number<long long>(text)) return *whole;
    if (const auto real = parse_number<double>(text)) return *real;
    return text;
}

bool is_of_type(const json& value, const std::string& type)
{
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return value.type_name() == type;
}

/// The first violation, with its place, or "". The schemas use these keywords, and `format`, which is not checked.
std::string violation(const json& schemas, const json& schema, const json& value, const std::string& place)
{
    if (schema.contains("$ref")) return violation(schemas, schemas.at(schema["$ref"].get<std::string>()), value, place);
    if (schema.contains("oneOf")) {
        const auto fits = [&](const json& one) { return violation(schemas, one, value, place).empty(); };
        return std::ranges::count_if(schema["oneOf"], fits) == 1 ? "" : place + ": fits not one of its types";
    }
    if (schema.contains("type")) {
        const json types = schema["type"].is_array() ? schema["type"] : json{schema["type"]};
        if (std::ranges::none_of(types, [&](const json& type) { return is_of_type(value, type); }))
            return place + ": is no " + types.dump();
    }
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
        return place + ": is none of " + schema["enum"].dump();
    for (const json& name : schema.value("required", json::array()))
        if (value.is_object() && !value.contains(name)) return place + ": lacks " + name.get<std::string>();
    if (value.is_array()) {
        for (const json& entry : value)
            if (std::string found = violation(schemas, schema.at("items"), entry, place + "[]"); !found.empty())
                return found;
    }
    if (!value.is_object()) return "";
    const json properties = schema.value("properties", json::object());
    const json others = schema.value("additionalProperties", json(true));
    for (const auto& [name, entry] : value.items()) {
        if (!properties.contains(name) && others == false) return place + ": has no property " + name;
        const json& of_entry = properties.contains(name) ? properties[name] : others;
        if (of_entry.is_boolean()) continue;
        if (std::string found = violation(schemas, of_entry, entry, place + '.' + name); !found.empty()) return found;
    }
    return "";
}

std::string violation_in(const json& document)
{
    static const json schemas = json::parse(read_file(ROOF_TEST_DATA "/fleet/data/kubernetes_1.33.json"));
    const std::string group = document.at("kind") == "Job" ? "batch" : "core";
    const auto kind = document.at("kind").get<std::string>();
    return violation(schemas, schemas.at("io.k8s.api." + group + ".v1." + kind), document, kind);
}

std::vector<json> manifest()
{
    const analysis::FleetScript script{.engine = "kubernetes",
                                       .plan = "calibrate/cpu",
                                       .nodes = analysis::node_list("Node_1.site,n[2-4]"),
                                       .results = "/results",
                                       .image = "registry/roof:1",
                                       .claim = "shared"};
    analysis::FleetScript with_gpus = script;
    with_gpus.plan.clear();
    with_gpus.devices = {"cpu", "gpu"};
    std::vector<json> documents;
    for (const analysis::FleetScript& one : {with_gpus, script})
        for (const YAML::Node& document : YAML::LoadAll(analysis::fleet_script(one)))
            documents.push_back(to_json(document));
    return documents;
}

}  // namespace

TEST_CASE("every object of the Kubernetes manifest follows its published schema")
{
    const std::vector<json> documents = manifest();
    REQUIRE(documents.size() == 12);
    for (const json& document : documents) CHECK(violation_in(document) == "");
}

TEST_CASE("the published schemas refuse what Kubernetes would refuse")
{
    const json job = manifest().back();
    const json::json_pointer pod("/spec/template/spec");
    const auto without = [&](const char* place, const char* name) {
        json changed = job;
        changed.at(json::json_pointer(place)).erase(name);
        return violation_in(changed);
    };
    const auto with = [&](const json::json_pointer& place, const json& value) {
        json changed = job;
        changed[place] = value;
        return violation_in(changed);
    };
    CHECK(with(pod / "restartsPolicy", "Never") == "Job.spec.template.spec: has no property restartsPolicy");
    CHECK(with(pod / "restartPolicy", 1) == R"(Job.spec.template.spec.restartPolicy: is no ["string","null"])");
    CHECK(with(json::json_pointer("/spec/backoffLimit"), "2") == R"(Job.spec.backoffLimit: is no ["integer","null"])");
    CHECK(with(json::json_pointer("/apiVersion"), "batch/v2") == R"(Job.apiVersion: is none of ["batch/v1"])");
    CHECK(with(pod / "nodeSelector", {{"kubernetes.io/hostname", 7}}) ==
          R"(Job.spec.template.spec.nodeSelector.kubernetes.io/hostname: is no ["string","null"])");
    CHECK(without("/spec", "template") == "Job.spec: lacks template");
    CHECK(without("/spec/template/spec/containers/0", "name") == "Job.spec.template.spec.containers[]: lacks name");
}
