// SPDX-License-Identifier: Apache-2.0
#include "engine/text/joining/token_decoder.h"

#include "engine/text/bpe/byte_map.h"
#include "engine/text/joining/decode_stage.h"
#include "engine/text/vocabulary/utf8.h"

namespace engine {

namespace {

int hexDigit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

std::size_t characterCount(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count)
        text.remove_prefix(std::min(text.size(), utf8::lengthByFirstByte(text.front())));
    return count;
}

Error cannotFollow(std::string_view step) {
    return {ErrorCode::Unsupported,
            fmt::format("the decoder of the tokenizer uses {} after its tokens have been joined, "
                        "which is not supported",
                        step),
            "Use the model's GGUF file or another export of its tokenizer."};
}

} // namespace

int byteOfToken(std::string_view tokenText) {
    if (tokenText.size() != 6 || !tokenText.starts_with("<0x") || tokenText.back() != '>')
        return -1;
    const int high = hexDigit(tokenText[3]);
    const int low = hexDigit(tokenText[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Result<void> TokenDecoder::add(Step step) {
    if (m_isFused) {
        const auto* replace = std::get_if<ReplaceDecode>(&step);
        if (replace != nullptr && characterCount(replace->pattern) > 1)
            return cannotFollow("Replace of more than one character");
        if (std::holds_alternative<ByteFallbackDecode>(step))
            return cannotFollow("ByteFallback");
        if (std::holds_alternative<ByteLevelDecode>(step))
            return cannotFollow("ByteLevel");
        if (std::holds_alternative<MetaspaceDecode>(step))
            return cannotFollow("Metaspace");
    }
    if (std::holds_alternative<FuseDecode>(step) || std::holds_alternative<ByteLevelDecode>(step))
        m_isFused = true;
    m_steps.push_back(std::move(step));
    return {};
}

std::string TokenDecoder::bytesOf(std::string_view tokenText) const {
    std::string bytes(tokenText);
    for (const Step& step : m_steps) {
        if (std::holds_alternative<ByteLevelDecode>(step)) {
            if (auto mapped = byte_map::bytesOf(bytes))
                bytes = std::move(*mapped);
        } else if (std::holds_alternative<ByteFallbackDecode>(step)) {
            if (const int byte = byteOfToken(bytes); byte >= 0)
                return std::string(1, static_cast<char>(byte));
        } else if (const auto* replace = std::get_if<ReplaceDecode>(&step)) {
            bytes = replaceAll(bytes, replace->pattern, replace->content);
        } else if (const auto* metaspace = std::get_if<MetaspaceDecode>(&step)) {
            bytes = replaceAll(bytes, metaspace->symbol, " ");
        }
    }
    return bytes;
}

/// The stages of a run and the end they write to.
class TokenDecoder::Run::Stages {
public:
    explicit Stages(const std::vector<Step>& steps) {
        bool isFused = false;
        for (const Step& step : steps) {
            m_stages.push_back(makeDecodeStage(step, isFused));
            isFused = isFused || std::holds_alternative<FuseDecode>(step) ||
                      std::holds_alternative<ByteLevelDecode>(step);
        }
        for (std::size_t i = 0; i < m_stages.size(); ++i)
            m_stages[i]->connect(i + 1 < m_stages.size() ? m_stages[i + 1].get() : nullptr);
    }

    void push(std::string_view tokenText, std::string& out) {
        if (m_stages.empty())
            out.append(tokenText);
        else
            m_stages.front()->push(tokenText, out);
    }

    void finish(std::string& out) {
        for (const auto& stage : m_stages)
            stage->finish(out);
    }

private:
    std::vector<std::unique_ptr<DecodeStage>> m_stages;
};

TokenDecoder::Run::Run(const TokenDecoder& decoder)
    : m_stages(std::make_unique<Stages>(decoder.m_steps)) {}

TokenDecoder::Run::Run(Run&&) noexcept = default;
TokenDecoder::Run::~Run() = default;

void TokenDecoder::Run::push(std::string_view tokenText, std::string& out) {
    m_stages->push(tokenText, out);
}

void TokenDecoder::Run::finish(std::string& out) { m_stages->finish(out); }

} // namespace engine
