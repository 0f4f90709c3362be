// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <vector>

namespace test_support {

/// Token i is the byte i, of ASCII; 0 ends an answer.
class ByteTokenizer final : public engine::Tokenizer {
public:
    engine::Result<std::vector<engine::TokenId>> encode(std::string_view text,
                                                        bool /*addSpecial*/) const override {
        std::vector<engine::TokenId> ids;
        for (const char letter : text)
            ids.push_back(static_cast<unsigned char>(letter) % 128);
        return ids;
    }

    std::unique_ptr<engine::TokenDecoding> startDecoding(bool /*skipSpecial*/) const override {
        return std::make_unique<Decoding>();
    }

    int vocabSize() const override { return 128; }

    std::string tokenText(engine::TokenId id) const override {
        return id == 0 ? "<end>" : tokenBytes(id);
    }

    std::string tokenBytes(engine::TokenId id) const override {
        return id == 0 ? std::string() : std::string(1, static_cast<char>(id));
    }

    bool isSpecial(engine::TokenId id) const override { return id == 0; }

    engine::TokenId bosId() const override { return engine::kNoToken; }

    std::vector<engine::TokenId> eosIds() const override { return {0}; }

    engine::TokenId findToken(std::string_view) const override { return engine::kNoToken; }

    std::string description() const override { return "bytes"; }

private:
    class Decoding final : public engine::TokenDecoding {
    public:
        engine::Result<void> push(engine::TokenId id, std::string& text) override {
            if (id != 0)
                text += static_cast<char>(id);
            return {};
        }

        engine::Result<void> finish(std::string&) override { return {}; }
    };
};

} // namespace test_support
