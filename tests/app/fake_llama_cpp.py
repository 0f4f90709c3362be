#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speaks the protocol of tests/benchmarks/llama_cpp_bench.py without a model. What it does is told
by the environment: FAKE_LLAMA_TOKENS, the ids it answers with (default: 5 again and again);
FAKE_LLAMA_FAULT, what goes wrong: missing, silent, garbage or late. FAKE_LLAMA_LOG is a file that
gets every line that comes in, and the arguments first."""
import json
import os
import sys

fault = os.environ.get("FAKE_LLAMA_FAULT", "")
wanted = [int(part) for part in os.environ.get("FAKE_LLAMA_TOKENS", "").split(",") if part]


def answer(value):
    print(json.dumps(value), flush=True)


def log(text):
    if "FAKE_LLAMA_LOG" in os.environ:
        with open(os.environ["FAKE_LLAMA_LOG"], "a", encoding="utf-8") as file:
            file.write(text + "\n")


log(" ".join(sys.argv[1:]))
if fault == "silent":
    sys.exit(3)
if fault == "missing":
    answer({"error": "no module named llama_cpp", "missing": True})
    sys.exit()
answer({"ready": True, "version": "0.0-fake", "threads": int(sys.argv[2])})
for line in sys.stdin:
    name, _, rest = line.strip().partition(" ")
    log(line.strip())
    if name == "exit":
        break
    if fault == "garbage" and name in ("decode", "prefill"):
        print("no JSON", flush=True)
    elif fault == "late" and name in ("decode", "prefill"):
        answer({"error": "out of luck"})
    elif name == "decode":
        count = int(rest)
        tokens = (wanted + [5] * count)[:count]
        # Half a second a token: slower than anything tiny.
        answer({"tokens": tokens, "prompt_ms": 1.0, "decode_ms": 500.0 * count})
    elif name == "prefill":
        answer({"ms": 100000.0})
    else:
        answer({"ok": True})
