#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a whole table beside ik_llama.cpp: models, forms and lengths, cell by cell.

    grid.py --ik PROGRAM [--cells PATTERN] [--dry-run] [--report] [options] [-- more options of bench]

A cell is MODEL-FORM/LENGTH, as 1b-q8_0/4000: one run of `swift-run bench`, in whose rounds both engines take turns.
Its prompt has LENGTH tokens, and its answers stand behind LENGTH tokens. MODEL-FORM-THEIRS/LENGTH gives ik_llama.cpp
the same model in a form of its own. Files are made when a cell needs them, results are kept as JSON, and a cell that
is finished is not run again: the same command goes on where it was stopped. At the end the table is printed: medians
of the rounds' own ratios, in brackets the 95 % interval of the median, in bold what is slower than theirs. Making
files needs "pip install gguf" for the Python that runs this.
"""
import argparse
import fnmatch
import json
import os
import random
import shlex
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("SWIFT_STUDIO_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "swift-studio"
)
LENGTHS = (128, 512, 4000)
ROWS = (2, 4, 8, 16)
ROOM = 64  # tokens of context beyond the prompt and the answer
RIVAL = "ik_llama.cpp"
# Each model's forms; then those of which ik_llama.cpp gets one of its own.
FORMS = {
    "default": ("q4_1", "q4_0", "q8_0", "q4_k_m", "bf16"),
    "1b": ("q4_0", "q8_0", "q4_k_m", "bf16"),
    "3b": ("q4_0", "q8_0", "q4_k_m", "bf16"),
}
THEIRS = {"1b": (("q4_0", "iq4_ks"), ("q8_0", "q8_k_r8")), "3b": (("q4_0", "iq4_ks"), ("q8_0", "q8_k_r8"))}
AS_IT_IS = ("default", "q4_1")  # what the default model's own file is


class Failed(Exception):
    """One sentence for the user."""


class Cell:
    def __init__(self, model, form, theirs, length):
        self.model, self.form, self.theirs, self.length = model, form, theirs, length
        self.row = "-".join(part for part in (model, form, theirs) if part)
        self.name = f"{self.row}/{length}"


def all_cells():
    rows = []
    for model, forms in FORMS.items():
        rows += [(model, form, None) for form in forms] + [(model, *both) for both in THEIRS.get(model, ())]
    return [Cell(*row, length) for row in rows for length in LENGTHS]


class Grid:
    def __init__(self, options):
        self.options = options
        self.files = os.path.join(options.folder, "files")
        self.results = os.path.join(options.folder, "cells")

    def result(self, cell):
        return os.path.join(self.results, cell.name.replace("/", "-") + ".jsonl")

    def file(self, model, form):
        if (model, form) == AS_IT_IS:
            return self.options.like
        return os.path.join(self.files, f"{model}.{form}.gguf")

    def steps(self, cell):
        """Commands that make the files of a cell, each with the file that it makes."""
        like, made = self.options.like, []
        own = self.file(cell.model, cell.form)
        shape = "same" if cell.model == "default" else cell.model
        make = [sys.executable, self.options.make]
        if (cell.model, cell.form) != AS_IT_IS:
            made.append(([*make, like, shape, cell.form], own))
        if cell.theirs:
            source = self.file(cell.model, "bf16")
            made.append(([*make, like, shape, "bf16"], source))
            made.append(([self.options.ik, "--requantise", source, cell.theirs], self.file(cell.model, cell.theirs)))
        missing = [step for step in made if not os.path.exists(step[1])]
        if cell.theirs and os.path.exists(made[-1][1]):
            missing = [step for step in missing if step[1] == own]
        return missing

    def bench(self, cell):
        options, length = self.options, str(cell.length)
        command = [options.run, "bench", "--json", "--model", self.file(cell.model, cell.form)]
        command += ["--against-ik", options.ik]
        if cell.theirs:
            command += ["--ik-model", self.file(cell.model, cell.theirs)]
        command += ["--prompts", options.prompts, "--limit", str(options.limit), "--prompt-tokens", length]
        command += ["--prefill", length, "--cached", length, "--rows", ",".join(str(rows) for rows in (1, *ROWS))]
        command += ["--context", str(cell.length + options.max_tokens + ROOM)]
        command += ["--max-tokens", str(options.max_tokens), "--pairs", str(options.pairs)]
        return command + options.more

    def is_finished(self, cell):
        return os.path.exists(self.result(cell)) and not self.options.again

    def run(self, cell):
        for command, made in self.steps(cell):
            os.makedirs(self.files, exist_ok=True)
            part = made + ".part"
            print(f"grid.py: makes {os.path.basename(made)}", file=sys.stderr)
            if subprocess.run([*command, part], stdout=sys.stderr).returncode != 0:
                raise Failed(f"{os.path.basename(made)} cannot be made")
            os.replace(part, made)
        os.makedirs(self.results, exist_ok=True)
        part = self.result(cell) + ".part"
        with open(part, "w", encoding="utf-8") as file:
            file.write(json.dumps({"event": "cell", "name": cell.name, "command": self.bench(cell)}) + "\n")
            file.flush()
            code = subprocess.run(self.bench(cell), stdout=file).returncode
        if code != 0:
            raise Failed(f"bench ended with exit code {code}")
        read_cell(part)  # nothing unreadable counts as finished
        os.replace(part, self.result(cell))


def read_cell(path):
    """The figures of a finished cell. Raises Failed for a file that is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        facts = lines[-1]
        if facts.get("event") != "done" or facts["incomplete"]:
            raise Failed(f"{path} is not complete")
        samples = [line for line in lines if line["event"] == "sample"]
        return figures_of(facts, samples)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ZeroDivisionError) as reason:
        raise Failed(f"{path} cannot be read: {reason!r}") from reason


def figures_of(facts, samples):
    prompts = [line["ik_llama_cpp_ms"] / line["ms"] for line in samples if line["quantity"] == "prefill"]
    prompt_rates = [
        facts["prefill_tokens"] / line["ms"] * 1e3 for line in samples if line["quantity"] == "prefill"
    ]
    ratios, shares, rates, roofs = {"vanilla": [], "auto": []}, [], [], []
    for line in samples:
        if line["quantity"] != "decode":
            continue
        answers = {answer["decoder"]: answer for answer in line["answers"]}
        ms = {who: answer["ms"] / answer["tokens"] for who, answer in answers.items()}
        ratios["vanilla"].append(ms[RIVAL] / ms["vanilla"])
        if facts["decoder"]:
            ratios["auto"].append(ms[RIVAL] / ms[facts["decoder"]])
        roof = answers["vanilla"]["roof_gbps"]
        roofs.append(roof)
        rates.append(1e3 / ms["vanilla"])
        shares.append(facts["bytes_per_step"] / (ms["vanilla"] * 1e-3 * roof * 1e9))
    if not prompts or not rates:
        raise ValueError("no round was measured")
    version, _, flags = facts["ik_llama_cpp_version"].partition(" ")
    return {
        "prompt": prompts,
        **ratios,
        "prompt_rate": prompt_rates,
        "rate": rates,
        "share": shares,
        "roof": roofs,
        "rows": [facts["v"][str(rows)] for rows in ROWS if str(rows) in facts["v"]],
        "machine": (facts["cpu"], facts["isa"], facts["threads"], version),
        "decoder": facts["decoder"],
        "flags": flags.strip("()"),
    }


def interval(values):
    """95 % of the median, by drawing the rounds anew; always the same draws."""
    draws = random.Random(1)
    medians = sorted(statistics.median(draws.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[-51]


def ratio_text(values):
    if not values:
        return "not measured"
    middle, (low, high) = statistics.median(values), interval(values)
    text = f"{middle:.2f}"
    return (f"**{text}**" if middle < 1 else text) + f" [{low:.2f}, {high:.2f}]"


def row_text(cell, figures):
    share, roof = statistics.median(figures["share"]), statistics.median(figures["roof"])
    parts = [
        cell.row.replace("-", " "),
        f"{cell.length:,}",
        ratio_text(figures["prompt"]),
        ratio_text(figures["vanilla"]),
        ratio_text(figures["auto"]),
        f"{statistics.median(figures['prompt_rate']):.0f}",
        f"{statistics.median(figures['rate']):.1f}",
        f"{share:.2f} ({roof:.0f})",
        ", ".join(f"{cost:.2f}" for cost in figures["rows"]),
        figures["flags"],
    ]
    return "| " + " | ".join(parts) + " |"


HEAD = (
    "| model, form, theirs if other | tokens | prompt / theirs [95 %] | vanilla / theirs [95 %] "
    "| `auto` / theirs [95 %] | prompt, tokens/s | vanilla, tokens/s | share of the roof (GB/s) "
    "| 2, 4, 8, 16 rows over one | their flags |\n|---|---|---|---|---|---|---|---|---|---|"
)


def report(grid, cells):
    """Tables of one machine and one version of the rival each: cells of several are never mixed."""
    tables, missing, problems = {}, [], []
    for cell in cells:
        if not os.path.exists(grid.result(cell)):
            missing.append(cell.name)
            continue
        try:
            figures = read_cell(grid.result(cell))
        except Failed as reason:
            problems.append(str(reason))
            continue
        rounds = len(figures["vanilla"])
        tables.setdefault((*figures["machine"], rounds), []).append(row_text(cell, figures))
    for (cpu, isa, threads, version, rounds), rows in tables.items():
        print(f"{cpu} ({isa}), {threads} threads, {RIVAL} {version}, {rounds} rounds a cell:\n")
        print("\n".join([HEAD, *rows]) + "\n")
    if missing:
        print(f"Not measured: {', '.join(missing)}.")
    for problem in problems:
        print(f"grid.py: {problem}", file=sys.stderr)
    return not problems


def parse(arguments):
    own, more = arguments, []
    if "--" in arguments:
        own, more = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ik", default=os.path.join(CACHE, "ik-llama-cpp", "ik_llama_cpp_bench"))
    parser.add_argument("--cells", action="append", help="such as '1b-*/128'; may be given several times; default: all")
    parser.add_argument("--dry-run", action="store_true", help="print what would be run, and run nothing")
    parser.add_argument("--report", action="store_true", help="print the table of what is finished, and run nothing")
    parser.add_argument("--again", action="store_true", help="run finished cells once more")
    parser.add_argument("--discard", action="store_true", help="remove files that were made when no cell needs them")
    parser.add_argument("--folder", default=os.path.join(CACHE, "grid"), help="of files and results")
    parser.add_argument("--run", default=os.path.join(ROOT, "build", "release", "bin", "swift-run"))
    parser.add_argument("--like", default=os.path.join(CACHE, "models", "SmolLM2-135M-Instruct.Q4_1.gguf"))
    parser.add_argument(
        "--prompts", default=os.path.join(os.path.dirname(ROOT), "shared", "data", "instruction_following.jsonl")
    )
    parser.add_argument("--limit", type=int, default=200, help="prompts that are read; they fill the contexts")
    parser.add_argument("--pairs", type=int, default=7, help="rounds of a cell")
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--make", default=os.path.join(HERE, "make_gguf.py"), help=argparse.SUPPRESS)
    options = parser.parse_args(own)
    options.more = more
    return options


def dry_run(grid, cells):
    for cell in cells:
        if grid.is_finished(cell):
            print(f"{cell.name}: finished")
            continue
        print(f"{cell.name}:")
        for command, made in grid.steps(cell):
            print("    " + shlex.join([*command, made]))
        print("    " + shlex.join(grid.bench(cell)))


def used_files(grid, cells):
    return {grid.file(cell.model, form) for cell in cells for form in (cell.form, cell.theirs) if form}


def run_all(grid, cells):
    failures = 0
    waiting = [cell for cell in cells if not grid.is_finished(cell)]
    for index, cell in enumerate(waiting):
        print(f"grid.py: {cell.name}, {index + 1} of {len(waiting)}", file=sys.stderr)
        try:
            grid.run(cell)
        except Failed as reason:
            failures += 1
            print(f"grid.py: {cell.name} failed: {reason}; the others go on.", file=sys.stderr)
        rest = waiting[index + 1 :]
        kept = used_files(grid, rest) | {grid.file(each.model, "bf16") for each in rest if each.theirs}
        if grid.options.discard and os.path.isdir(grid.files):
            for name in os.listdir(grid.files):
                path = os.path.join(grid.files, name)
                if path not in kept:
                    os.remove(path)
    return failures == 0


def main():
    options = parse(sys.argv[1:])
    patterns = options.cells or ["*"]
    cells = [cell for cell in all_cells() if any(fnmatch.fnmatchcase(cell.name, each) for each in patterns)]
    if not cells:
        names = ", ".join(cell.name for cell in all_cells())
        sys.exit(f"grid.py: no cell is called {' or '.join(patterns)}; there are {names}.")
    grid = Grid(options)
    if options.dry_run:
        return dry_run(grid, cells)
    if not options.report:
        for path in (options.run, options.ik, options.like, options.prompts):
            if not os.path.exists(path):
                sys.exit(f"grid.py: {path} is not there; tests/benchmarks/README.md says where it comes from.")
    try:
        succeeded = options.report or run_all(grid, cells)
    except KeyboardInterrupt:
        print("grid.py: stopped; the same command goes on with the next cell.", file=sys.stderr)
        sys.exit(130)
    if not report(grid, cells) or not succeeded:
        sys.exit(1)


main()
