// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/tiny_folder_model.h"

#include <QString>

#include <algorithm>

namespace support {

/// A model that can chat in the letters "a" to "e": 6 layers, of which 2 and 3 add nothing, so that
/// a search can find a set without a miss. Files as programs open them.
inline void writeLetterModel(const QString& folder,
                             unsigned seed,
                             engine::ModelConfig config = letterConfig(6)) {
    config.contextLength = std::max(config.contextLength, 4096);
    auto weights = randomWeights(config, seed);
    silenceLayer(weights, 2);
    silenceLayer(weights, 3);
    const std::filesystem::path path = folder.toStdString();
    writeFolderModel(path, config, weights);
    writeText(path / "chat_template.jinja", "{% for m in messages %}{{ m.content }}\n{% endfor %}");
}

} // namespace support
