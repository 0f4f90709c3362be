// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_tensors.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace engine {

namespace {

struct NamePair {
    std::string_view stem; ///< "attn_q" of "blk.7.attn_q.weight"
    std::string_view name;
};

constexpr auto kLayerNames = std::to_array<NamePair>({
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
});

constexpr std::string_view kWeight = ".weight";

constexpr auto kExpertNames = std::to_array<NamePair>({
    {"ffn_gate_exps", "gate_proj"},
    {"ffn_up_exps", "up_proj"},
    {"ffn_down_exps", "down_proj"},
});

/// Older files hold a matrix for each expert: "blk.7.ffn_gate.3.weight".
constexpr auto kOneExpertNames = std::to_array<NamePair>({
    {"ffn_gate.", "gate_proj"},
    {"ffn_up.", "up_proj"},
    {"ffn_down.", "down_proj"},
});

/// Maps the tensors of one file.
class GgufMap {
public:
    GgufMap(const GgufFile& file, const ModelConfig& config)
        : m_file(file)
        , m_config(config)
        , m_family(familyOf(config)) {}

    Result<std::vector<MappedTensor>> mapAll() {
        m_tensors.reserve(m_file.tensors().size());
        for (const TensorInfo& stored : m_file.tensors())
            ENGINE_TRY_DO(map(stored));
        return std::move(m_tensors);
    }

private:
    Result<void> map(const TensorInfo& stored) {
        const std::string_view name = stored.name;
        const auto [layer, part] = name.starts_with("blk.")
                                       ? splitNumber(name.substr(4), m_config.layerCount)
                                       : NumberedName();
        const std::size_t stemEnd = part.rfind('.');
        if (layer < 0 || stemEnd == std::string_view::npos) {
            m_tensors.push_back({.name = wholeName(name), .stored = &stored});
            return {};
        }
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        return mapLayer(stored, prefix, part.substr(0, stemEnd), part.substr(stemEnd));
    }

    Result<void> mapLayer(const TensorInfo& stored,
                          const std::string& prefix,
                          std::string_view stem,
                          std::string_view suffix) {
        if (m_family.isFused && stem == "attn_qkv")
            return cutRows(stored, fusedAttentionParts(m_config, prefix), suffix, m_tensors);
        if (m_family.isFused && stem == "ffn_up")
            return cutRows(stored, fusedMlpParts(m_config, prefix), suffix, m_tensors);
        if (stem == "ffn_gate_up_exps" && suffix == kWeight)
            return cutExperts(stored, prefix, {"gate_proj", "up_proj"});
        for (const auto& [theirs, ours] : kExpertNames)
            if (stem == theirs && suffix == kWeight)
                return cutExperts(stored, prefix, {ours});
        for (const auto& [theirs, ours] : kOneExpertNames)
            if (m_config.experts.count > 0 && stem.starts_with(theirs) && suffix == kWeight)
                return nameExpert(stored, prefix, stem.substr(theirs.size()), ours);
        ENGINE_TRY(const std::uint64_t headRows, interleavedRows(stored, stem));
        m_tensors.push_back({.name = layerName(stored, prefix, stem, suffix),
                             .stored = &stored,
                             .headRows = headRows});
        return {};
    }

    static std::string wholeName(std::string_view name) {
        if (name == "token_embd.weight")
            return "model.embed_tokens.weight";
        if (name == "output_norm.weight")
            return "model.norm.weight";
        if (name == "output.weight")
            return "lm_head.weight";
        return std::string(name);
    }

    std::string layerName(const TensorInfo& stored,
                          const std::string& prefix,
                          std::string_view stem,
                          std::string_view suffix) const {
        if (stem == "ffn_norm")
            return prefix +
                   (m_config.hasNormsBehind() ? "pre_feedforward_layernorm"
                                              : "post_attention_layernorm") +
                   std::string(suffix);
        for (const auto& [theirs, ours] : kLayerNames)
            if (stem == theirs)
                return prefix + std::string(ours) + std::string(suffix);
        return stored.name;
    }

    /// [experts, outputs, inputs]: for each expert a matrix, or several one below the other.
    Result<void> cutExperts(const TensorInfo& stored,
                            const std::string& prefix,
                            std::initializer_list<std::string_view> names) {
        const auto count = static_cast<std::uint64_t>(m_config.experts.count);
        if (stored.shape.size() != 3 || stored.shape[0] != count)
            return corruptTensor(
                stored, fmt::format("holds other than {} experts", m_config.experts.count));
        if (stored.shape[1] % names.size() != 0)
            return corruptTensor(stored,
                                 fmt::format("has {} rows an expert, which do not divide into {} "
                                             "matrices",
                                             stored.shape[1],
                                             names.size()));
        const std::uint64_t outputs = stored.shape[1] / names.size();
        std::uint64_t row = 0;
        for (std::uint64_t expert = 0; expert < count; ++expert)
            for (const std::string_view name : names) {
                m_tensors.push_back(
                    {.name = fmt::format("{}mlp.experts.{}.{}{}", prefix, expert, name, kWeight),
                     .stored = &stored,
                     .shape = {outputs, stored.shape[2]},
                     .firstRow = row});
                row += outputs;
            }
        return {};
    }

    Result<void> nameExpert(const TensorInfo& stored,
                            const std::string& prefix,
                            std::string_view number,
                            std::string_view name) {
        const int expert = splitNumber(std::string(number) + ".", m_config.experts.count).number;
        if (expert < 0)
            return corruptTensor(stored,
                                 fmt::format("is of expert {}, but the model has {} experts",
                                             readable(number),
                                             m_config.experts.count));
        m_tensors.push_back(
            {.name = fmt::format("{}mlp.experts.{}.{}{}", prefix, expert, name, kWeight),
             .stored = &stored});
        return {};
    }

    /// Rows of a head, or values of its bias, where the converter interleaved them; 0: it did not.
    Result<std::uint64_t> interleavedRows(const TensorInfo& stored, std::string_view stem) const {
        if (!m_family.isInterleavedInGguf || (stem != "attn_q" && stem != "attn_k"))
            return std::uint64_t{0};
        const int heads = stem == "attn_q" ? m_config.headCount : m_config.kvHeadCount;
        const std::uint64_t length = stored.shape.size() == 1 ? stored.columns() : stored.rows();
        const auto divisor = static_cast<std::uint64_t>(std::max(heads, 1)) * 2;
        if (length == 0 || length % divisor != 0)
            return corruptTensor(stored,
                                 fmt::format("has {} rows, which do not divide into {} heads with "
                                             "rotary pairs",
                                             length,
                                             heads));
        return length / divisor * 2;
    }

    Error corruptTensor(const TensorInfo& stored, std::string_view problem) const {
        return {
            ErrorCode::CorruptFile,
            fmt::format("{}: tensor {} {}", m_file.path().string(), readable(stored.name), problem),
            "Fetch the file again, or convert the model again."};
    }

    const GgufFile& m_file;
    const ModelConfig& m_config;
    const Family& m_family;
    std::vector<MappedTensor> m_tensors;
};

} // namespace

Result<std::vector<MappedTensor>> mapGgufTensors(const GgufFile& file, const ModelConfig& config) {
    return GgufMap(file, config).mapAll();
}

} // namespace engine
