// The image folder from end to end: contents, order, broken files, and input errors.
#include "ert/base/error.hpp"
#include "tests/data/jpeg_files.hpp"
#include "workloads/data/source.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace roof;
using namespace roof::data;
using namespace roof::test;
using Catch::Contains;

namespace {

const model::Shape small_image{3, 16, 16};

struct Copy {
    std::vector<float> images;
    std::vector<int> labels;
    bool operator==(const Copy&) const = default;
};

Copy copy_next(Source& source, int batch)
{
    const Batch got = source.next();
    return {{got.images, got.images + batch * small_image.elements()}, {got.labels, got.labels + batch}};
}

Source open_small(const std::filesystem::path& folder, int batch, int workers = 2, unsigned seed = 1, int classes = 10)
{
    return open_source(folder.string(), batch, {small_image, classes}, workers, seed);
}

/// Returns the red value of a plain image, which identifies it in its folder.
int red_of(const Copy& batch, int n)
{
    const float normalised = batch.images[static_cast<std::size_t>(n * small_image.elements())];
    return static_cast<int>((normalised * 0.229F + 0.485F) * 255 + 0.5F);
}

}  // namespace

TEST_CASE("batches hold normalised images with the labels of their class folders")
{
    const TemporaryFolder folder;
    write_plain(folder.path() / "a" / "black.jpg", 40, 30, {0, 0, 0});
    write_plain(folder.path() / "b" / "white.jpg", 40, 30, {255, 255, 255});
    Source source = open_small(folder.path(), 2);
    const Copy batch = copy_next(source, 2);
    CHECK(std::set<int>(batch.labels.begin(), batch.labels.end()) == std::set<int>{0, 1});
    for (int n = 0; n < 2; ++n) {
        const float byte = batch.labels[static_cast<std::size_t>(n)] == 0 ? 0.0F : 1.0F;
        const auto* pixel = &batch.images[static_cast<std::size_t>(n * small_image.elements())];
        CHECK(pixel[0] == Approx((byte - 0.485F) / 0.229F).margin(0.01));
        CHECK(pixel[256] == Approx((byte - 0.456F) / 0.224F).margin(0.01));
        CHECK(pixel[767] == Approx((byte - 0.406F) / 0.225F).margin(0.01));
    }
    CHECK(source.facts().images == 2);
    CHECK(source.facts().classes == 2);
    CHECK(source.facts().skipped.empty());
}

TEST_CASE("the batches depend on the seed but not on the number of workers")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 3, 5);
    write_text(folder.path() / "b" / "broken.jpg", "no image");
    Source one = open_small(folder.path(), 4, 1);
    Source many = open_small(folder.path(), 4, 5);
    Source other = open_small(folder.path(), 4, 1, 2);
    bool differs = false;
    for (int batch = 0; batch < 12; ++batch) {
        const Copy expected = copy_next(one, 4);
        CHECK(copy_next(many, 4) == expected);
        differs = differs || copy_next(other, 4) != expected;
    }
    CHECK(differs);
}

TEST_CASE("an epoch contains each image once, and the next epoch has another order")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 10);
    Source source = open_small(folder.path(), 5);
    std::set<std::vector<int>> orders;
    for (int epoch = 0; epoch < 4; ++epoch) {
        std::vector<int> order;
        for (int batch = 0; batch < 2; ++batch) {
            const Copy images = copy_next(source, 5);
            for (int n = 0; n < 5; ++n) order.push_back((red_of(images, n) - 10) / 20);
        }
        CHECK(std::set<int>(order.begin(), order.end()).size() == 10);
        orders.insert(order);
    }
    CHECK(orders.size() == 4);
}

TEST_CASE("a repeated image gets a new crop")
{
    const TemporaryFolder folder;
    write_halves(folder.path() / "a" / "halves.jpg", 64, 64);
    Source source = open_small(folder.path(), 1);
    std::set<std::vector<float>> seen;
    for (int epoch = 0; epoch < 6; ++epoch) seen.insert(copy_next(source, 1).images);
    CHECK(seen.size() > 3);
}

TEST_CASE("each image of an epoch has its own crop")
{
    const TemporaryFolder folder;
    for (int n = 0; n < 6; ++n) write_halves(folder.path() / "a" / (std::to_string(n) + ".jpg"), 64, 64);
    Source source = open_small(folder.path(), 1);
    std::set<std::vector<float>> seen;
    for (int n = 0; n < 6; ++n) seen.insert(copy_next(source, 1).images);
    CHECK(seen.size() > 3);
}

TEST_CASE("all kinds of broken files are named, counted and skipped")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 2, 4);
    write_plain(folder.path() / "a" / "grey.jpg", 40, 40, {99, 99, 99}, Ink::grey);
    write_plain(folder.path() / "a" / "inks.jpg", 40, 40, {10, 20, 30}, Ink::cmyk);
    write_text(folder.path() / "b" / "empty.jpg", "");
    write_text(folder.path() / "b" / "text.jpg", "not a picture at all");
    write_halves(folder.path() / "b" / "cut.jpg", 300, 200);
    truncate_file(folder.path() / "b" / "cut.jpg", 0.5);
    REQUIRE(::mkfifo((folder.path() / "b" / "pipe.jpg").c_str(), 0600) == 0);
    Source source = open_small(folder.path(), 10);
    for (int batch = 0; batch < 3; ++batch) {
        for (const float value : copy_next(source, 10).images) REQUIRE((value > -3 && value < 3));
    }
    const SourceFacts facts = source.facts();
    CHECK(facts.images == 10);
    REQUIRE(facts.skipped.size() == 4);
    CHECK_THAT(facts.skipped[0], Contains("b/cut.jpg: "));
    CHECK_THAT(facts.skipped[1], Contains("b/empty.jpg: is empty"));
    CHECK_THAT(facts.skipped[2], Contains("b/pipe.jpg: ") && Contains("not a regular file"));
    CHECK_THAT(facts.skipped[3], Contains("b/text.jpg: "));
}

TEST_CASE("a usable image replaces a broken file")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 2);
    write_text(folder.path() / "a" / "9.jpg", "broken");
    Source source = open_small(folder.path(), 1);
    std::map<int, int> shown;
    for (int n = 0; n < 30; ++n) ++shown[(red_of(copy_next(source, 1), 0) - 10) / 20];
    CHECK(shown.size() == 2);
    CHECK(shown[0] + shown[1] == 30);
}

TEST_CASE("a single class is label 0")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 3);
    Source source = open_small(folder.path(), 3);
    CHECK(copy_next(source, 3).labels == std::vector<int>{0, 0, 0});
}

TEST_CASE("fewer usable images than a batch is an input error that gives both numbers")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 5);
    write_halves(folder.path() / "a" / "0.jpg", 300, 200);
    truncate_file(folder.path() / "a" / "0.jpg", 0.5);
    CHECK_THROWS_AS(open_small(folder.path(), 5), InputError);
    CHECK_THROWS_WITH(open_small(folder.path(), 5), Contains("4 usable images") && Contains("batch of 5") &&
                                                        Contains("1 broken, the first ") && Contains("0.jpg: "));
    CHECK_NOTHROW(open_small(folder.path(), 4).next());
}

TEST_CASE("more classes than the model's outputs is an input error that gives both numbers")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 3, 1);
    CHECK_THROWS_AS(open_small(folder.path(), 1, 1, 1, 2), InputError);
    CHECK_THROWS_WITH(open_small(folder.path(), 1, 1, 1, 2), Contains("3 classes") && Contains("2 outputs"));
    CHECK_NOTHROW(open_small(folder.path(), 1, 1, 1, 3));
}

TEST_CASE("no workers, or other than three channels, is an input error")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 1);
    CHECK_THROWS_AS(open_small(folder.path(), 1, 0), InputError);
    CHECK_THROWS_AS(open_source(folder.path().string(), 1, {{1, 16, 16}, 10}, 1, 1), InputError);
}

TEST_CASE("if all images vanish while running, next() throws instead of searching forever")
{
    const TemporaryFolder folder;
    write_folder_of(folder.path(), 1, 3);
    Source source = open_small(folder.path(), 1);
    std::filesystem::remove_all(folder.path() / "a");
    const auto read_on = [&] {
        for (int batch = 0; batch < 20; ++batch) source.next();
    };
    CHECK_THROWS_WITH(read_on(), Contains("can be read any more"));
}

TEST_CASE("a source can be destroyed while its workers are decoding")
{
    const TemporaryFolder folder;
    for (int n = 0; n < 4; ++n) write_halves(folder.path() / "a" / (std::to_string(n) + ".jpg"), 1200, 900);
    for (int round = 0; round < 5; ++round) {
        Source source = open_small(folder.path(), 4, 4);
        if (round % 2 == 1) source.next();
    }
    SUCCEED();
}

TEST_CASE("several ranks together read the batches of one rank, epoch after epoch")
{
    const TemporaryFolder folder;
    for (int n = 0; n < 5; ++n)
        write_plain(folder.path() / "a" / (std::to_string(n) + ".jpg"), 40, 30,
                    {static_cast<unsigned char>(40 * n), 0, 0});
    Source whole = open_small(folder.path(), 4);
    for (int round = 0; round < 3; ++round) {
        const Copy all = copy_next(whole, 4);
        for (const int rank : {0, 1}) {
            Source part = open_source(folder.path().string(), 2, {small_image, 10}, 1, 1, {.rank = rank, .ranks = 2});
            for (int skipped = 0; skipped < round; ++skipped) part.next();
            const Copy own = copy_next(part, 2);
            const auto begin = all.images.begin() + rank * static_cast<std::ptrdiff_t>(own.images.size());
            CHECK(std::equal(own.images.begin(), own.images.end(), begin));
        }
    }
    CHECK_THROWS_WITH(open_source(folder.path().string(), 3, {small_image, 10}, 1, 1, {.rank = 0, .ranks = 2}),
                      Contains("fewer than a batch of 6"));
}
