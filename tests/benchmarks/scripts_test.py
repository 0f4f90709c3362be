#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grid.py and memory_and_start.py with a swift-run that only says what it would: nothing is measured."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

# Writes its arguments to the file $FAKE_LOG. As bench it answers three rounds, in which the other engine needs 1, 2
# and 4 times our time; it fails for a model whose name contains $FAKE_FAULT, having written a part.
FAKE = '''#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(" ".join(words) + "\\n")
def say(**line):
    print(json.dumps(line), flush=True)
def after(option):
    return words[words.index(option) + 1]
if words[0] == "inspect":
    say(config={"layers": 2, "kv_heads": 3, "head_dim": 64, "vocab_size": 100}, memory={"packed_weight_bytes": 1000})
elif words[0] == "generate":
    kv = {"f16": "float16", "int8": "int8"}[after("--kv")]
    say(event="step", tokens=[1])
    say(event="done", metrics={"first_token_ms": 0.0, "kv": kv})
elif words[0] == "bench":
    for factor in (1.0, 2.0, 4.0):
        say(event="sample", quantity="prefill", ms=10.0, ik_llama_cpp_ms=5.0 * factor)
        if os.environ["FAKE_FAULT"] and os.environ["FAKE_FAULT"] in after("--model"):
            sys.exit(7)
        say(event="sample", quantity="decode", answers=[
            {"decoder": "vanilla", "tokens": 2, "ms": 8.0, "roof_gbps": 10.0},
            {"decoder": "auto", "tokens": 4, "ms": 8.0, "roof_gbps": 10.0},
            {"decoder": "ik_llama.cpp", "tokens": 2, "ms": 3.0 * factor, "roof_gbps": 10.0}])
    say(event="done", incomplete=False, cpu="a processor", isa="avx2", threads=2, decoder="auto",
        bytes_per_step=20e6, prefill_tokens=int(after("--prefill")), v={"1": 1.0, "2": 1.25, "8": 3.0},
        ik_llama_cpp_version="abc (tokens -rtr 1, prompts -thp 1)")
else:  # makes a file
    open(words[-1], "w").close()
'''


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fake = self.path("fake.py")
        with open(self.fake, "w", encoding="utf-8") as file:
            file.write(FAKE)
        os.chmod(self.fake, 0o755)
        for name in ("default.gguf", "prompts.jsonl"):
            open(self.path(name), "w", encoding="utf-8").close()

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, name, *words, fault=""):
        environment = dict(os.environ, FAKE_LOG=self.path("log"), FAKE_FAULT=fault)
        return subprocess.run(
            [sys.executable, os.path.join(HERE, name), "--run", self.fake, *words],
            capture_output=True, text=True, env=environment,
        )

    def grid(self, *words, fault=""):
        folders = ["--folder", self.path("grid"), "--like", self.path("default.gguf")]
        programs = ["--prompts", self.path("prompts.jsonl"), "--ik", self.fake, "--make", self.fake]
        return self.script("grid.py", *folders, *programs, *words, fault=fault)

    def calls(self, command):
        if not os.path.exists(self.path("log")):
            return []
        with open(self.path("log"), encoding="utf-8") as file:
            return [line for line in file.read().splitlines() if line.startswith(command)]

    def test_a_finished_cell_is_not_run_again(self):
        for _ in range(2):
            result = self.grid("--cells", "default-q4_1/*")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.calls("bench")), 3)
        for length, call in zip((128, 512, 4000), self.calls("bench")):
            for words in ("--prompt-tokens", "--prefill", "--cached"):
                self.assertIn(f"{words} {length} ", call)
        self.grid("--cells", "default-q4_1/128", "--again")
        self.assertEqual(len(self.calls("bench")), 4)

    def test_the_table_has_medians_of_the_rounds_and_losses_in_bold(self):
        result = self.grid("--cells", "default-q4_1/512")
        row = next(line for line in result.stdout.splitlines() if line.startswith("| default"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        self.assertEqual(cells[:2], ["default q4_1", "512"])
        self.assertEqual(cells[2], "1.00 [0.50, 2.00]")
        self.assertEqual(cells[3], "**0.75** [0.38, 1.50]")
        self.assertEqual(cells[4], "1.50 [0.75, 3.00]")
        self.assertEqual(cells[7], "0.50 (10)")
        self.assertEqual(cells[8:], ["1.25, 3.00", "tokens -rtr 1, prompts -thp 1"])
        self.assertIn("a processor (avx2), 2 threads, ik_llama.cpp abc, 3 rounds", result.stdout)

    def test_a_cell_that_fails_is_run_again_and_the_others_go_on(self):
        chosen = ["--cells", "default-q4_[01]/128"]
        result = self.grid(*chosen, fault="q4_0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("default-q4_0/128 failed: bench ended with exit code 7", result.stderr)
        self.assertIn("Not measured: default-q4_0/128.", result.stdout)
        self.assertIn("| default q4_1 |", result.stdout)
        result = self.grid(*chosen)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.calls("bench")), 3)
        self.assertIn("| default q4_0 |", result.stdout)

    def test_a_form_of_theirs_is_made_of_the_widest_and_given_to_them_alone(self):
        self.assertEqual(self.grid("--cells", "1b-q4_0-iq4_ks/128").returncode, 0)
        self.assertEqual(len(self.calls("--requantise")), 1)
        self.assertIn("1b.bf16.gguf iq4_ks", self.calls("--requantise")[0])
        call = self.calls("bench")[0]
        self.assertIn("1b.q4_0.gguf", call.split("--model ")[1].split()[0])
        self.assertIn("1b.iq4_ks.gguf", call.split("--ik-model ")[1].split()[0])
        self.grid("--cells", "1b-q4_0-iq4_ks/512", "--discard")
        self.assertEqual(len(self.calls("--requantise")), 1)  # it was there
        self.assertEqual(os.listdir(self.path("grid/files")), [])

    def test_a_damaged_result_is_told_and_leaves_the_others(self):
        self.grid("--cells", "default-q4_[01]/128")
        done = '{"event": "done", "incomplete": false, "decoder": null, "ik_llama_cpp_version": "abc"}'
        lost = '{"event": "sample", "quantity": "prefill", "ms": 1.0, "ik_llama_cpp_ms": null}'
        for text in ("", "[]", "{", '{"event": "done", "incomplete": true}', done, lost + "\n" + done):
            with open(self.path("grid/cells/default-q4_0-128.jsonl"), "w", encoding="utf-8") as file:
                file.write(text)
            result = self.grid("--report", "--cells", "default-q4_[01]/128")
            self.assertEqual(result.returncode, 1, text)
            self.assertIn("default-q4_0-128.jsonl", result.stderr)
            self.assertNotIn("Traceback", result.stderr)
            self.assertIn("| default q4_1 |", result.stdout)

    def test_a_dry_run_and_a_report_run_nothing(self):
        result = self.grid("--dry-run", "--cells", "3b-*/4000", "--", "--threads", "2")
        self.assertEqual(result.stdout.count(" bench "), 6)
        self.assertIn("--pairs 7 --threads 2", result.stdout)
        self.assertEqual(self.grid("--report").returncode, 0)
        self.assertFalse(os.path.exists(self.path("log")))
        self.assertIn("no cell is called", self.grid("--cells", "2b").stderr)

    def test_memory_and_start_are_held_against_their_limits(self):
        more = [self.path("default.gguf"), "--kv", "f16,int8", "--context", "100", "--starts", "2", "--json"]
        result = self.script("memory_and_start.py", *more)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([row["kv"] for row in rows], ["float16", "int8"])
        self.assertEqual([row["kv_bytes"] for row in rows], [100 * 12 * 128, 100 * 12 * 72])
        for row in rows:
            self.assertAlmostEqual(row["peak_over_held"], row["peak_bytes"] / (1000 + row["kv_bytes"]))
            self.assertGreater(row["start_s"], 0.0)
        self.assertEqual(result.returncode, 1)  # Python is larger than the model
        longest = max(self.calls("generate"), key=len)
        self.assertEqual(len(longest.split("--prompt-ids ")[1].split()[0].split(",")), 92)
        result = self.script("memory_and_start.py", *more, "--most-memory", "1e9", "--most-start", "1e9")
        self.assertEqual(result.returncode, 0)


unittest.main()
