// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A small file, as it is to be written.
struct NamedFile {
    std::string name;
    std::string bytes;
};

/// The files of a model's folder that tell how texts become tokens and how answers are drawn; of a
/// GGUF file tokenizer.json and tokenizer_config.json, made from its vocabulary. Errors: those of
/// reading and of ggufTokenizerJson; NotFound if there is no tokenizer.
Result<std::vector<NamedFile>> tokenizerFiles(const ModelFiles& files);

/// Whether one of these files may have this name.
bool isTokenizerFile(std::string_view name);

} // namespace engine
