"""Holds the page of `attune explain --html` against the text beside it: page.py PAGE TEXT."""
import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    """What a reader sees, and whether every element ends where it should."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.seen = [], [], ""

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "img", "iframe", "object") or any(name in ("src", "href") for name, _ in attributes):
            self.faults.append(f"{tag} at {self.getpos()} asks for something else")
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} ends something else")
        self.seen += " "

    def handle_data(self, data):
        if "style" not in self.open:
            self.seen += data


def numbers(text):
    return set(re.findall(r"\d+(?:\.\d+)?", text))


raw, text = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
page = Page()
page.feed(raw)
page.close()
faults = page.faults + [f"<{tag}> never ends" for tag in page.open]
body = raw[raw.index("</style>"):]
faults += [f"not escaped: {m}" for m in re.findall(r"&(?!amp;|lt;|gt;|quot;|#39;|nbsp;).{0,20}", body)]
if "url(" in raw or "@import" in raw or "undefined" in raw or re.search(r"\b(nan|inf)\b|@[a-z]+@", body):
    faults.append("something from elsewhere, or no number")
for line in text.splitlines():
    # The graph, the schedules and what is busiest word by word; of the tables and shares each number.
    words = re.match(r"%\d+ = .*|output .*|  \w+: .+", line) or re.search(r"\w+ \d+ % of the time, .*", line)
    if words and words[0].strip() not in page.seen:
        faults.append(f"the page lacks: {line}")
    if re.search(r"[a-z]", line) and not numbers(line) <= numbers(page.seen):
        faults.append(f"the page lacks {sorted(numbers(line) - numbers(page.seen))} of: {line}")
if len(text.splitlines()) < 10:
    faults.append("there is no text to compare with")
print(*faults, sep="\n")
sys.exit(bool(faults))
