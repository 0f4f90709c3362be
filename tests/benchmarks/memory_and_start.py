#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peak memory and start of swift-run with a model, against their limits:

    memory_and_start.py MODEL... [--kv f16,int8] [--context 8192] [options]

Memory: a process reads a prompt that fills the context but for a few tokens, and makes those. Its peak of resident
memory is given over the weights as they are held plus the keys and values of the whole context. It also packs the
weights where that was not done before, and is long enough to keep them in the packed cache. Start: from the start of
the process until the model is ready for a prompt, after that; the median of seven. Exit code 1: a limit is not kept
(--most-memory, --most-start). Prints one table.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOKENS = 8  # made behind the prompt
GROUP = 32  # numbers with one scale in int8


def fail(sentence):
    sys.exit(f"memory_and_start.py: {sentence}")


def kv_bytes_per_token(config, kind):
    numbers = config["head_dim"]
    row = {
        "float16": 2 * numbers,
        "bfloat16": 2 * numbers,
        "float32": 4 * numbers,
        "int8": numbers + (numbers + GROUP - 1) // GROUP * 4,
    }[kind]
    return 2 * config["layers"] * config["kv_heads"] * row


class Run:
    """One run of generate: when its first step came, its peak of memory, and what it said at the end."""

    def __init__(self, command):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.done, first, said = None, None, ""
        for line in process.stdout:
            now = time.monotonic()
            try:
                event = json.loads(line)
            except ValueError:
                fail("swift-run wrote a line that is no JSON")
            if event["event"] == "step" and first is None:
                first = now
            elif event["event"] == "done":
                self.done = event
            elif event["event"] == "error":
                said = event["message"]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said = said or process.stderr.read().strip()
        process.stdout.close()
        process.stderr.close()
        if process.returncode != 0 or self.done is None or first is None:
            fail(f"{' '.join(command[:4])} ... ended with exit code {process.returncode}: {said}")
        self.peak = usage.ru_maxrss * 1024
        self.ready_s = first - start - self.done["metrics"]["first_token_ms"] * 1e-3
        self.kv = self.done["metrics"]["kv"]


class Model:
    def __init__(self, options, path):
        self.options, self.path = options, path
        text = subprocess.run(
            [options.run, "inspect", "--json", "--model", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ).stdout
        try:
            found = json.loads(text)
            self.config, self.weights = found["config"], found["memory"]["packed_weight_bytes"]
            self.vocabulary = self.config["vocab_size"]
        except (ValueError, KeyError, TypeError):
            fail(f"{path} cannot be inspected")

    def generate(self, prompt, tokens, kv):
        ids = ",".join(str((place * 7919 + 13) % self.vocabulary) for place in range(prompt))
        command = [self.options.run, "generate", "--json", "--model", self.path, "--prompt-ids", ids]
        command += ["--context", str(self.options.context), "--max-tokens", str(tokens)]
        return Run(command + ["--decoder", self.options.decoder] + (["--kv", kv] if kv else []))

    def row(self, kv):
        full = self.generate(self.options.context - TOKENS, TOKENS, kv)
        starts = [self.generate(1, 1, kv).ready_s for _ in range(self.options.starts)]
        held = self.weights + self.options.context * kv_bytes_per_token(self.config, full.kv)
        return {
            "model": os.path.basename(self.path),
            "kv": full.kv,
            "context": self.options.context,
            "peak_bytes": full.peak,
            "weight_bytes": self.weights,
            "kv_bytes": held - self.weights,
            "peak_over_held": full.peak / held,
            "start_s": statistics.median(starts),
            "starts_s": starts,
        }


def row_text(row, options):
    def marked(text, value, most):
        return text if value <= most else f"**{text}**"

    parts = [
        row["model"],
        row["kv"],
        f"{row['peak_bytes'] * 1e-6:.0f}",
        f"{row['weight_bytes'] * 1e-6:.0f} + {row['kv_bytes'] * 1e-6:.0f}",
        marked(f"{row['peak_over_held']:.3f}", row["peak_over_held"], options.most_memory),
        marked(f"{row['start_s']:.3f}", row["start_s"], options.most_start)
        + f" ({min(row['starts_s']):.3f} to {max(row['starts_s']):.3f})",
    ]
    return "| " + " | ".join(parts) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--run", default=os.path.join(ROOT, "build", "release", "bin", "swift-run"))
    parser.add_argument("--kv", default="", help="types of keys and values, such as f16,int8; default: the usual one")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--decoder", default="vanilla")
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--most-memory", type=float, default=1.10)
    parser.add_argument("--most-start", type=float, default=0.5, help="seconds")
    parser.add_argument("--json", action="store_true", help="one object a row instead of the table")
    options = parser.parse_args()
    if options.context <= TOKENS + 1 or options.starts < 1:
        fail("--context must be longer than the answer, and --starts at least 1")
    if not os.path.exists(options.run):
        fail(f"{options.run} is not there; build it, or name it with --run")
    if not options.json:
        print(f"| model | keys and values | peak, MB | weights + keys and values of {options.context:,} tokens, MB ", end="")
        print("| peak over both | start, s |\n|---|---|---|---|---|---|")
    isKept = True
    for path in options.models:
        model = Model(options, path)
        for kv in options.kv.split(","):
            row = model.row(kv)
            isKept &= row["peak_over_held"] <= options.most_memory and row["start_s"] <= options.most_start
            print(json.dumps(row) if options.json else row_text(row, options), flush=True)
    sys.exit(0 if isKept else 1)


main()
