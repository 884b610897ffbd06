"""The pages in Markdown: links lead somewhere, files name pages that are there, and the manual stays short."""

import re
import unittest

import tree

MOST_WORDS = 50000  # of all pages but those of results
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?<![\w/.<\"-])(?:docs|results/examples|ert|cpu|workloads|analysis|tools|tests)/[\w/.-]+\.[a-z]{2,4}\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def pages():
    """All but those of results that nobody publishes."""
    top = [path.relative_to(tree.ROOT) for path in sorted(tree.ROOT.glob("*.md")) + sorted((tree.ROOT / "results").glob("*.md"))]
    return top + tree.files((".md",), ("docs", "configs", "tools", "tests", "results/examples", "results/atlas"))


def anchors(page):
    """As GitHub names the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", tree.text(page)), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-") for title in titles]


def dead_links(page):
    for link in LINK.findall(FENCED.sub("", tree.text(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (tree.ROOT / page).parent / path if path else tree.ROOT / page
        if not target.exists():
            yield link
        elif anchor and anchor not in anchors(target.resolve().relative_to(tree.ROOT)):
            yield link


class Pages(unittest.TestCase):
    def test_are_found(self):
        self.assertLessEqual({"README.md", "docs/method.md", "tools/roof/help/run.md"}, {str(page) for page in pages()})

    def test_links_lead_somewhere(self):
        self.assertEqual({}, {str(page): dead for page in pages() if (dead := list(dead_links(page)))})

    def test_files_name_files_that_are_there(self):
        files = tree.files(tree.TEXTS + (".txt", ".h")) + pages()
        named = {(str(path), name) for path in files for name in NAMED.findall(tree.text(path))}
        named |= {(path.name, name) for path in tree.scripts() for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))}
        self.assertGreater(len(named), 50)
        self.assertEqual([], sorted(pair for pair in named if not (tree.ROOT / pair[1]).is_file()))

    def test_the_manual_has_at_most_50000_words(self):
        words = sum(len(tree.text(page).split()) for page in pages() if page.parts[0] != "results")
        self.assertLessEqual(words, MOST_WORDS)


if __name__ == "__main__":
    unittest.main()
