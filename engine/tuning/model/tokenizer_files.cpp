// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/tokenizer_files.h"

#include "engine/loading/files/byte_reader.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/text/bpe/gguf/gguf_tokenizer_json.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace engine {

namespace {

constexpr std::uint64_t kMostBytes = 256'000'000;

constexpr std::array<std::string_view, 11> kNames = {"tokenizer.json",
                                                     "tokenizer.model",
                                                     "tokenizer_config.json",
                                                     "special_tokens_map.json",
                                                     "added_tokens.json",
                                                     "vocab.json",
                                                     "merges.txt",
                                                     "chat_template.jinja",
                                                     "chat_template.json",
                                                     "generation_config.json",
                                                     "LICENSE"};

} // namespace

bool isTokenizerFile(std::string_view name) {
    return std::ranges::find(kNames, name) != kNames.end();
}

Result<std::vector<NamedFile>> tokenizerFiles(const ModelFiles& files) {
    if (files.gguf() != nullptr) {
        ENGINE_TRY(TokenizerJson made, ggufTokenizerJson(*files.gguf()));
        return std::vector<NamedFile>{{"tokenizer.json", std::move(made.tokenizer)},
                                      {"tokenizer_config.json", std::move(made.config)}};
    }
    if (!files.tokenizerJsonPath() && !files.tokenizerModelPath())
        return Error{ErrorCode::NotFound,
                     fmt::format("{} has no tokenizer.", files.path().string()),
                     "Add tokenizer.json or tokenizer.model."};
    std::vector<NamedFile> found;
    for (const std::string_view name : kNames) {
        const std::filesystem::path path = files.path() / name;
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored))
            continue;
        ENGINE_TRY(std::string bytes, readTextFile(path, kMostBytes));
        found.push_back({std::string(name), std::move(bytes)});
    }
    return found;
}

} // namespace engine
