// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/models/tiny_gguf.h"
#include "tests/support/models/tiny_safetensors.h"

#include <string>

/// The smallest models that every part of the loader accepts, each below 4 KB.
namespace test_support {

inline std::string tinyConfigJson() {
    return R"({"model_type":"llama","hidden_size":4,"intermediate_size":6,"num_hidden_layers":1,
"num_attention_heads":2,"num_key_value_heads":1,"vocab_size":5,"max_position_embeddings":16,
"rms_norm_eps":1e-5,"rope_theta":10000.0,"eos_token_id":[2,3],"tie_word_embeddings":true,
"hidden_act":"silu","attention_bias":false,"torch_dtype":"float32"})";
}

/// The tied tiny llama: nine tensors of one layer, embedding and norm.
inline TinySafetensors tinySafetensors() {
    TinySafetensors file;
    const std::string layer = "model.layers.0.";
    file.addFloats("model.embed_tokens.weight", {5, 4});
    file.addFloats(layer + "input_layernorm.weight", {4});
    file.addFloats(layer + "self_attn.q_proj.weight", {4, 4});
    file.addFloats(layer + "self_attn.k_proj.weight", {2, 4});
    file.addFloats(layer + "self_attn.v_proj.weight", {2, 4});
    file.addFloats(layer + "self_attn.o_proj.weight", {4, 4});
    file.addFloats(layer + "post_attention_layernorm.weight", {4});
    file.addFloats(layer + "mlp.gate_proj.weight", {6, 4});
    file.addFloats(layer + "mlp.up_proj.weight", {6, 4});
    file.addFloats(layer + "mlp.down_proj.weight", {4, 6});
    file.addFloats("model.norm.weight", {4});
    return file;
}

/// The metadata of the same network, without tensors; more may be added.
inline TinyGguf tinyGgufMetadata() {
    TinyGguf file;
    file.addString("general.architecture", "llama");
    file.addU32("llama.block_count", 1);
    file.addU32("llama.embedding_length", 4);
    file.addU32("llama.feed_forward_length", 6);
    file.addU32("llama.attention.head_count", 2);
    file.addU32("llama.attention.head_count_kv", 1);
    file.addU32("llama.context_length", 16);
    file.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    return file;
}

inline void addTinyTokenizer(TinyGguf& file) {
    file.addString("tokenizer.ggml.model", "gpt2");
    file.addStrings("tokenizer.ggml.tokens", {"a", "b", "<e>", "ab", "c"});
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, {1, 1, 3, 1, 1});
    file.addArray<float>("tokenizer.ggml.scores", GgufType::F32, {0, 0, 0, 1, 0});
    file.addStrings("tokenizer.ggml.merges", {"a b"});
    file.addU32("tokenizer.ggml.eos_token_id", 2);
    file.addString("tokenizer.chat_template", "{{ messages }}");
}

inline void addTinyTensors(TinyGguf& file) {
    file.addFloats("token_embd.weight", {4, 5});
    file.addFloats("blk.0.attn_norm.weight", {4});
    file.addFloats("blk.0.attn_q.weight", {4, 4});
    file.addFloats("blk.0.attn_k.weight", {4, 2});
    file.addFloats("blk.0.attn_v.weight", {4, 2});
    file.addFloats("blk.0.attn_output.weight", {4, 4});
    file.addFloats("blk.0.ffn_norm.weight", {4});
    file.addFloats("blk.0.ffn_gate.weight", {4, 6});
    file.addFloats("blk.0.ffn_up.weight", {4, 6});
    file.addFloats("blk.0.ffn_down.weight", {6, 4});
    file.addFloats("output_norm.weight", {4});
    file.addTensor("extra.q8", {32}, 8, std::string(34, '\1'));
}

} // namespace test_support
