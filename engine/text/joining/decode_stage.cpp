// SPDX-License-Identifier: Apache-2.0
#include "engine/text/joining/decode_stage.h"

#include "engine/text/bpe/byte_map.h"
#include "engine/text/vocabulary/utf8.h"

namespace engine {

namespace {

class ByteLevelStage : public DecodeStage {
public:
    void push(std::string_view text, std::string& out) override {
        const auto bytes = byte_map::bytesOf(text);
        std::string decoded;
        m_decoder.push(bytes ? std::string_view(*bytes) : text, decoded);
        if (!decoded.empty())
            handOn(decoded, out);
    }

    void finish(std::string& out) override {
        std::string decoded;
        m_decoder.finish(decoded);
        if (!decoded.empty())
            handOn(decoded, out);
    }

private:
    utf8::LossyDecoder m_decoder;
};

/// Nothing of a run of bytes is certain before its end: one byte that fits nowhere turns the
/// whole run into U+FFFD, as Hugging Face's ByteFallback has it.
class ByteFallbackStage : public DecodeStage {
public:
    void push(std::string_view text, std::string& out) override {
        if (const int byte = byteOfToken(text); byte >= 0) {
            m_run.push_back(static_cast<char>(byte));
            return;
        }
        finish(out);
        handOn(text, out);
    }

    void finish(std::string& out) override {
        if (m_run.empty())
            return;
        const std::string run = std::move(m_run);
        m_run.clear();
        if (!utf8::findInvalid(run)) {
            handOn(run, out);
            return;
        }
        for (std::size_t i = 0; i < run.size(); ++i)
            handOn(utf8::kReplacement, out);
    }

private:
    std::string m_run;
};

class FuseStage : public DecodeStage {
public:
    void push(std::string_view text, std::string& out) override { handOn(text, out); }
};

class ReplaceStage : public DecodeStage {
public:
    explicit ReplaceStage(const ReplaceDecode& step)
        : m_step(step) {}

    void push(std::string_view text, std::string& out) override {
        handOn(replaceAll(text, m_step.pattern, m_step.content), out);
    }

private:
    const ReplaceDecode& m_step;
};

/// Strip on each token by itself.
class StripTokenStage : public DecodeStage {
public:
    explicit StripTokenStage(const StripDecode& step)
        : m_step(step) {}

    void push(std::string_view text, std::string& out) override {
        for (std::size_t i = 0; i < m_step.start && text.starts_with(m_step.content); ++i)
            text.remove_prefix(m_step.content.size());
        for (std::size_t i = 0; i < m_step.stop && text.ends_with(m_step.content); ++i)
            text.remove_suffix(m_step.content.size());
        handOn(text, out);
    }

private:
    const StripDecode& m_step;
};

/// Strip on the joined text: the start is counted down, what may be the end is held back.
class StripTextStage : public DecodeStage {
public:
    explicit StripTextStage(const StripDecode& step)
        : m_step(step)
        , m_startLeft(step.start) {}

    void push(std::string_view text, std::string& out) override {
        std::string certain;
        while (!text.empty()) {
            if (!text.starts_with(m_step.content)) {
                const std::size_t until = std::min(text.find(m_step.content), text.size());
                m_startLeft = 0;
                release(m_held, certain);
                certain.append(text.substr(0, until));
                text.remove_prefix(until);
                continue;
            }
            text.remove_prefix(m_step.content.size());
            if (m_startLeft > 0)
                --m_startLeft;
            else if (++m_held > m_step.stop)
                release(1, certain);
        }
        if (!certain.empty())
            handOn(certain, out);
    }

private:
    void release(std::size_t count, std::string& certain) {
        m_held -= count;
        for (; count > 0; --count)
            certain.append(m_step.content);
    }

    const StripDecode& m_step;
    std::size_t m_startLeft;
    std::size_t m_held = 0;
};

class MetaspaceStage : public DecodeStage {
public:
    explicit MetaspaceStage(const MetaspaceDecode& step)
        : m_step(step) {}

    void push(std::string_view text, std::string& out) override {
        const bool drops = m_isFirst && m_step.dropsInFirst;
        m_isFirst = false;
        handOn(replaceAll(text, m_step.symbol, drops ? "" : " "), out);
    }

private:
    const MetaspaceDecode& m_step;
    bool m_isFirst = true;
};

class JoinStage : public DecodeStage {
public:
    void push(std::string_view text, std::string& out) override {
        if (!m_isFirst)
            handOn(" ", out);
        m_isFirst = false;
        handOn(text, out);
    }

private:
    bool m_isFirst = true;
};

} // namespace

std::string replaceAll(std::string_view text, std::string_view pattern, std::string_view content) {
    std::string out;
    std::size_t begin = 0;
    for (std::size_t at = text.find(pattern); at != std::string_view::npos;
         at = text.find(pattern, begin)) {
        out.append(text.substr(begin, at - begin));
        out.append(content);
        begin = at + pattern.size();
    }
    out.append(text.substr(begin));
    return out;
}

std::unique_ptr<DecodeStage> makeDecodeStage(const TokenDecoder::Step& step, bool isFused) {
    if (std::holds_alternative<ByteLevelDecode>(step))
        return std::make_unique<ByteLevelStage>();
    if (std::holds_alternative<ByteFallbackDecode>(step))
        return std::make_unique<ByteFallbackStage>();
    if (std::holds_alternative<FuseDecode>(step))
        return std::make_unique<FuseStage>();
    if (std::holds_alternative<JoinDecode>(step))
        return std::make_unique<JoinStage>();
    if (const auto* replace = std::get_if<ReplaceDecode>(&step))
        return std::make_unique<ReplaceStage>(*replace);
    if (const auto* metaspace = std::get_if<MetaspaceDecode>(&step))
        return std::make_unique<MetaspaceStage>(*metaspace);
    const auto& strip = std::get<StripDecode>(step);
    if (isFused)
        return std::make_unique<StripTextStage>(strip);
    return std::make_unique<StripTokenStage>(strip);
}

} // namespace engine
