"""Random patterns and texts with the answers of Python's `regex` (version 0 behaviour), one JSON object a line.

    generate.py SEED COUNT          random patterns; the first line says which release answered
    generate.py --answer < CASES    answers the patterns and texts of a list of JSON objects
"""

import json
import random
import sys

import regex

BUDGET = 0.25

CHARS = "aabbbcA B1_-\n\r.é\u0130\u0131iIsSk\u017f\u212aσςΣß\u1e9eµ\u0345ιⓐⓑ中\U0001f600\U00010400\U00010428\u00a0\u2028\x1c\u0660\u0903\u00ad\ud83d"
ASCII = "".join(c for c in CHARS if c < "\x80")
PLAIN = "abcAiIkKsS1 é中ς\U0001f600\U00010400"
PROPERTIES = "L Lu Ll Lt N Nd P S Zs M Alphabetic Upper Lower Greek Han Latin White_Space Cased ASCII word alnum Emoji Cn Cs".split()
WORDS = ["order", "Order", "no", "12", "2026-01-31", "a@b.c", "naïve", "Éa", "ſo", "is", "is is", "$5", "€5", "\U0001f600", "’s", "_", "٣", "x"]
PIECES = [
    "order", "ORDER", "no\\.?", "\\d{2}", "\\d+", "\\w+", "\\w*?", "[\\w.+-]+", "@", "\\.", "\\s+", "\\s*", "\\W", "\\S+", "\\b", "\\b", "\\B",
    "\\m", "\\M", "(?:no|is|12)", "(?:or)?der", "(\\w+)\\s+\\1", "(?P<w>\\w)(?P=w)?", "[$€£]", "[^\\s/]+", "[a-z]+", "[A-Z]?", ".*", ".+?", "(?:\\d|x)+", "(?=o)",
    "(?<=r )", "(?!n)", "\\w++", "(?>or|o)", "is", "$", "^", "(?i:IS)", "-", "’", "naïve", "\\p{L}+", "_", "é|x",
]
POSIX = "alpha digit alnum upper lower space punct cntrl graph print blank xdigit word".split()


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.groups = 0
        self.names = []
        self.few = False
        self.referring = False

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, share):
        return self.random.random() < share

    def char(self):
        if self.few:
            return self.pick("aab")
        char = self.pick(PLAIN)
        return "\\" + char if char == " " and self.chance(0.5) else char

    def escape(self):
        return self.pick([
            "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\h", "\\n", "\\t", "\\x41", "\\u0130", "\\U0001F600", "\\.", "\\-",
            "\\101", "\\0", "\\R", "\\ud83d", "\\N", "\\é", "\\x20",
        ])

    def property(self):
        letter = self.pick("pP")
        if self.chance(0.2):
            return "\\" + letter + self.pick("LMNPSZ")
        return "\\%s{%s%s}" % (letter, self.pick(["", "", "", "^"]), self.pick(PROPERTIES))

    def member(self):
        kind = self.random.random()
        if kind < 0.4:
            return self.pick(list("abcAZkKsSiIé1_. -^$") + ["σ", "\U0001f600", "\u0130", "\u0131"])
        if kind < 0.65:
            return self.pick(["a-c", "A-Z", "a-z", "0-9", "à-ÿ", "α-ω", "\\x00-\\x1f", "a-\\x7a", "I-J", "h-j", "\u0100-\u0140"])
        if kind < 0.8:
            return self.pick(["\\d", "\\w", "\\W", "\\s", "\\S", "\\D", "\\b", "\\n", "\\]", "\\\\", "\\-"])
        if kind < 0.9:
            return self.property()
        return "[:%s%s:]" % (self.pick(["", "", "^"]), self.pick(POSIX))

    def set(self):
        first = self.pick(["", "", "", "]", "-"])
        last = self.pick(["", "", "", "-"])
        inner = "".join(self.member() for _ in range(self.random.randint(1, 3)))
        return "[%s%s%s%s]" % (self.pick(["", "", "^"]), first, inner, last)

    def anchor(self):
        return self.pick(["^", "$", "\\A", "\\Z", "\\b", "\\B", "\\m", "\\M", "\\G", "\\z", "\\z", "$", "^", "\\b"])

    def flags(self):
        on = "".join(self.random.sample("imsx", self.random.randint(0, 2)))
        off = "".join(c for c in self.random.sample("imsx", self.random.randint(0, 1)) if c not in on)
        return on + ("-" + off if off else "") or "i"

    def reference(self):
        if self.names and self.chance(0.5):
            return self.pick(["(?P=%s)", "\\g<%s>"]) % self.pick(self.names)
        number = self.random.randint(1, max(1, self.groups + (1 if self.chance(0.1) else 0)))
        return self.pick(["\\%d", "\\g<%d>"]) % number

    def group(self, depth):
        kind = self.random.random()
        if kind < 0.3:
            self.groups += 1
            return "(%s)" % self.alternatives(depth)
        if kind < 0.4:
            name = self.pick(["n", "m", "q_1", "é"])
            self.groups += name not in self.names
            self.names.append(name)
            return self.pick(["(?P<%s>%s)", "(?<%s>%s)"]) % (name, self.alternatives(depth))
        if kind < 0.6:
            return "(?:%s)" % self.alternatives(depth)
        if kind < 0.68:
            return "(?%s:%s)" % (self.flags(), self.alternatives(depth))
        if kind < 0.74:
            return "(?>%s)" % self.alternatives(depth)
        if kind < 0.76:
            return "(?|%s|%s)" % (self.sequence(depth), self.sequence(depth))
        if kind < 0.78:
            return self.pick(["(?#c)", "(?i)", "(?s)", "(?m)", "(?x)", "(?-i)", "(*F)"])
        return "(?%s%s)" % (self.pick(["=", "!", "<=", "<!"]), self.alternatives(depth))

    def atom(self, depth):
        if self.referring and self.groups and self.chance(0.2):
            return self.reference()
        if self.few and depth > 0 and self.chance(0.4):
            return self.group(depth - 1)
        kind = self.random.random()
        if kind < 0.4:
            return self.char()
        if kind < 0.5:
            return "."
        if kind < 0.6:
            return self.char() if self.few else self.escape()
        if kind < 0.64:
            return self.property()
        if kind < 0.74:
            return self.set()
        if kind < 0.82:
            return self.anchor()
        if kind < 0.86 and self.groups:
            return self.reference()
        if depth > 0:
            return self.group(depth - 1)
        return self.char()

    def quantifier(self):
        counts = self.pick(["?", "*", "+", "*", "+", "{2}", "{1,2}", "{,2}", "{2,}", "{0,3}", "{1}", "{0}", "{3,1}", "{", "{a}", "{,}"])
        return counts + self.pick(["", "", "", "", "?", "+"])

    def sequence(self, depth):
        found = ""
        for _ in range(self.random.choices([0, 1, 2, 3, 4], [1, 6, 6, 4, 2])[0]):
            found += self.atom(depth)
            if self.chance(0.3):
                found += self.quantifier()
            if self.chance(0.02):
                found += self.pick([" ", "\n", "# x\n", "  "])
        return found

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.random.choices([1, 2, 3], [6, 3, 1])[0]))

    def pattern(self):
        self.groups = 0
        self.names = []
        # some patterns of few letters find more, and some refer to their groups more
        self.few = self.chance(0.35)
        self.everyday = not self.few and self.chance(0.4)
        self.referring = self.chance(0.25)
        found = self.pick(["", "", "", "", "(?i)", "(?s)", "(?m)", "(?x)", "(?im)", "(?a)", "(?ai)", "(?u)", "(?V0)"])
        if self.everyday:
            self.groups = 1
            return self.pick(["", "(?i)", "(?m)"]) + "".join(self.pick(PIECES) for _ in range(self.random.randint(1, 7)))
        found += self.alternatives(self.pick([1, 2, 2, 3, 4]))
        if self.chance(0.03):
            at = self.random.randrange(len(found) + 1)
            found = found[:at] + self.pick(list("()[]{}|\\?*+^-") + ["(?", "(?P", "\\p", "\\x", "{2}", "[:", "]"]) + found[at:]
        return found

    def text(self, pattern):
        if self.everyday:
            words = WORDS if self.chance(0.6) else [word for word in WORDS if word.isascii()]
            return "".join(self.pick(words) + self.pick(["", " ", " ", "\n", "-"]) for _ in range(self.random.randint(0, 8)))
        if self.few:
            letters = "aaabbA\n " if self.chance(0.4) else "aaabbA\n é\U0001f600"
            return "".join(self.pick(letters) for _ in range(self.random.randint(0, 8)))
        length = self.pick([0, 1, 1, 2, 3, 4, 6, 9])
        # half of all texts are of ASCII's characters, with which more are alike
        if self.chance(0.12):
            source = ASCII if self.chance(0.6) else "".join(c for c in pattern if c < "\x80" and c not in "\\()[]?*+{}|") or ASCII
            return "".join(self.pick(source) for _ in range(length * 2))
        source = CHARS if self.chance(0.7) else "".join(c for c in pattern if c not in "\\()[]?*+{}|") or CHARS
        return "".join(self.pick(source) for _ in range(length)).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def answer(pattern, texts):
    """One answer a text: whether it was found, or null where Python took too long; or why the pattern is no pattern."""
    try:
        compiled = regex.compile(pattern)
    except (regex.error, ValueError, RecursionError, OverflowError, AttributeError) as error:
        return {"invalid": str(error)}
    answers = []
    for text in texts:
        try:
            answers.append(compiled.search(text, timeout=BUDGET) is not None)
        except TimeoutError:
            answers.append(None)
    return {"answers": answers}


def say(value):
    print(json.dumps(value))


def main():
    if sys.argv[1:] == ["--answer"]:
        for case in json.load(sys.stdin):
            say({**case, **answer(case["pattern"], case["texts"])})
        return
    maker = Maker(int(sys.argv[1]))
    say({"regex": regex.__version__, "python": sys.version.split()[0]})
    for _ in range(int(sys.argv[2])):
        pattern = maker.pattern()
        texts = [maker.text(pattern) for _ in range(4)]
        say({"pattern": pattern, "texts": texts, **answer(pattern, texts)})


main()
