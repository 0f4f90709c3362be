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


def equal_to_cpu(folder):
    """For each form of weights whether its tokens are the cpu backend's, and how far its logits are."""
    answers, rows = {}, []
    for event in lines_of(folder, "forms", ("form",)):
        answers.setdefault(event["form"], []).append(event["answer"].get("tokens"))
    logits = {event["name"]: event for event in lines_of(folder, "forms", ("logits",))}
    for form, both in answers.items():
        equal = "not run" if len(both) < 2 else "yes" if both[0] == both[1] else "NO"
        rows.append((form, equal, *logits_cells(logits.get(form))))
    return rows


def logits_cells(event):
    if event is None:
        return "-", "-", "-"
    same = f"{event['same_best']} of {event['positions']}"
    return number(event["largest"]), number(event["relative"]), same


def equal_bits(folder):
    """For each model how many ways there were, and which of them gave other digits than the first."""
    ways = {}
    for event in lines_of(folder, "bits", ("bits",)):
        ways.setdefault(event["model"], []).append((event["way"], event["digits"]))
    rows = []
    for model, found in ways.items():
        others = [way for way, digits in found if digits != found[0][1]]
        rows.append((model, len(found), "none" if not others else "DIFFER: " + ", ".join(others)))
    return rows


def gbps_of(event):
    return event["bytes_per_step"] / event["one_row_ms"] / 1e6 if event["one_row_ms"] else None


def print_speed(folder):
    torch = next(iter(lines_of(folder, "torch", ("torch",))), {})
    rows, sets, own_ms = [], [], None
    for event in lines_of(folder, "speed", ("done",)):
        if event["model"].startswith("shape 7b (32 layers, bf16"):
            own_ms = event["one_row_ms"]
        rows.append(
            (
                event["model"],
                number(event["one_row_ms"]),
                number(gbps_of(event), 4),
                number(event["roof_gbps"], 4),
                number(event["one_row_share"]),
                " ".join(f"{rows_}: {number(cost)}" for rows_, cost in event["v"].items()),
                number(event["prefill_tokens_per_s"], 4),
            )
        )
        for skip_set in event["skip_sets"]:
            figures = (number(skip_set[name]) for name in ("c", "c_bytes", "c_over_bytes"))
            sets.append((event["model"], skip_set["name"], *figures))
    heads = ("model", "one row, ms", "weights, GB/s", "roof, GB/s", "share of the roof", "v(rows)", "prefill, tokens/s")
    table(heads, rows)
    device = next((event["device_us"] for event in lines_of(folder, "speed", ("done",))), None)
    if device:
        table(
            ("empty launch, us", "barrier, us", "MiB to the GPU, us", "MiB back, us"),
            [tuple(number(device[name]) for name in ("launch", "barrier", "mib_there", "mib_back"))],
        )
    table(("model", "skipped", "cost of a pass", "its share of the weights", "cost over share"), sets)
    if torch:
        linears = torch["linears_ms"]
        cells = (number(torch[name], 4) for name in ("read_gbps", "copy_gbps"))
        ratio = number(linears / own_ms if own_ms else None)
        table(
            ("PyTorch", "reads, GB/s", "copies, GB/s", "7b's linears as a graph, ms", "over our pass"),
            [(torch["version"], *cells, number(linears), ratio)],
        )


def print_planted(folder):
    rows = []
    for event in lines_of(folder, "planted", ("done",)):
        known = event["skip_sets"]
        details = event["ratios"]["auto_over_vanilla"]
        rows.append(
            (
                event["model"],
                event["decoder"] + (" with the known set" if known else ""),
                number(event["auto_over_vanilla"]),
                f"{details['equal']} of {details['pairs']}",
                number(known[0]["c_over_bytes"]) if known else "-",
            )
        )
    heads = ("over vanilla", "answers equal to vanilla's", "cost of a draft pass over its share")
    table(("model with known copies", "decoder", *heads), rows)


def print_contexts(folder):
    rows = []
    for event in lines_of(folder, "contexts", ("context",)):
        figures = event["figures"]
        costs = " ".join(f"{rows_}: {number(cost)}" for rows_, cost in figures["v"].items())
        rows.append(
            (figures["model"], figures["cached_tokens"], event["launch"], number(figures["one_row_ms"]), costs)
        )
    table(("model", "tokens before", "a launch is", "one row, ms", "v(rows)"), rows)


def print_tools(folder):
    table(
        ("compute-sanitizer", "exit code", "says"),
        [
            (event["tool"], event["exit"], event["summary"].strip())
            for event in lines_of(folder, "sanitizer", ("sanitizer",))
        ],
    )
    table(
        ("ncu on a pass", "time", "% of the memory's rate"),
        [
            (event["pass"], event["time"], number(event["memory_percent"]))
            for event in lines_of(folder, "counters", ("counters",))
        ],
    )
    skipped = {
        path.stem: event["why"]
        for path in sorted(folder.glob("*.json"))
        for event in lines_of(folder, path.stem, ("skipped",))
    }
    table(("skipped", "why"), list(skipped.items()))


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("check_table.py: name a folder that check.sh has written.")
    folder = pathlib.Path(sys.argv[1])

    for event in lines_of(folder, "facts", ("machine", "program", "load")):
        print(", ".join(f"{key} {value}" for key, value in event.items() if key != "event"))
    print()

    rows = []
    for event in lines_of(folder, "tokens", ("done",)):
        for name, figures in event["decoders"].items():
            equal = f"{figures['equal']} of {figures['prompts']}"
            rows.append((name, figures["tokens"], equal, number(figures["M"]), number(figures["speedup"])))
    table(("decoder", "tokens", "answers equal to vanilla's", "M", "speedup"), rows)

    heads = ("tokens equal to the cpu backend's", "largest difference of logits", "relative", "same best token")
    table(("form", *heads), equal_to_cpu(folder))
    table(("model", "ways to compute its logits", "that differ in a digit"), equal_bits(folder))
    print_speed(folder)
    print_contexts(folder)
    print_planted(folder)
    table(
        ("model beside PyTorch's", "largest difference of logits", "relative", "same best token"),
        [(event["name"], *logits_cells(event)) for event in lines_of(folder, "torch", ("logits",))],
    )
    print_tools(folder)


main()
