"""page.py - what every page of LAPIS keeps to, read with the standard library
alone: well-formed, nothing from outside, a text for every picture and head,
references that lead somewhere."""
import base64
import hashlib
import re
import xml.etree.ElementTree as xml

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def check_policy(page, policy, root):
    """The one script and the one style sheet are named by what they hold; no
    element brings its own."""
    assert "unsafe" not in policy
    for name in ("script", "style"):
        text = re.findall(f"<{name}>(.*?)</{name}>", page, re.S)
        assert len(text) == 1, name
        digest = hashlib.sha256(text[0].encode()).digest()
        wanted = "'sha256-" + base64.b64encode(digest).decode() + "'"
        assert f"{name}-src {wanted};" in policy + ";", policy
    for e in root.iter():
        assert not any(a == "style" or a.startswith("on") for a in e.keys())


def read(path):
    root = xml.parse(path).getroot()
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), "an id twice"
    for e in root.iter():
        for name in ("src", "href", "action", "poster", "srcset", "data"):
            to = e.get(name)
            if to is None:
                continue
            assert to.startswith("data:image/") or to[0] == "#", to[:60]
            assert to[0] != "#" or to[1:] in ids, to
    for image in root.iter(f"{HTML}img"):
        assert image.get("alt"), "an image without words"
    for drawing in root.iter(f"{SVG}svg"):
        assert drawing.get("role") == "img" and drawing.get("aria-label")
    for field in root.iter(f"{HTML}input"):
        labelled = any(field in label.iter() for label in
                       root.iter(f"{HTML}label"))
        assert labelled, field.attrib
    for head in root.iter(f"{HTML}th"):
        assert "".join(head.itertext()).strip(), "a head without words"
        assert head.get("scope") in ("row", "col"), head.attrib
    parts = ["".join(e.itertext()) for e in root.iter(f"{HTML}h2")]
    parts += [e.get("aria-label") for e in root.iter() if e.get("role") == "region"]
    assert len(parts) == len(set(parts)), parts
    for wide in root.findall(f".//{HTML}div[@class='wide']"):
        assert wide.get("tabindex") == "0", "keys do not scroll it"
        assert wide.get("role") == "region" and wide.get("aria-label")
    policy = [m.get("content") for m in root.iter(f"{HTML}meta")
              if m.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and policy[0].startswith("default-src 'none'")
    check_policy(open(path, encoding="utf-8").read(), policy[0], root)
    for style in root.iter(f"{HTML}style"):
        assert "url(" not in style.text and "@import" not in style.text
    return root
