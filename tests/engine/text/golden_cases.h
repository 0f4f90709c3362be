// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_files.h"
#include "engine/text/token_stream.h"
#include "engine/text/tokenizer.h"

#include <QTest>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// The golden tokenizer cases of ../shared/golden, one JSON object per line.
namespace golden {

struct Case {
    std::string tag;
    std::string text;
    std::vector<engine::TokenId> ids;
    std::vector<std::string> pieces; ///< may be left out
    bool hasPieces = false;
    std::string decoded;
    std::string decodedSkip;
};

inline std::filesystem::path folder() {
    return std::filesystem::path(SWIFT_STUDIO_SHARED_DIR) / "golden";
}

inline Case parseCase(const std::string& line) {
    const auto document = engine::JsonDocument::parse(line, "cases.jsonl");
    if (!document)
        qFatal("%s", document.error().message.c_str());
    const engine::JsonValue root = document.value().root();
    Case result;
    result.tag = root["tag"].asString().value_or("");
    result.text = root["text"].asString().value_or("");
    for (const engine::JsonValue& id : root["ids"].items())
        result.ids.push_back(static_cast<engine::TokenId>(id.asInteger().value_or(-1)));
    result.hasPieces = root.contains("pieces");
    for (const engine::JsonValue& piece : root["pieces"].items())
        result.pieces.emplace_back(piece.asString().value_or(""));
    result.decoded = root["decoded"].asString().value_or(result.text);
    result.decodedSkip = root["decoded_skip"].asString().value_or(result.decoded);
    return result;
}

inline std::vector<Case> readCases(const std::filesystem::path& path) {
    std::ifstream stream(path);
    std::vector<Case> cases;
    for (std::string line; std::getline(stream, line);)
        cases.push_back(parseCase(line));
    return cases;
}

/// The tokenizer of a model on disk; ends the program with the message when there is none.
inline std::unique_ptr<engine::Tokenizer> load(const std::filesystem::path& path) {
    auto files = engine::ModelFiles::open(path);
    if (!files)
        qFatal("%s", files.error().message.c_str());
    auto tokenizer = engine::loadTokenizer(files.value());
    if (!tokenizer)
        qFatal("%s", tokenizer.error().message.c_str());
    return std::move(tokenizer).value();
}

/// All pieces of a stream joined.
inline std::string streamed(const engine::Tokenizer& tokenizer,
                            const std::vector<engine::TokenId>& ids,
                            bool skipSpecial) {
    engine::TokenStream stream(tokenizer, skipSpecial);
    std::string text;
    for (const engine::TokenId id : ids)
        text += stream.push(id).value();
    return text + stream.finish().value();
}

inline std::string spelled(const std::vector<engine::TokenId>& ids) {
    std::string text;
    for (const engine::TokenId id : ids)
        text += std::to_string(id) + " ";
    return text;
}

} // namespace golden
