// `roof fleet`: a command of the Python package (tools/python/roof/commands/fleet.py).
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <algorithm>
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
        const bool is_verb = std::ranges::find(verbs, words.front()) != verbs.end();
        if (!is_verb && !std::filesystem::exists(words.front()) && !nearest(words.front(), verbs).empty())
            throw InputError("fleet: " + unknown_word("word", words.front(), verbs));
        return run_in_package("fleet", parser.arguments());
    };
}

}  // namespace roof
