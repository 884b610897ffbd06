// What each operator makes of constants, by the definitions of ONNX, and what it refuses; constants of each type.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/onnx_node.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <regex>
#include <sstream>

using namespace roof;
using namespace roof::model::onnx_file;
using Type = onnx::TensorProto;

namespace {

/// Tensors are written as 5 (of no axis), [1 2], 1x2[1 2], f[0.5] (floats), w1x2[1 2] (trained), z[0] (zeros of the
/// file), 4[?] (numbers that are not known); _ stands for an input that is left out. "Operator attributes: inputs ->
/// result; inputs -> result"
constexpr const char* definitions = R"(
Add: [1 2] [10 20] -> [11 22]; 4 0 -> 4; 2147483648 0 -> 2147483648; f[1 2] f1 -> f[2 3]
Add: 2147483649 0 -> refused of a size that the file leaves open
Add: 0 -2147483649 -> refused of a size that the file leaves open
Add: [] [] -> []; [1] [] -> []; 2x1[1 2] [10 20] -> 2x2[11 21 12 22]
Add: [1 2] [1 2 3] -> refused of lists of 2 and 3
Add: w[1 2] f1 -> refused of floats; 1 -> refused without input 1; -> refused without input 0; z[0] 1 -> [1]
Sub: [5] [1 2 3] -> [4 3 2]
Mul: [1 2 3] 2 -> [2 4 6]; w3 f2 -> f6; 2 4[?] -> refused of constants that are no lists of integers
Div: [-7 8] [2 3] -> [-3 2]; f7 f2 -> f3.5; 4 0 -> refused by zero
Mod: [-7 7] 3 -> [2 1]; 4 0 -> refused by zero
Sqrt: f9 -> f3
Cast to=7: f[1.75 -1.75] -> [1 -1]; f4[?] -> 4[?]
Cast to=9: f[0.5 -0.5 0 3] -> [1 1 0 1]; [2 0] -> [1 0]; f4[?] -> 4[?]
Cast: [3] -> f[3]
Identity: w2x2[1 2 3 4] -> f2x2[1 2 3 4]
Concat axis=0: [1] [2 3] -> [1 2 3]; [1] _ -> refused without input 1
Concat: [1] [2 3] -> refused without axis
Concat axis=-1: [1] [2 3] -> [1 2 3]
Concat axis=1: 2x1[1 2] 2x2[3 4 5 6] -> 2x3[1 3 4 2 5 6]; 2x1[1 2] 3x1[1 2 3] -> refused of 3x1 and 2x1
Concat axis=1: [1] [2 3] -> refused of axis 1; 2x1[1 2] [1] -> refused of 1 and 2x1
Concat axis=1: w1x2[1 2] w1x2[1 2] -> refused of floats
Concat axis=1: 0x2[] 0x3[] -> 0x5[]; 1x1[1] 1x0[] 1x2[2 3] -> 1x3[1 2 3]; 1x1x1[1] 1x1[1] -> refused of 1x1 and 1x1x1
Slice: [1 2 3 4 5] [1] [3] -> [2 3]; [1 2 3] [-2] [4611686018427387904] _ [1] -> [2 3]; [1 2 3] [2] [1] [0] -> []
Slice: [1] [0] [1] [1] -> refused of axis 1; [1 2 3 4 5] [0] [5] _ [2] -> [1 3 5]; [1 2 3] [5] [-9] _ [-1] -> [3 2 1]
Slice: 2x3[1 2 3 4 5 6] [1] [3] [1] -> 2x2[2 3 5 6]; [1] [0] [1] _ [0] -> refused with step 0
Slice: [1] [0 1] [1] -> refused of places that are not given; [1 2 3] -> [1 2 3]
Slice starts=1 ends=2: [1 2 3] -> [2]
Slice: [1 2] [0] [1] [0 0] -> refused of places that are not given; [1 2] [0] [2] _ [2147483648] -> [1]
Slice: [1 2] [0] [2] _ [2147483649] -> refused with step 2147483649
Slice: [1 2 3 4 5] [-2] [0] [0] [-2] -> [4 2]; [1] [0] [1 1] -> refused of places that are not given
Slice: 2x2[1 2 3 4] [1 0] [2 1] -> 1x1[3]; z[0 0] [1] [2] -> z[0]
Expand: 7 [3] -> [7 7 7]; 1x3[1 2 3] [2 1] -> 2x3[1 2 3 1 2 3]; 1x2[1 2] [1] -> 1x2[1 2]; [] [0] -> []
Expand: 2x1[1 2] [3] -> 2x3[1 1 1 2 2 2]; 7 [262145] -> 262145[?]; 4[?] [1] -> 4[?]; f[2] [4] -> f[2 2 2 2]
Expand: f[2 3] [2] -> f[2 3]; [1 2] [3] -> refused of lists of 2 and 3
Expand: z0 [2] -> z[0 0]; 7 2[?] -> refused of constants that are no lists of integers
Reshape: 2x2[1 2 3 4] [-1] -> [1 2 3 4]; 2x3[1 2 3 4 5 6] [3 -1] -> 3x2[1 2 3 4 5 6]
Squeeze: [5] -> 5; 1x2[5 6] -> [5 6]
Squeeze axes=0: 1x1[5] -> [5]; 2x1[5 6] -> refused of an axis of 2
Unsqueeze axes=0: 5 -> [5]; [5 6] -> 1x2[5 6]
Unsqueeze axes=0,-1: [5 6] -> 1x2x1[5 6]
Unsqueeze axes=2: [5 6] -> refused of axis 2
Equal: [1 2 3] 2 -> [0 1 0]; [1 2] [1 3] -> [1 0]; [] [] -> []
Equal: f[1 2] f1 -> [1 0]
Where: [1 0 1] 5 [7 8 9] -> [5 8 5]; [1 0] [5 6] [7 8] -> [5 8]; 1 5 -> refused without input 2
Where: 1 [5 6] [7 8 9] -> refused of lists of 2 and 3; 2x1[1 0] [5 6] 0 -> 2x2[5 6 0 0]
Gather: [5 6 7] 2 -> 7; [5 6 7] 3 -> refused of place 3; [5 6 7] -4 -> refused of place -4; f[5 6] 1 -> f6
Gather axis=-1: [5 6 7] [-3 0] -> [5 5]
Gather axis=1: [5 6 7] 0 -> refused of axis 1; 2x2[1 2 3 4] 1 -> [2 4]; 2x2[1 2 3 4] [1 0] -> 2x2[2 1 4 3]
Gather: 5 0 -> refused of axis 0; 1x2[5 6] 0 -> [5 6]
Gather: [5 6] [] -> []; [5 6] f[1] -> refused of constants that are no lists of integers
Gather axis=1: 2x2x2[1 2 3 4 5 6 7 8] [1 0] -> 2x2x2[3 4 1 2 7 8 5 6]; 0x2[] [1] -> 0x1[]
Gather axis=1: 2x3[1 2 3 4 5 6] 1x2[2 0] -> 2x1x2[3 1 6 4]; 2x0[] [] -> 2x0[]
Not: [1 0 2] -> [0 1 0]; z[0] -> [1]
Pow: [2 3] 2 -> [4 9]
Range: 1 7 2 -> [1 3 5]; 3 0 -1 -> [3 2 1]; 0 3 0 -> refused of too many numbers
Range: [1 2] 3 1 -> refused of more than one number; 3 0 1 -> []; 3 0 0 -> refused of too many numbers
Range: f0 f1 f0.5 -> f[0 0.5]; 0 5 2 -> [0 2 4]
ScatterND: [1 2 3] 1x1[1] [9] -> [1 9 3]; 2x2[1 2 3 4] 1x1[-1] 1x2[8 9] -> 2x2[1 2 8 9]
ScatterND: 2x2[1 2 3 4] 1x2[1 0] [9] -> 2x2[1 2 9 4]
ScatterND: [1 2] 1x2[0 0] [9] -> refused of places in 1x2
Squeeze axes=1: [5] -> refused of axis 1
ScatterND: [1 2] 1x1[2] [9] -> refused of place 2; [1 2] 1x1[0] [8 9] -> refused of 2
ScatterND: [1 2] 0 [9] -> refused of places in 
ScatterND: z[0] 1x1[0] [9] -> [9]; [1] f1x1[0] [9] -> refused of constants that are no lists of integers
GatherElements axis=1: 1x3[5 6 7] 1x2[2 0] -> 1x2[7 5]
GatherElements: 1x3[5 6 7] 1x1[0] -> refused with axis 0; 3x1[5 6 7] 1x1[0] -> refused of more than one axis
GatherElements: w2x2[1 2 3 4] 1x2[0 0] -> refused of floats
Gather: w3x2[1 2 3 4 5 6] [0 1] -> f2x2[?]; w3x1[1 2 3] [0 0] -> f1x1[?]; w3x1[1 2 3] 2x2[0 1 0 1] -> f2x1[?]
Gather: w3x2[1 2 3 4 5 6] [1 0] -> f2x2[2 3 0 1]; w3x1[1 2 3] [1 1] -> f2x1[1 1]
Gather: w3x1[1 2 3] [1 3] -> refused of place 3; w2x1[1 2] [0 1 2] -> refused of place 2
Gather: w3x2[?] [0 0 1] -> f3x2[0 1 0 1 2 3]; w3x2[?] 2x2[0 1 0 -1] -> f2x2x2[0 1 2 3 0 1 4 5]
Gather: w3x1[1 2 3] 0 -> refused of trained vectors, at places that are not constant
Gather: w3x1[1 2 3] 2[?] -> refused of trained vectors, at places that are not constant
Gather: w1x1x2[1 2] [0] -> refused of trained vectors, at places that are not constant
Transpose: w2x3[1 2 3 4 5 6] -> f3x2[1 4 2 5 3 6]; [1 2] -> [1 2]
Transpose perm=2,0,1: f2x3x4[?] -> f4x2x3[?]
Transpose perm=0,0: w2x1[1 2] -> refused by 0x0
Transpose perm=0,1,1: w2x1[1 2] -> refused by 0x1x1
Transpose perm=0,2: w2x1[1 2] -> refused of place 2)";

Tensor tensor_in(const std::string& text)
{
    std::smatch found;
    REQUIRE(std::regex_match(text, found, std::regex(R"(([fwz]?)(?:([0-9x]*)\[(.*)\]|(.*)))")));
    Tensor made{.is_float = found[1] == "f" || found[1] == "w",
                .is_zero = found[1] == "z",
                .origin = found[1] == "w" ? "w" : ""};
    std::istringstream listed(found[3].str() + found[4].str());
    if (found[3] != "?") made.numbers = Reals(std::istream_iterator<double>(listed), {});
    for (const std::string& extent : split(found[2].str(), 'x'))
        if (!extent.empty()) made.dims.push_back(std::stoll(extent));
    if (found[3].matched && made.dims.empty()) made.dims = {std::ssize(*made.numbers)};
    return made;
}

std::string shown(const Tensor& tensor)
{
    std::vector<std::string> numbers;
    for (const double number : tensor.numbers.value_or(Reals{}))
        numbers.push_back((std::ostringstream() << std::setprecision(17) << number).str());
    const bool is_list = tensor.numbers && tensor.dims == Numbers{std::ssize(numbers)};
    const std::string all = tensor.numbers ? join(numbers, " ") : "?";
    return std::string(tensor.is_zero ? "z" : "") + (tensor.is_float ? "f" : "") + (is_list ? "" : text(tensor.dims)) +
           (tensor.dims.empty() ? all : "[" + all + "]");
}

/// Of "Slice starts=1 ends=2" and its inputs.
Tensor made_of(const std::string& operation, const std::string& inputs, const Type* value = nullptr)
{
    std::vector<std::string> words = split(operation, ' ');
    onnx::NodeProto proto;
    proto.set_op_type(words[0]);
    for (std::size_t k = 1; k < words.size(); ++k) {
        onnx::AttributeProto& one = *proto.add_attribute();
        one.set_name(split(words[k], '=')[0]);
        for (const std::string& number : split(split(words[k], '=')[1], ',')) one.add_ints(std::stoi(number));
        one.set_i(one.ints(0));
    }
    if (value != nullptr) proto.add_attribute()->set_name("value");
    if (value != nullptr) *proto.mutable_attribute(0)->mutable_t() = *value;
    Tensors constants;
    const std::regex tensor(R"(_|[fwxz0-9]*\[.*?\]|[fwz0-9.-]+)");
    for (std::sregex_iterator one(inputs.begin(), inputs.end(), tensor), end; one != end; ++one) {
        proto.add_input(one->str() == "_" ? "" : "input" + std::to_string(proto.input_size()));
        if (one->str() != "_") constants.put(*proto.input().rbegin(), tensor_in(one->str()));
    }
    return folded(Node(proto), constants);
}

std::string folded_of(const std::string& operation, const std::string& inputs, const Type* value = nullptr)
{
    try {
        return shown(made_of(operation, inputs, value));
    } catch (const Refused& refused) {
        return "refused " + refused.reason;
    }
}

/// With the bytes of `raw`, or with numbers that are listed.
template <class Element = char>
Type tensor_of(int type, const Numbers& dims, const std::vector<Element>& raw, const std::vector<int>& listed = {})
{
    Type made;
    made.set_data_type(type);
    for (const long long extent : dims) made.add_dims(extent);
    std::string bytes(raw.size() * sizeof(Element), '\0');
    if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), bytes.size());
    if (!raw.empty()) made.set_raw_data(bytes);
    for (const int one : listed) made.add_int32_data(one);
    return made;
}

Tensor tensor_by(const Type& proto)
{
    Tensors constants;
    constants.put("of", proto);
    return *constants.find("of");
}

}  // namespace

TEST_CASE("Operators compute of constants what ONNX defines, and refuse the rest with a reason")
{
    int cases = 0;
    for (const std::string& line : split(definitions, '\n')) {
        const std::size_t colon = line.find(':');
        for (std::string one :
             colon == std::string::npos ? std::vector<std::string>{} : split(line.substr(colon + 1), ';')) {
            const std::size_t arrow = one.find("-> ");
            INFO(line << "\n" << one);
            CHECK(folded_of(line.substr(0, colon), one.substr(0, arrow)) == one.substr(arrow + 3));
            ++cases;
        }
    }
    CHECK(cases == 151);
}

TEST_CASE("ConstantOfShape repeats its value, a float 0 where it has none")
{
    const Type seven = tensor_of<std::int64_t>(Type::INT64, {1}, {7}),
               real = tensor_of(Type::FLOAT, {1}, std::vector{1.5F});
    const Type small = tensor_of(Type::INT32, {1}, {}, {7});
    CHECK(folded_of("ConstantOfShape", "[1]") == "f[0]");
    CHECK(folded_of("ConstantOfShape", "[2 2]") == "f2x2[0 0 0 0]");
    CHECK(folded_of("ConstantOfShape", "[3]", &seven) == "[7 7 7]");
    CHECK(folded_of("ConstantOfShape", "[1 2]", &small) == "1x2[7 7]");
    CHECK(folded_of("ConstantOfShape", "[1]", &real) == "f[1.5]");
    for (const Type& wrong : {tensor_of(Type::BOOL, {1}, {}, {1}), tensor_of(Type::INT32, {2}, {}, {7, 7})})
        CHECK(folded_of("ConstantOfShape", "[1]", &wrong) == "refused of a value that is not read");
}

TEST_CASE("262,144 numbers are computed of constants, and more are refused")
{
    const auto times = [](int count, const std::string& number) {
        std::string all = "[";
        for (int k = 0; k < count; ++k) all += number + " ";
        return all + "]";
    };
    CHECK(made_of("Expand", "7 [262144]").numbers->size() == 262144);
    CHECK(made_of("Range", "0 262144 1").numbers->size() == 262144);
    CHECK_THROWS_AS(made_of("Range", "0 262145 1"), Refused);
    for (const auto& [operation, list] : std::vector<std::pair<std::string, std::string>>{
             {"Gather", "w2x512[?] "}, {"Gather", "2x512" + times(1024, "7")}, {"Equal", "512x1" + times(512, "7")}}) {
        CHECK(made_of(operation, list + times(512, "1")).numbers->size() == 262144);
        CHECK_THROWS_AS(made_of(operation, list + times(513, "1")), Refused);
    }
}

TEST_CASE(
    "The numbers of a tensor are those of its type; long lists of floats, other types and lacking bytes have none")
{
    CHECK(shown(tensor_by(tensor_of<std::int64_t>(Type::INT64, {2}, {1LL << 40, -1}))) == "[1099511627776 -1]");
    CHECK(shown(tensor_by(tensor_of<std::int64_t>(Type::INT64, {2}, {1}))) == "2[?]");
    CHECK(shown(tensor_by(tensor_of<std::int32_t>(Type::INT32, {2}, {5, -5}))) == "[5 -5]");
    CHECK(shown(tensor_by(tensor_of(Type::INT32, {}, {}, {3}))) == "3");
    CHECK(shown(tensor_by(tensor_of<float>(Type::FLOAT, {2}, {0.5F, -2.0F}))) == "f[0.5 -2]");
    CHECK(shown(tensor_by(tensor_of<double>(Type::DOUBLE, {2}, {0.1, 3.0}))) == "f[0.10000000000000001 3]");
    CHECK(shown(tensor_by(tensor_of(Type::UINT8, {1}, {}, {1}))) == "1[?]");
    CHECK(shown(tensor_by(tensor_of<std::uint16_t>(Type::FLOAT16, {2}, {0x3c00, 0xc600}))) == "f[1 -6]");
    CHECK(shown(tensor_by(tensor_of<std::uint16_t>(Type::BFLOAT16, {1}, {0x3e4d}))) == "f[0.2001953125]");
    CHECK(shown(tensor_by(tensor_of(Type::FLOAT16, {1}, {}))) == "f1[?]");
    CHECK(shown(tensor_by(tensor_of(Type::FLOAT16, {1}, {}, {0x3266}))) ==
          "f[0.199951171875]");  // (1 + 614 / 1024) / 8
    CHECK(shown(tensor_by(tensor_of(Type::FLOAT16, {2}, {}, {0x0200, 0x7bff}))) ==
          "f[3.0517578125e-05 65504]");  // 2^-15
    const Tensor listed = tensor_by(tensor_of(Type::FLOAT, {64}, std::vector(64, 0.0F)));
    const Tensor longer = tensor_by(tensor_of(Type::FLOAT, {65}, std::vector(65, 0.0F)));
    CHECK((listed.numbers && listed.is_zero && !longer.numbers && longer.is_zero));
    CHECK_FALSE((tensor_by(tensor_of(Type::FLOAT, {65}, {})).is_zero ||
                 tensor_by(tensor_of(Type::FLOAT, {65}, std::vector(65, 1.0F))).is_zero));
    CHECK((is_float(Type::FLOAT) && is_float(Type::FLOAT16) && is_float(Type::BFLOAT16) && is_float(Type::DOUBLE)));
    CHECK_FALSE((is_float(Type::INT64) || is_float(Type::UINT8) || is_float(Type::BOOL) || is_float(0)));
}

TEST_CASE("Integers are cut at 2^62, only one float is a scalar, and a tensor has at most 2^62 values")
{
    CHECK(tensor_in("[1e300 -1e300 5]").values() == Numbers{1LL << 62, -(1LL << 62), 5});
    CHECK((tensor_in("f[5]").values().empty() && tensor_in("4[?]").values().empty()));
    CHECK(tensor_in("f[5]").scalar() == 5.0F);
    CHECK_FALSE((tensor_in("f[5 6]").scalar() || tensor_in("5").scalar() || tensor_in("f1[?]").scalar()));
    const long long most = 1LL << 31;
    CHECK((count_of({}) == 1 && count_of({0, 5}) == 0 && count_of({2, 3}) == 6 && count_of({most, most}) == 1LL << 62));
    CHECK_THROWS_WITH(count_of({-1}), "a tensor cannot be of -1");
    CHECK_THROWS_WITH(count_of({1, most + 1}), "a tensor cannot be of 1x2147483649");
    CHECK_THROWS_WITH(count_of({3, most, most / 2}), "a tensor of 3x2147483648x1073741824 has more than 2^62 values");
    CHECK_THROWS_WITH(count_of({0, 3, most, most / 2}), Catch::Contains("has more than 2^62 values"));  // also of none
    CHECK_THROWS_AS(count_of({most, most, most}), InputError);
}

TEST_CASE("The operator Constant gives a tensor, an integer, a list of them or a float")
{
    for (const auto& [attribute, result] : std::vector<std::pair<const char*, const char*>>{{"value", "[8 9]"},
                                                                                            {"value_int", "7"},
                                                                                            {"value_ints", "[3 4]"},
                                                                                            {"value_float", "f0.5"},
                                                                                            {"value_string", ""}}) {
        onnx::NodeProto proto;
        proto.add_output("made");
        onnx::AttributeProto& one = *proto.add_attribute();
        one.set_name(attribute);
        *one.mutable_t() = tensor_of(Type::INT32, {2}, {}, {8, 9});
        one.set_i(7);
        one.set_f(0.5F);
        for (const int each : {3, 4}) one.add_ints(each);
        Tensors constants;
        CHECK((constants.put_constant(Node(proto)) ? shown(*constants.find("made")) : "") == result);
    }
}
