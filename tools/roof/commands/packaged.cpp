// Commands of the Python package (tools/python/roof/commands), behind the words that help and completion know.
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <filesystem>

namespace roof {

Action fleet(OptionParser& parser)
{
    const std::vector<std::string>& words = parser.list("DIR");  // folders, or a verb with its own
    for (const char* option : {"--expect", "--group-by", "--max-age", "--out", "--plan", "--device", "--nodes",
                               "--at-once", "--minutes", "--gpus", "--image", "--claim"})
        parser.value(option);
    parser.flag("--anonymise");
    parser.flag("--json");
    return [&parser, &words](Context&) {
        const std::vector<std::string> verbs{"compare", "history", "retest", "script"};
        const bool is_verb = is_in(words.front(), verbs);
        if (!is_verb && !std::filesystem::exists(words.front()) && !nearest(words.front(), verbs).empty())
            throw InputError("fleet: " + unknown_word("word", words.front(), verbs));
        return run_in_package("fleet", parser.arguments());
    };
}

Action atlas(OptionParser& parser)
{
    parser.repeated("DIR");
    parser.value("--out");
    parser.flag("--json");
    return [&parser](Context&) { return run_in_package("atlas", parser.arguments()); };
}

Action import(OptionParser& parser)
{
    parser.list("FILE");
    for (const char* const option : {"--out", "--name", "--device"}) parser.value(option);
    parser.value("--machine", "imported");
    parser.flag("--json");
    return [&parser](Context&) { return run_in_package("import", parser.arguments()); };
}

}  // namespace roof
