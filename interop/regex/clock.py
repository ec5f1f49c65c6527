"""Takes the processor's time for single searches of Python's `regex`: a line of JSON in, `{"text": …}` or `{"pattern": …}`, and one out."""

import json
import sys
import time

import regex

text = ""
for line in sys.stdin:
    asked = json.loads(line)
    if "text" in asked:
        text = asked["text"]
        value = {}
    else:
        compiled = regex.compile(asked["pattern"])
        begun = time.process_time()
        found = compiled.search(text, timeout=60) is not None
        value = {"found": found, "took": (time.process_time() - begun) * 1000}
    print(json.dumps({"value": value}), flush=True)
