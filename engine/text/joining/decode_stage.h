// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/joining/token_decoder.h"

#include <memory>
#include <string>
#include <string_view>

namespace engine {

/// One step of a TokenDecoder at work: takes texts in order, hands on what is certain, and holds
/// back the rest until more comes or finish() is called.
class DecodeStage {
public:
    virtual ~DecodeStage() = default;

    /// `next` takes what this stage hands on; null: it goes to the output.
    void connect(DecodeStage* next) { m_next = next; }

    virtual void push(std::string_view text, std::string& out) = 0;

    /// Hands on what was held back; the stages are finished from the first to the last.
    virtual void finish(std::string& /*out*/) {}

protected:
    void handOn(std::string_view text, std::string& out) {
        if (m_next != nullptr)
            m_next->push(text, out);
        else
            out.append(text);
    }

private:
    DecodeStage* m_next = nullptr;
};

/// The stage for a step, which must outlive it; `isFused`: what comes in are parts of one text.
std::unique_ptr<DecodeStage> makeDecodeStage(const TokenDecoder::Step& step, bool isFused);

/// The text with all places of `pattern` (not empty) replaced, from left to right.
std::string replaceAll(std::string_view text, std::string_view pattern, std::string_view content);

} // namespace engine
