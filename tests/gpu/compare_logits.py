#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two outputs of "swift-run forward --json": compare_logits.py NAME EXPECTED FOUND [LIMIT]

Prints one JSON line: the largest difference of two logits, the root of their mean square difference
over that of the expected logits (an error above LIMIT), and at how many positions the best tokens are
the same.
"""
import json
import math
import sys


def positions_of(path):
    """For each position its best token, and the logits by token."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line)["top"] for line in file]
    return [(row[0]["id"], {entry["id"]: entry["logit"] for entry in row}) for row in rows]


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("compare_logits.py: give a name, two files, and a limit if there is one.")
    expected, found = positions_of(sys.argv[2]), positions_of(sys.argv[3])
    if len(expected) != len(found) or not expected:
        sys.exit(f"compare_logits.py: {len(found)} positions instead of {len(expected)}.")
    largest = squares = whole = 0.0
    best = 0
    for (token, logits), (other_token, others) in zip(expected, found):
        best += token == other_token
        for key in logits.keys() & others.keys():
            difference = abs(logits[key] - others[key])
            largest = max(largest, difference)
            squares += difference**2
            whole += logits[key] ** 2
    relative = math.sqrt(squares / whole)
    event = {
        "event": "logits",
        "name": sys.argv[1],
        "largest": largest,
        "relative": relative,
        "positions": len(expected),
        "same_best": best,
    }
    print(json.dumps(event))
    if len(sys.argv) == 5 and not relative <= float(sys.argv[4]):
        sys.exit(f"compare_logits.py: {sys.argv[1]}: logits differ by {relative:.2g}.")


main()
