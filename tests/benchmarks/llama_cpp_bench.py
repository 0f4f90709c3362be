#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a GGUF file through llama.cpp for swift-run bench, which starts it as

    llama_cpp_bench.py MODEL THREADS CONTEXT

One command a line on standard input, one JSON object a line on standard output:

    prompt 1,2,3   the ids that the next commands start from     {"ok":true}
    ends 2,7       ids that end an answer ("ends" alone: none)   {"ok":true}
    decode N       reads the prompt but for its last token (prompt_ms), then makes at most N tokens,
                   always the most probable one (decode_ms)
                   {"tokens":[...],"prompt_ms":1.5,"decode_ms":2.5}
    prefill        reads the whole prompt from nothing           {"ms":1.5}
    exit

The first line tells that it is ready: {"ready":true,"version":"...","threads":2}. What goes wrong is
{"error":"one sentence"}; behind an error at the start the program ends.
"""
import json
import os
import sys
import time


class LlamaCpp:
    """A model and its context, through the C interface: nothing but llama.cpp itself is timed."""

    def __init__(self, path, threads, context):
        import llama_cpp
        import numpy

        self.lib = llama_cpp
        self.numpy = numpy
        self.lib.llama_backend_init()
        silent = self.lib.llama_log_callback(lambda level, text, data: None)
        self.silent = silent  # the library keeps only a pointer to it
        self.lib.llama_log_set(silent, None)
        self.model = self.lib.llama_model_load_from_file(
            os.fsencode(path), self.lib.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        params = self.lib.llama_context_default_params()
        params.n_ctx = context
        params.n_threads = threads
        params.n_threads_batch = threads
        self.context = self.lib.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError(f"llama.cpp makes no context of {context} tokens")
        self.batch_size = self.lib.llama_n_batch(self.context)
        vocabulary = self.lib.llama_model_get_vocab(self.model)
        self.vocab_size = self.lib.llama_vocab_n_tokens(vocabulary)
        self.read([0])  # the first pass pays for reading the file and starting threads
        self.clear()

    def clear(self):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)

    def read(self, tokens):
        """Runs tokens behind those that are cached; the logits of the last one stay."""
        for begin in range(0, len(tokens), self.batch_size):
            piece = tokens[begin:begin + self.batch_size]
            ids = (self.lib.llama_token * len(piece))(*piece)
            status = self.lib.llama_decode(
                self.context, self.lib.llama_batch_get_one(ids, len(piece)))
            if status != 0:
                raise RuntimeError(f"llama.cpp ends a pass with status {status}")
        # The call itself waits for the pass to end.
        return self.lib.llama_get_logits_ith(self.context, -1)

    def best(self, logits):
        """The most probable id, of equals the lowest."""
        row = self.numpy.ctypeslib.as_array(logits, shape=(self.vocab_size,))
        return int(row.argmax())


class Commands:
    def __init__(self, llama):
        self.llama = llama
        self.prompt = []
        self.ends = set()

    def run(self, line):
        name, _, rest = line.partition(" ")
        if name == "prompt":
            self.prompt = ids_of(rest)
            return {"ok": True}
        if name == "ends":
            self.ends = set(ids_of(rest))
            return {"ok": True}
        if name == "decode":
            return self.decode(int(rest))
        if name == "prefill":
            return self.prefill()
        return {"error": f"there is no command {name}"}

    def decode(self, count):
        self.llama.clear()
        start = time.perf_counter()
        if len(self.prompt) > 1:
            self.llama.read(self.prompt[:-1])
        middle = time.perf_counter()
        tokens = []
        last = self.prompt[-1]
        while len(tokens) < count:
            last = self.llama.best(self.llama.read([last]))
            tokens.append(last)
            if last in self.ends:
                break
        end = time.perf_counter()
        return {"tokens": tokens,
                "prompt_ms": (middle - start) * 1e3,
                "decode_ms": (end - middle) * 1e3}

    def prefill(self):
        self.llama.clear()
        start = time.perf_counter()
        self.llama.read(self.prompt)
        return {"ms": (time.perf_counter() - start) * 1e3}


def ids_of(text):
    return [int(part) for part in text.split(",") if part]


def main():
    # Answers go to a stream of their own: what a library prints must not come between them.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        import llama_cpp
        commands = Commands(LlamaCpp(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    except ImportError as error:
        answer({"error": f"llama-cpp-python is not installed for {sys.executable} ({error})",
                "missing": True})
        return
    except Exception as error:  # whatever it is, the other side must hear of it
        answer({"error": str(error)})
        return
    answer({"ready": True, "version": llama_cpp.__version__, "threads": int(sys.argv[2])})
    for line in sys.stdin:
        if line.strip() == "exit":
            return
        try:
            answer(commands.run(line.strip()))
        except Exception as error:
            answer({"error": str(error)})


main()
