"""Where a bug can be planted in a source of C++ or Python, and its text."""

import ast
import re

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def parts(text, separators):
    """Where separators stand outside parentheses and quotes: (position, separator)."""
    found, depth, place, quote = [], 0, 0, ""
    while place < len(text):
        letter = text[place]
        if quote:
            place += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'" and not text[place - 1:place].isdigit():
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0:
            for separator in separators:
                if text.startswith(f" {separator} ", place):
                    found.append((place, separator))
        place += 1
    return found if depth == 0 and not quote else None


def other_condition(chance, condition):
    """A change of a condition of C++, as text with NUMBER in the place of the bug's; None if there is none."""
    ways = [f"(!roof::planted(NUMBER) && ({condition}))", f"(roof::planted(NUMBER) || ({condition}))"]
    joints = parts(condition, ["&&", "||"])
    if joints is None or "<=>" in condition or " ? " in condition or re.match(r"(const )?[\w:<>]+[&*]* (const )?\w+ = ", condition):
        return None
    ends = [0, *[place + 4 for place, _ in joints]], [*[place for place, _ in joints], len(condition)]
    for begin, end in zip(*ends):
        part = condition[begin:end]
        compared = parts(part, list(COMPARISONS))
        if compared and len(compared) == 1 and not parts(part, ["=", "+=", "="]):
            place, sign = compared[0]
            left, right = part[:place], part[place + len(sign) + 2:]
            ways.append(condition[:begin] + f"(roof::planted(NUMBER) ? {left} {COMPARISONS[sign]} {right} : {left} {sign} {right})" + condition[end:])
        if len(joints) > 0:
            whole = "true" if (joints[0][1] == "&&") else "false"
            ways.append(condition[:begin] + f"(roof::planted(NUMBER) ? {whole} : ({part}))" + condition[end:])
    return chance.choice(ways)


def with_other_arguments(chance, line):
    """A line of C++ where a call has two of its arguments in another order, or a number is one higher; None if it has neither."""
    if '"' in line:
        return None
    ways = []
    for call in re.finditer(r"(?<![\w.>:])(?!std::m(?:in|ax|inmax)\()([A-Za-z_][\w.:]*(?:->\w+)*)\(([^()]*)\)", line):  # the same in any order
        arguments = call.group(2).split(", ")
        for place in range(len(arguments) - 1):
            pair = arguments[place:place + 2]
            if pair[0] != pair[1] and all(re.fullmatch(r"[A-Za-z_*][\w.]*", each) for each in pair):
                other = ", ".join([*arguments[:place], *pair[::-1], *arguments[place + 2:]])
                changed = f"(roof::planted(NUMBER) ? {call.group(1)}({other}) : {call.group(0)})"
                ways.append(line[:call.start()] + changed + line[call.end():])
    for number in re.finditer(r"(?<![\w.'<\[{])(0|[1-9]\d{0,3})(?![\w.'>\]])", line):  # not octal
        value = int(number.group(1))
        ways.append(line[:number.start()] + f"(roof::planted(NUMBER) ? {value + 1} : {value})" + line[number.end():])
    return chance.choice(ways) if ways else None


def is_filled_next(lines, number):
    """Whether the line is `int x = 0;`, and what uses x first takes its address, as a call does that writes it: no value here is ever read."""
    declared = re.match(r"\s+[\w:]+ (\w+) = \d+;$", lines[number])
    uses = declared and [line for line in lines[number + 1:number + 8] if re.search(rf"\b{declared[1]}\b", line)]
    return bool(uses) and re.search(rf"[(, ]&{declared[1]}\b", uses[0]) is not None


def sites_of_cpp(chance, text):
    """(number of a line, its new text) for each bug that a source allows."""
    sites = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code = line.strip()
        if not line.startswith("    ") or code.startswith(("//", "#", '"')) or "constexpr" in line or "static" in line:
            continue
        found = re.match(r"(\s+(?:\} else |else )?if \()(.+)$", line)
        if found:
            rest = found.group(2)
            depth, end = 1, 0
            while end < len(rest) and depth:
                depth += {"(": 1, ")": -1}.get(rest[end], 0)
                end += 1
            condition = rest[:end - 1]
            if depth == 0 and ";" not in condition and "'" not in condition and '"(' not in condition:
                changed = other_condition(chance, condition)
                if changed:
                    sites.append((number, found.group(1) + changed + rest[end - 1:]))
            continue
        found = re.match(r"(\s+return )(.+);$", line)
        if found:
            joints = parts(found.group(2), ["&&", "||", *COMPARISONS])
            if joints and (changed := other_condition(chance, found.group(2))):
                sites.append((number, found.group(1) + changed + ";"))
                continue
        if is_filled_next(lines, number):
            continue
        if (other := with_other_arguments(chance, line)) and code.endswith(";") and chance.random() < 0.5:
            sites.append((number, other))
            continue
        if number > 0 and lines[number - 1].endswith(("=", "(", ",", "+")):  # the line goes on with a statement
            continue
        if re.match(r"\s+(?!return|throw|else|if|for|while|do|case|using|delete|co_|const |auto )[A-Za-z_][\w.:>\-\[\]*]*\(.*\);$", line) or \
           re.match(r"\s+[A-Za-z_][\w.\->\[\]]* (\+=|-=|=) .+;$", line):
            if parts(code[:-1], []) is not None and not re.match(r"\w+\(.*\)\s*:", code):
                sites.append((number, re.match(r"\s+", line).group(0) + "{ if (!roof::planted(NUMBER)) " + code + " }"))  # an else may follow
            continue
    return sites


class Change(ast.NodeTransformer):
    """Makes the n-th change that a tree of Python allows."""

    def __init__(self, wanted):
        self.wanted, self.seen, self.what, self.line = wanted, -1, "", 0

    def here(self, node):
        self.seen += 1
        if self.seen == self.wanted:
            self.line = node.lineno
        return self.seen == self.wanted

    def visit_If(self, node):
        self.generic_visit(node)
        for value in (False, True):
            if self.here(node):
                self.what = f"if {ast.unparse(node.test)} -> {value}"
                node.test = ast.copy_location(ast.Constant(value), node.test)
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        swap = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
        if type(node.ops[0]) in swap and self.here(node):
            self.what = ast.unparse(node)
            node.ops[0] = swap[type(node.ops[0])]()
            self.what += " -> " + ast.unparse(node)
        return node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        for place in range(len(node.values)):
            if len(node.values) > 1 and self.here(node):
                self.what = f"{ast.unparse(node)} without its part {place + 1}"
                del node.values[place]
                return node.values[0] if len(node.values) == 1 else node
        return node

    def visit_Constant(self, node):
        if type(node.value) is int and abs(node.value) < 1000 and self.here(node):
            self.what = f"{node.value} -> {node.value + 1}"
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and self.here(node):
            self.what = f"without {ast.unparse(node)}"
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_Assign(self, node):
        """Limits in capitals that are numbers are a choice, as constexpr ones are: no bug is planted there."""
        chosen = all(isinstance(part, (ast.Constant, ast.BinOp, ast.operator)) for part in ast.walk(node.value))
        return node if chosen and all(isinstance(one, ast.Name) and one.id.isupper() for one in node.targets) else self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def changed_python(text, wanted):
    tree = ast.parse(text)
    change = Change(wanted)
    tree = ast.fix_missing_locations(change.visit(tree))
    return change, ast.unparse(tree)
