// The contents of the sources without files.
#include "ert/base/error.hpp"
#include "workloads/data/source.hpp"
#include "workloads/model/hashed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace roof;
using namespace roof::data;

TEST_CASE("synthetic data is one batch in memory with normal values and valid labels")
{
    const model::Shape image{3, 32, 32};
    Source source = open_source("synthetic", 8, {image, 10}, 1, 0);
    const Batch first = source.next();
    const Batch second = source.next();
    CHECK(first.fresh);
    CHECK_FALSE(second.fresh);
    CHECK(first.images == second.images);
    CHECK(first.labels == second.labels);

    const std::vector<float> values(first.images, first.images + 8 * image.elements());
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    const double square = std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / count;
    CHECK(std::abs(mean) < 0.05);
    CHECK(square == Approx(1).margin(0.05));
    for (int n = 0; n < 8; ++n) CHECK((first.labels[n] >= 0 && first.labels[n] < 10));
    CHECK(source.facts().images == 0);
    CHECK(source.facts().classes == 10);
}

TEST_CASE("synthetic data does not depend on the seed")
{
    Source one = open_source("synthetic", 1, {{3, 8, 8}, 10}, 1, 1);
    Source two = open_source("synthetic", 1, {{3, 8, 8}, 10}, 1, 2);
    CHECK(one.next().images[17] == two.next().images[17]);
}

TEST_CASE("hashed data is the parity batch")
{
    Source source = open_source("hashed", 2, {{3, 224, 224}, 1000}, 1, 0);
    const Batch batch = source.next();
    CHECK(batch.images[0] == -1.7051516771316528F);
    CHECK(batch.images[2 * 3 * 224 * 224 - 1] == 1.5058835744857788F);
    CHECK(batch.labels[0] == 7);
    CHECK(batch.labels[1] == 396);
}

TEST_CASE("tokens are hashed, or random with the next one as the label of each")
{
    const Form form{.image = {1, 1, 64}, .classes = 50257, .vocabulary = 50257, .labels_each = 64};
    const Source hashed = open_source("hashed", 2, form, 1, 0);
    const Batch parity = hashed.next();
    CHECK(parity.images[1] == 27423);  // by the hash's definition
    CHECK(parity.images[127] == 281);
    CHECK(parity.labels[0] == 7);
    CHECK(parity.labels[127] == (7 + 389 * 127) % 50257);
    const Source synthetic = open_source("synthetic", 3, form, 1, 0);
    const Batch random = synthetic.next();
    for (int n = 0; n < 3 * 64; ++n) {
        const float token = random.images[n];
        CHECK((token >= 0 && token < 50257 && token == std::floor(token)));
        CHECK(static_cast<float>(random.labels[n]) == random.images[(n + 1) % (3 * 64)]);
    }
    CHECK_THROWS_WITH(open_source("photos", 1, form, 1, 0), Catch::Contains("reads tokens"));
}

TEST_CASE("a batch of no images is an input error")
{
    CHECK_THROWS_AS(open_source("synthetic", 0, {{3, 8, 8}, 10}, 1, 0), InputError);
}

TEST_CASE("each rank gets its part of the batch of one rank")
{
    const model::Shape image{3, 8, 8};
    for (const char* const where : {"synthetic", "hashed"}) {
        Source whole = open_source(where, 4, {image, 10}, 1, 1);
        Source second = open_source(where, 2, {image, 10}, 1, 1, {.rank = 1, .ranks = 2});
        const Batch all = whole.next();
        const Batch part = second.next();
        const auto half = static_cast<std::ptrdiff_t>(2 * image.elements());
        CHECK(std::equal(part.images, part.images + half, all.images + half));
        CHECK(std::equal(part.labels, part.labels + 2, all.labels + 2));
    }
}

TEST_CASE("A source's memory is one batch of all ranks, of a folder three of this rank's")
{
    const Form form{.image = {3, 10, 20}, .classes = 5};
    const double of_image = 4 * (3 * 10 * 20 + 1);  // and its label
    CHECK(bytes_of_source("synthetic", 2, form) == roof::Bytes{2 * of_image});
    CHECK(bytes_of_source("hashed", 2, form, {.rank = 1, .ranks = 3}) == roof::Bytes{6 * of_image});
    CHECK(bytes_of_source("photos", 2, form, {.rank = 1, .ranks = 3}) == roof::Bytes{3 * 2 * of_image});
}
