# SPDX-License-Identifier: Apache-2.0
"""page_data.py PAGE: prints the data of an HTML page of txmill, as JSON. Fails unless the page consists of its shell, texts
of pixels and data alone, and its security policy names its style and script."""
import base64
import hashlib
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
elements = re.findall(r"<(style|script)([^>]*)>(.*?)</\1>", text, re.S)
policy = re.search('Content-Security-Policy" content="([^"]*)', text)[1]
for name, attributes, body in elements:
    if name == "style" or "module" in attributes:
        digest = "'sha256-%s'" % base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert "%s-src %s" % (name, digest) in policy, (name, digest, policy)
    elif "text/plain" in attributes:
        assert re.fullmatch("[A-Za-z0-9+/= ]*", body), attributes
assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "), policy
assert len([b for n, a, b in elements if n == "script" and "text/plain" not in a]) == 2
assert "://" not in re.sub(r"http://www\.w3\.org/\S*", "", "".join(b for n, a, b in elements if "application/json" not in a))
print(json.dumps(json.loads(*(b for n, a, b in elements if "application/json" in a))))
