#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes family_tokenizers/families.json: how the tokenizers of model families cut nasty texts.

Usage: make_family_tokenizers.py OUTPUT_FOLDER    (needs tokenizers; a second)

Each family is its published normalizer, pre-tokenizer, decoder, post-processor and added tokens. All
byte-level families share one tiny vocabulary, whose merges were trained across spaces, digits and line
ends: so every cut that a pattern makes shows in the ids. `cases` are the ids and texts that the
tokenizers library gives; `gguf` says what a GGUF file of the family has in place of the definition.
Sources of the patterns: transformers 5.23 (Qwen2Tokenizer, GPTNeoXTokenizer, GemmaTokenizer) and the
patterns of the models' own files that llama.cpp quotes beside each tokenizer.ggml.pre.
"""
import json
import sys

import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXTS = [
    "", " ", "  ", "   x", "a  b   c    d", " leading", "trailing ", "tab\there\t\tthere", "\n", "\n\n",
    "\n\n\n", "a\nb", "a \n b", "a\r\nb\r\n\r\nc", "end.\n\n\nNext", "  \n  x", "\u00a0nbsp\u00a0\u00a0x",
    "\u3000wide\u3000space", "0", "12", "123", "1234", "1234567", "3.14159", "x1y22z333", "2024-11-22",
    "\u0661\u0662\u0663\u0664 \u00bd \u2167", "I'm we'll they've he'd it's don't you're",
    "I'M WE'LL THEY'VE HE'D IT'S DON'T YOU'RE", "'tis 'Twas \u2019s it\u2019s", "camelCaseHTTPServer snake_case",
    "XMLHttpRequest2Json", "hello, world!", "(a+b)*c/d == e != f", "price: $5.00, 10%", "...---...",
    "http://example.com/a/b?c=d&e=f#g", "def f(x):\n    return x**2\n", "if (a) {\n\t\tb();\n}\n",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c", "\uc548\ub155\ud558\uc138\uc694", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u0645\u0631\u062d\u0628\u0627",
    "\u0928\u092e\u0938\u094d\u0924\u0947", "caf\u00e9", "cafe\u0301", "A\u030a \u00c5 \u212b", "\u1e69 s\u0323\u0307 s\u0307\u0323", "\ufb01ne \uff21\uff22\uff23",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family", "\U0001f1e9\U0001f1ea\U0001f3f3\ufe0f\u200d\U0001f308", "\u2764\ufe0f", "zero\u200bwidth\u200djoin\ufeff",
    "na\u00efve \u0130stanbul \u00df \u1e9e", "\u01c5 \u02b0 \u00aa", "<|im_start|>user\nhi<|im_end|>\n", "<|im_start|", "< |im_end|>",
    "<|endoftext|><|endoftext|>", "x<|end|>  \n y", "<think>\nhm</think>\n\nyes", "<start_of_turn>user\nhi<end_of_turn>\n",
    "</s>", "<s>[INST] hi [/INST]", "<|user|>\nhi<|end|>\n<|assistant|>\n", "<bos>", "\u2581under\u2581score", "\u0120G \u010a",
    "<0x0A>", "a\u0000b", "\u0007bell", "aaaaaaaaaaaaaaaaaaaaaaaa", "AAAAAAAAaaaaaaaaAAAA", "ab" * 40, " " * 40, "\n" * 9,
]
CORPUS = [text for text in TEXTS if "<" not in text] * 3 + [
    "the quick brown fox jumps over the lazy dog 1234567890 times; it's the dog's 2nd day.\n\n",
    "I'll say: we've 100 things to do, don't we?\r\n    return x\n", "WE'LL SEE THE FOX'S 365 DAYS\n"] * 5

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = O200K.replace(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
WORDS = {**BYTES, "use_regex": True}


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def begins_with(token):
    """TemplateProcessing that puts one token in front; its id is filled in later."""
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {token: {"id": token, "ids": [0], "tokens": [token]}}}


def special(*contents, **more):
    return [{"content": content, "special": True, "normalized": False, **more} for content in contents]


def added(*contents, **more):
    return [{"content": content, "special": False, "normalized": False, **more} for content in contents]


SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
UNSPACES = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
FUSED = [UNSPACES, {"type": "ByteFallback"}, {"type": "Fuse"}]
CHATML = special("<|endoftext|>", "<|im_start|>", "<|im_end|>")
FAMILIES = {
    "qwen3": {"normalizer": {"type": "NFC"}, "pre_tokenizer": sequence(split(QWEN2), BYTES),
              "added": CHATML + added("<think>", "</think>"), "gguf": {"pre": "qwen2"}},
    "smollm3": {"pre_tokenizer": sequence(split(LLAMA3), BYTES),
                "added": CHATML + added("<think>", "</think>"), "gguf": {"pre": "smaug-bpe"}},
    "olmo2": {"pre_tokenizer": sequence(split(LLAMA3, "Removed", True), BYTES),
              "added": special("<|endoftext|>") + added("<|im_start|>", "<|im_end|>"), "gguf": {"pre": "dbrx"}},
    "phi4mini": {"pre_tokenizer": sequence(split(O200K, "Removed", True), BYTES),
                 "added": special("<|endoftext|>", "<|assistant|>", "<|end|>", "<|user|>"),
                 "gguf": {"pre": "gpt-4o"}},
    "granite3": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, WORDS),
                 "added": special("<|endoftext|>", "<|start_of_role|>", "<|end_of_role|>"), "gguf": {"pre": "refact"}},
    "olmoe": {"normalizer": {"type": "NFC"}, "pre_tokenizer": WORDS,
              "added": special("<|endoftext|>") + added("  ", "    ", "        "), "gguf": {"pre": "olmo"}},
    "mistral_nemo": {"pre_tokenizer": sequence(split(TEKKEN), BYTES), "ignore_merges": True,
                     "post_processor": begins_with("<s>"),
                     "added": special("<unk>", "<s>", "</s>", "[INST]", "[/INST]"), "gguf": {"pre": "tekken"}},
    "llama3": {"pre_tokenizer": sequence(split(LLAMA3), BYTES), "ignore_merges": True,
               "post_processor": begins_with("<s>"), "added": special("<s>", "</s>"), "gguf": {"pre": "llama-bpe"}},
    "gemma3": {"normalizer": SPACES,
               "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious",
                                 "invert": False},
               "decoder": {"type": "Sequence", "decoders": FUSED}, "post_processor": begins_with("<bos>"),
               "added": special("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>") + added("\n\n"),
               "gguf": {"model": "llama", "add_space_prefix": False}},
    "phi3": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, SPACES]},
             "decoder": {"type": "Sequence",
                         "decoders": FUSED + [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
             "added": special("<unk>", "<s>", "<|endoftext|>") + special(
                 "<|assistant|>", "<|user|>", "<|end|>", "<|system|>", rstrip=True) + added("</s>", rstrip=True),
             "gguf": {"model": "llama", "add_space_prefix": True, "architecture": "phi3"}},
    "mixtral": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, SPACES]},
                "decoder": {"type": "Sequence",
                            "decoders": FUSED + [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
                "post_processor": begins_with("<s>"), "added": special("<unk>", "<s>", "</s>"),
                "gguf": {"model": "llama", "add_space_prefix": True}},
}


def train(pre_tokenizer, alphabet, corpus):
    """Tokens in the order in which merges made them, and the merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=len(alphabet) + 220, initial_alphabet=alphabet, show_progress=False,
                                  min_frequency=2, max_token_length=12)
    tokenizer.train_from_iterator(corpus, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    return tokens, [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in model["merges"]]


def all_merges(tokens):
    """Every pair that makes a token, in the order of the tokens made, as SentencePiece may merge it."""
    rank = {token: index for index, token in enumerate(tokens)}
    return [(token[:at], token[at:]) for token in tokens for at in range(1, len(token))
            if token[:at] in rank and token[at:] in rank]


def definition(family, tokens, merges, is_bytes):
    """A whole tokenizer.json. Added tokens come first in the vocabulary, as ids 0, 1, 2 ..."""
    names = [token["content"] for token in family["added"]]
    vocab = {text: id for id, text in enumerate(names + [token for token in tokens if token not in names])}
    processor = json.loads(json.dumps(family.get("post_processor")))
    for token in (processor or {}).get("special_tokens", {}).values():
        token["ids"] = [vocab[token["id"]]]
    flags = {"single_word": False, "lstrip": False, "rstrip": False}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": vocab[token["content"]], **flags, **token} for token in family["added"]],
            "normalizer": family.get("normalizer"), "pre_tokenizer": family.get("pre_tokenizer"),
            "post_processor": processor, "decoder": family.get("decoder", {"type": "ByteLevel"} | WORDS),
            "model": {"type": "BPE", "dropout": None, "unk_token": None if is_bytes else "<unk>",
                      "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": not is_bytes,
                      "byte_fallback": not is_bytes, "ignore_merges": family.get("ignore_merges", False),
                      "vocab": vocab, "merges": [list(merge) for merge in merges]}}


def main():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    byte_level = train(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), alphabet, CORPUS)
    letters = sorted({letter for text in CORPUS for letter in text.replace(" ", "\u2581") if letter.isalnum()
                      and ord(letter) < 256} | set("\u2581.,:;()'-\n"))
    pieces, _ = train(pre_tokenizers.Metaspace(prepend_scheme="never"), letters,
                      ["".join(one for one in text if one == " " or one in letters) for text in CORPUS])
    pieces = [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    told = []
    for name, family in FAMILIES.items():
        is_bytes = "model" not in family["gguf"]
        names = {token["content"] for token in family["added"]}
        tokens = byte_level[0] if is_bytes else pieces
        merges = byte_level[1] if is_bytes else all_merges([token for token in pieces if token[0] != "<"])
        whole = definition(family, tokens, merges, is_bytes)
        tokenizer = Tokenizer.from_str(json.dumps(whole))
        cases = []
        for text in TEXTS:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append([text, ids, tokenizer.decode(ids, skip_special_tokens=False)])
        del whole["model"]["vocab"], whole["model"]["merges"]
        told.append({"name": name, "gguf": family["gguf"], "byte_level": is_bytes,
                     "with_special": tokenizer.encode("x").ids, "definition": whole, "cases": cases})
        print(name, sum(len(ids) for _, ids, _ in cases), len(names))
    data = {"tokenizers": tokenizers.__version__, "byte_level": {"tokens": byte_level[0], "merges": byte_level[1]},
            "pieces": {"tokens": pieces, "merges": all_merges([token for token in pieces if token[0] != "<"])}}
    with open(f"{sys.argv[1]}/families.json", "w", encoding="utf-8") as file:
        rows = ",\n".join(json.dumps(one) for one in told)
        file.write("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
                   + f',\n"families": [\n{rows}\n]}}\n')


main()
