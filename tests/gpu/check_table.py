#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the figures of tests/gpu/check.sh as Markdown tables: check_table.py FOLDER"""
import json
import pathlib
import sys


def lines_of(folder, part, kind):
    """The events of a kind in a part; a line that was cut off is left out."""
    path = folder / f"{part}.json"
    if not path.is_file():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        if event.get("event") in kind:
            events.append(event)
    return events


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def table(heads, rows):
    if not rows:
        return
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("check_table.py: name a folder that check.sh has written.")
    folder = pathlib.Path(sys.argv[1])

    for event in lines_of(folder, "facts", ("machine", "program")):
        print(", ".join(f"{key} {value}" for key, value in event.items() if key != "event"))
    print()

    rows = []
    for event in lines_of(folder, "tokens", ("done",)):
        for name, figures in event["decoders"].items():
            equal = f"{figures['equal']} of {figures['prompts']}"
            rows.append((name, figures["tokens"], equal, number(figures["M"]), number(figures["speedup"])))
    table(("decoder", "tokens", "answers equal to vanilla's", "M", "speedup"), rows)

    answers = {}
    for event in lines_of(folder, "forms", ("form",)):
        answers.setdefault(event["form"], []).append(event["answer"].get("tokens"))
    table(
        ("form", "tokens equal to the cpu backend's"),
        [
            (form, "not run" if len(both) < 2 else "yes" if both[0] == both[1] else "NO")
            for form, both in answers.items()
        ],
    )

    rows = []
    for event in lines_of(folder, "speed", ("done",)):
        costs = " ".join(f"{rows_}: {number(cost)}" for rows_, cost in event["v"].items())
        rows.append(
            (
                event["model"],
                number(event["roof_gbps"]),
                number(event["one_row_ms"]),
                number(event["one_row_share"]),
                costs,
                number(event["prefill_tokens_per_s"], 4),
            )
        )
    table(("model", "roof, GB/s", "one row, ms", "share of the roof", "v(rows)", "prefill, tokens/s"), rows)

    table(
        ("model with known copies", "decoder", "over vanilla"),
        [
            (event["model"], event["decoder"], number(event["auto_over_vanilla"]))
            for event in lines_of(folder, "planted", ("done",))
        ],
    )


main()
