#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes config_cases/: one tiny random network and what transformers computes under changed configs.

Usage: make_config_cases.py OUTPUT_FOLDER    (needs torch, transformers and safetensors; half a minute)

Every case changes some fields of one family's config.json, or leaves tensors out of the file, loads
the result as a user of transformers would (AutoModelForCausalLM.from_pretrained) and keeps the logits.
The file of weights holds more than any config asks for (biases, a head), so that fields that choose
among tensors change the logits. `refused` says what the engine must say where it computes nothing,
`remark` what it must remark. What transformers gives no answer to (an exception, tensors that it had
to invent, other logits with a cache than without) the engine must refuse, and so does the case.
Fields by which another family computes are refused too, although transformers passes over them.
The same seed gives the same numbers, up to the rounding of the machine.
"""
import json
import logging
import os
import sys
import tempfile

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

VOCAB, HIDDEN, MLP, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 40, 32, 48, 4, 4, 2, 8
LENGTH, KEPT_ROWS = 24, [0, 5, 7, 8, 15, 23]
HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
GONE = "(gone)"  # the value of a field that the case takes out

COMMON = {"hidden_size": HIDDEN, "intermediate_size": MLP, "num_hidden_layers": LAYERS,
          "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "vocab_size": VOCAB,
          "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "hidden_act": "silu", "tie_word_embeddings": False, "torch_dtype": "float16",
          "bos_token_id": 1, "eos_token_id": 2}
FAMILIES = {
    "llama": {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **COMMON},
    "mistral": {"model_type": "mistral", "architectures": ["MistralForCausalLM"],
                "sliding_window": None, "head_dim": HEAD_DIM, **COMMON},
    "qwen2": {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], **COMMON},
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
ALTERNATING = ["sliding_attention", "full_attention"] * (LAYERS // 2)
FULL = ["full_attention"] * LAYERS


def cases():
    """Yields family, name, changes, and what else the case says."""
    for family in FAMILIES:
        yield family, "base", {}, {}
        yield family, "tied with a head", {"tie_word_embeddings": True}, {
            "remark": "tie_word_embeddings"}
        yield family, "tied", {"tie_word_embeddings": True}, {"without": [HEAD]}
        yield family, "tied without embedding", {"tie_word_embeddings": True}, {
            "without": [EMBEDDING], "refused": "no tensor model.embed_tokens.weight"}
        yield family, "tying unsaid", {"tie_word_embeddings": GONE}, {}
        yield family, "untied without head", {}, {
            "without": [HEAD], "refused": "no tensor lm_head.weight"}
        yield family, "theta", {"rope_theta": 500.0}, {}
        yield family, "theta unsaid", {"rope_theta": GONE}, {}
        yield family, "theta in parameters", {
            "rope_theta": GONE, "rope_parameters": {"rope_type": "default", "rope_theta": 300}}, {}
        yield family, "theta twice", {
            "rope_theta": 500.0, "rope_parameters": {"rope_type": "default", "rope_theta": 300}}, {}
        yield family, "theta beside parameters", {
            "rope_theta": 500.0, "rope_parameters": {"rope_type": "default"}}, {}
        yield family, "theta in scaling", {
            "rope_scaling": {"type": "linear", "factor": 2.0, "rope_theta": 300}}, {}
        yield family, "scaling and parameters", {
            "rope_scaling": {"type": "linear", "factor": 2.0},
            "rope_parameters": {"rope_type": "default", "rope_theta": 300}}, {}
        yield family, "empty scaling and parameters", {
            "rope_scaling": {}, "rope_parameters": {"rope_type": "default", "rope_theta": 300}}, {}
        yield family, "linear", {"rope_scaling": {"type": "linear", "factor": 4}}, {}
        yield family, "linear below one", {
            "rope_scaling": {"rope_type": "linear", "factor": 0.5}}, {}
        yield family, "llama3", {"rope_scaling": LLAMA3}, {}
        yield family, "llama3 without original length", {"rope_scaling": {
            name: value for name, value in LLAMA3.items() if "original" not in name}}, {}
        yield family, "llama3 with outer original length", {
            "rope_scaling": LLAMA3, "original_max_position_embeddings": 32}, {}
        yield family, "both names of the kind", {"rope_scaling": {**LLAMA3, "type": "linear"}}, {}
        yield family, "default with a factor", {
            "rope_scaling": {"rope_type": "default", "factor": 4.0}}, {"remark": "factor"}
        yield family, "linear with an attention factor", {
            "rope_scaling": {"rope_type": "linear", "factor": 4.0, "attention_factor": 2.0}}, {
                "remark": "attention_factor"}
        yield family, "dynamic", {"rope_scaling": {"type": "dynamic", "factor": 4.0}}, {
            "refused": "rope scaling \"dynamic\""}
        yield family, "yarn", {"rope_scaling": {
            "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}}, {
                "refused": "rope scaling \"yarn\""}
        yield family, "longrope", {"rope_scaling": {
            "type": "longrope", "factor": 4.0, "original_max_position_embeddings": 16,
            "short_factor": [1.5] * 4, "long_factor": [3.0] * 4}}, {
                "refused": "rope scaling \"longrope\""}
        yield family, "proportional", {"rope_scaling": {
            "rope_type": "proportional", "partial_rotary_factor": 1.0, "factor": 2.0}}, {
                "refused": "rope scaling \"proportional\""}
        yield family, "unknown scaling", {"rope_scaling": {"type": "stretched", "factor": 2.0}}, {
            "refused": "rope scaling \"stretched\""}
        yield family, "parameters by kind of layer", {
            "layer_types": FULL, "rope_parameters": {"full_attention": {
                "rope_type": "default", "rope_theta": 300}}}, {"refused": "by kind of layer"}
        yield family, "partial rotation", {"partial_rotary_factor": 0.5}, {
            "refused": "partial_rotary_factor"}
        yield family, "partial rotation in parameters", {"rope_parameters": {
            "rope_type": "default", "rope_theta": 300, "partial_rotary_factor": 0.5}}, {
                "refused": "partial_rotary_factor"}
        yield family, "partial rotation of a scaled kind", {
            "partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 4}}, {
                "refused": "partial_rotary_factor"}
        yield family, "whole rotation", {"partial_rotary_factor": 1.0}, {}
        yield family, "interleaved rotation", {"rope_interleaved": True}, {
            "refused": "rope_interleaved"}
        yield family, "attention bias", {"attention_bias": True}, (
            {"llama": {}, "mistral": {"refused": "attention_bias"},
             "qwen2": {"remark": "attention_bias"}}[family])
        yield family, "no attention bias", {"attention_bias": False}, {}
        yield family, "MLP bias", {"mlp_bias": True}, (
            {} if family == "llama" else {"refused": "mlp_bias"})
        yield family, "both biases", {"attention_bias": True, "mlp_bias": True}, (
            {} if family == "llama" else {"refused": "_bias"})
        yield family, "qkv_bias", {"qkv_bias": True}, {"refused": "qkv_bias"}
        yield family, "two wide heads", {
            "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}, {}
        yield family, "two wide heads, head_dim unsaid", {
            "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": GONE}, {}
        yield family, "head_dim that fits no tensor", {"head_dim": 16}, {"refused": "has shape"}
        yield family, "one kv head", {"num_key_value_heads": 1}, {"refused": "has shape"}
        yield family, "kv heads unsaid", {"num_key_value_heads": GONE}, {
            "refused": "has shape" if family == "llama" else "evenly"}
        yield family, "kv heads null", {"num_key_value_heads": None}, {"refused": "has shape"}
        for act in ("gelu", "relu", "gelu_pytorch_tanh", "SiLU"):
            yield family, f"activation {act}", {"hidden_act": act}, {
                "refused": f"activation \"{act}\""}
        yield family, "activation swish", {"hidden_act": "swish"}, {}
        yield family, "activation unsaid", {"hidden_act": GONE}, {}
        yield family, "epsilon", {"rms_norm_eps": 1e-2}, {}
        yield family, "epsilon unsaid", {"rms_norm_eps": GONE}, {}
        yield family, "epsilon null", {"rms_norm_eps": None}, {"refused": "rms_norm_eps"}
        yield family, "pretraining_tp", {"pretraining_tp": 2}, {}
        for field in ("attention_multiplier", "logits_scaling", "embedding_multiplier",
                      "residual_multiplier", "final_logit_softcapping", "logit_scale",
                      "attn_logit_softcapping", "query_pre_attn_scalar"):
            yield family, field, {field: 4}, {"refused": field}
        yield family, "attention_chunk_size", {"attention_chunk_size": 4}, {
            "refused": "attention_chunk_size"}
        yield family, "quantised", {"quantization_config": {"quant_method": "gptq", "bits": 4}}, {
            "refused": "quantization_config"}
        yield family, "code of its own", {"auto_map": {"AutoModel": "modeling.Model"}}, {
            "remark": "auto_map"}
        for dtype in ("float32", "bfloat16"):
            yield family, f"torch_dtype {dtype}", {"torch_dtype": dtype}, {}
        yield family, "dtype", {"dtype": "bfloat16", "torch_dtype": GONE}, {}
        yield family, "sees what follows", {"is_causal": False}, {"refused": "is_causal"}
        yield family, "sees no future", {"is_causal": True}, {}
        yield family, "one layer differs", {"per_layer_config": {"1": {"rms_norm_eps": 0.1}}}, {
            "refused": "per_layer_config"}
        yield family, "dropout", {"attention_dropout": 0.5}, {}
        yield family, "no cache", {"use_cache": False}, {}
        yield family, "chunked MLP", {"chunk_size_feed_forward": 4}, {}
        yield family, "padding token", {"pad_token_id": 3}, {}
        yield family, "fewer layers", {"num_hidden_layers": LAYERS - 1}, {
            "remark": f"model.layers.{LAYERS - 1}."}
        yield family, "more layers", {"num_hidden_layers": LAYERS + 1}, {
            "refused": f"no tensor model.layers.{LAYERS}."}
        for field in ("vocab_size", "intermediate_size"):
            size = COMMON[field]
            yield family, f"larger {field}", {field: size + 1}, {"refused": "has shape"}
            yield family, f"smaller {field}", {field: size - 1}, {"refused": "has shape"}
        yield family, "context", {"max_position_embeddings": 128}, {}
        yield from windows(family)


def windows(family):
    """Llama has no windows: what asks for one that would act is refused."""
    refused = {"refused": "sliding window"}
    asked = refused if family == "llama" else {}
    unsaid = {"llama": refused, "mistral": {}, "qwen2": {"refused": "sliding window"}}[family]
    used = {"sliding_window": 8, "use_sliding_window": True}
    yield family, "window", {"sliding_window": 8}, asked
    yield family, "window in use", used, asked
    yield family, "window not in use", {"sliding_window": 8, "use_sliding_window": False}, asked
    yield family, "window from layer 2 on", {**used, "max_window_layers": 2}, asked
    yield family, "layer_types", {**used, "layer_types": ALTERNATING}, asked
    yield family, "layer_types over max_window_layers", {
        **used, "max_window_layers": 0, "layer_types": ALTERNATING}, asked
    yield family, "layer_types, use unsaid", {
        "sliding_window": 8, "layer_types": ALTERNATING}, unsaid
    yield family, "layer_types without window", {
        "use_sliding_window": True, "sliding_window": None, "layer_types": ALTERNATING}, refused
    yield family, "layer_types, window unsaid", {
        "use_sliding_window": True, "sliding_window": GONE, "layer_types": ALTERNATING}, asked
    yield family, "layer_types, all full", {**used, "layer_types": FULL}, {}
    yield family, "layer_types, all full under an older name", {
        **used, "layer_types": ["attention"] * LAYERS}, {}
    yield family, "layer_types null", {**used, "layer_types": None}, asked
    yield family, "layer_types too short", {"layer_types": FULL[1:]}, {"refused": "layer_types"}
    for kind in ("chunked_attention", "some_attention"):
        yield family, f"layer type {kind}", {
            "sliding_window": 8, "layer_types": [kind] * LAYERS}, {"refused": kind}
    yield family, "window of two", {
        **used, "sliding_window": 2, "max_window_layers": 0}, asked
    yield family, "window beyond the context", {
        **used, "sliding_window": 100, "max_window_layers": 0}, {}


def new_weights():
    random = torch.Generator().manual_seed(16)

    def values(shape, spread, mean=0.0):
        return (torch.randn(shape, generator=random) * spread + mean).to(torch.float16)

    # Small embeddings, so that the first norms show their epsilon.
    weights = {EMBEDDING: values((VOCAB, HIDDEN), 0.02), HEAD: values((VOCAB, HIDDEN), 0.5),
               "model.norm.weight": values((HIDDEN,), 0.1, 1.0)}
    sizes = {"self_attn.q_proj": (HEADS * HEAD_DIM, HIDDEN),
             "self_attn.k_proj": (KV_HEADS * HEAD_DIM, HIDDEN),
             "self_attn.v_proj": (KV_HEADS * HEAD_DIM, HIDDEN),
             "self_attn.o_proj": (HIDDEN, HEADS * HEAD_DIM), "mlp.gate_proj": (MLP, HIDDEN),
             "mlp.up_proj": (MLP, HIDDEN), "mlp.down_proj": (HIDDEN, MLP)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}{norm}.weight"] = values((HIDDEN,), 0.1, 1.0)
        for name, (rows, columns) in sizes.items():
            spread = 2.0 if name[-6] in "qk" and "attn" in name else 1.0
            weights[f"{at}{name}.weight"] = values((rows, columns), spread * columns ** -0.5)
            weights[f"{at}{name}.bias"] = values((rows,), 0.3)
    return weights


def run(folder, config, tensors, ids):
    """Logits [length, vocabulary] in float32, or why there are none."""
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    save_file(tensors, f"{folder}/model.safetensors", metadata={"format": "pt"})
    try:
        model, info = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
        if info["missing_keys"]:
            return None, "it invents tensors: " + ", ".join(sorted(info["missing_keys"])[:3])
        tokens = torch.tensor([ids])
        with torch.no_grad():
            logits = model.eval()(tokens, use_cache=False).logits[0]
            if config.get("is_causal", True):
                first = model(tokens[:, :16], use_cache=True)
                rows = [model(tokens[:, place:place + 1], past_key_values=first.past_key_values,
                              use_cache=True).logits[0, 0] for place in range(16, LENGTH)]
                if (torch.stack(rows) - logits[16:]).abs().max() > 1e-3:
                    return None, "its logits with a cache are others"
    except Exception as failure:  # whatever a library says
        return None, f"{type(failure).__name__}: {failure}".splitlines()[0][:150]
    return (logits, "") if logits.isfinite().all() else (None, "its logits are not finite")


def main():
    output = sys.argv[1]
    os.makedirs(output, exist_ok=True)
    logging.disable(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    weights = new_weights()
    ids = torch.randint(0, VOCAB, (LENGTH,), generator=torch.Generator().manual_seed(17)).tolist()
    told, golden = [], {}
    for family, name, changes, more in cases():
        config = {**FAMILIES[family], **changes}
        config = {field: value for field, value in config.items() if value != GONE}
        tensors = {key: value for key, value in weights.items() if key not in more.get("without", [])}
        with tempfile.TemporaryDirectory() as folder:
            logits, why = run(folder, config, tensors, ids)
        case = {"name": f"{family}, {name}", "family": family, "changes": changes, **more}
        if logits is None and "refused" not in more:
            sys.exit(f"{case['name']}: transformers computes nothing ({why}), so say \"refused\"")
        if logits is not None and "refused" not in more:
            rows = logits[KEPT_ROWS].contiguous()
            # Equal logits are kept once, under the name of the first case that has them.
            case["logits"] = next((one for one, kept in golden.items() if kept.equal(rows)),
                                  case["name"])
            golden.setdefault(case["logits"], rows)
        print(f"{case['name']:60} {why or case.get('logits', 'refused')}", flush=True)
        told.append(case)
    save_file(weights, f"{output}/model.safetensors", metadata={"format": "pt"})
    save_file(golden, f"{output}/golden.safetensors")
    lines = ",\n  ".join(json.dumps(case) for case in told)
    with open(f"{output}/cases.json", "w", encoding="utf-8") as file:
        file.write(f"""{{"transformers": "{transformers.__version__}",
 "ids": {ids},
 "rows": {KEPT_ROWS},
 "gone": "{GONE}",
 "families": {json.dumps(FAMILIES)},
 "cases": [
  {lines}
 ]}}
""")


main()
