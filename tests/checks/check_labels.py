"""check_labels.py FOLDER: the page that test_report.c had made of a fit: its
table is the one that was fitted, its AUROC the share of pairs in order, its
labels in doubt begin with the wrong one, its command is in command.txt."""
import csv
import json
import sys

from page import HTML, SVG, read

FOLDER = sys.argv[1]


def table(name):
    with open(f"{FOLDER}/{name}", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def main():
    root = read(FOLDER + "/page.html")
    given, truth = table("x.csv"), [r["kind"] for r in table("truth.csv")]
    labels = json.loads(root.find(f".//{HTML}script[@id='labels']").text)
    assert labels["columns"] == ["name", "label"]
    assert labels["rows"] == [[r["name"], r["kind"]] for r in given]
    first = labels["suspects"][0]
    assert first == {"row": 4, "column": 1, "given": "cat & <mouse>",
                     "proposed": "dog"}, first
    shots = root.findall(f".//{HTML}figure[@id]")
    assert len(shots) == len(given)
    names = [s.find(f".//{HTML}strong").text for s in shots]
    assert names == [r["name"] for r in given]
    for shot in shots:
        assert shot.find(f".//{SVG}image").get("href").startswith("data:")
    score = [float(s.findall(f".//{HTML}p")[1].text.split()[-1])
             for s in shots]  # of the larger value: dog
    pairs = [(a > b) + (a == b) / 2 for a, k in zip(score, truth) if k == "dog"
             for b, q in zip(score, truth) if q != "dog"]
    area = "".join(root.find(f".//{HTML}figure[@class='roc']/"
                             f"{HTML}figcaption").itertext())
    assert area == f"dog AUROC {sum(pairs) / len(pairs):.3f}", area
    rows = {r.find(f"{HTML}th").text: r.find(f"{HTML}td").text for r in
            root.findall(f".//{HTML}table[@class='rows']/{HTML}tbody/*")}
    with open(FOLDER + "/run.json", encoding="utf-8") as f:
        settings = json.load(f)["settings"]
    assert float(rows["lambda"]) == settings["lambda"]
    command = root.find(f".//{HTML}pre/{HTML}code").text
    assert command.startswith("lapis fit mc x.csv --target kind --id name")
    with open(FOLDER + "/command.txt", "w", encoding="utf-8") as f:
        f.write(command.removeprefix("lapis "))


main()
