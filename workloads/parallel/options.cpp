#include "workloads/parallel/options.hpp"

#include "workloads/parallel/world.hpp"

namespace roof::parallel {
namespace {

using Words = std::vector<std::string>;

Axis optional_words(const std::string& name, const std::string& meaning, const Words& legal)
{
    return {.name = name, .meaning = meaning, .defaults = {legal.front()}, .allowed = legal, .optional = true};
}

Axis optional_number(const std::string& name, const std::string& meaning, const std::string& usual, long long most)
{
    Axis axis = number_axis(name, meaning, {usual}, 1, most);
    axis.optional = true;
    return axis;
}

bool is_strong(const Point& point)
{
    return point.text_or("scaling", "weak") == "strong";
}

}  // namespace

std::vector<Axis> axes()
{
    const Place place = place_of_process();
    Axis ranks = optional_number("ranks", "processes that train together, each on its own images",
                                 std::to_string(place.ranks), 4096);
    ranks.optional = place.ranks == 1;
    return {ranks,
            optional_words("scaling", "weak: `batch` is that of one rank; strong: of all together", {"weak", "strong"}),
            optional_words("communication",
                           "of gradients: overlapped with the backward pass; serial: after it; broadcast: reduced to "
                           "rank 0, which sends its parameters each step",
                           names_in(names_of(Mode{}).rows)),
            optional_number("bucket_mb", "megabytes of gradients in a message, at least", "25", 100'000),
            optional_words("batch_norm", "statistics of each rank's own batch, or of the batches of all",
                           {"local", "synchronised"})};
}

Options options_of(const Point& point)
{
    constexpr std::size_t megabyte = 1'000'000;
    Options options;
    if (point.has("ranks")) options.ranks = static_cast<int>(point.integer("ranks"));
    if (point.has("batch")) options.batch = point.integer("batch") / (is_strong(point) ? options.ranks : 1);
    options.mode = parse_enum<Mode>(point.text_or("communication", "overlapped"));
    if (point.has("bucket_mb")) options.bucket_bytes = static_cast<std::size_t>(point.integer("bucket_mb")) * megabyte;
    options.synchronised_batch_norm = point.text_or("batch_norm", "local") == "synchronised";
    return options;
}

std::optional<std::string> unsupported_reason(const Point& point)
{
    const Options options = options_of(point);
    if (is_strong(point) && options.batch * options.ranks != point.integer("batch"))
        return "a batch of " + point.text("batch") + " cannot be shared out evenly among " +
               std::to_string(options.ranks) + " ranks";
    return unsupported_ranks(options.ranks, place_of_process());
}

}  // namespace roof::parallel
