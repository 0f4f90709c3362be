// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/models/tiny_folder_model.h"

#include <QSettings>
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

/// One whose answers are not over before a test stops them, on a quick machine either: with the
/// decoder vanilla (others are quick where a text repeats itself) and allowLongAnswers() they fill
/// a long context.
inline void writeSlowLetterModel(const QString& folder) {
    engine::ModelConfig config = letterConfig(8);
    config.hiddenSize = 288;
    config.headDim = 72;
    config.mlpSize = 1152;
    config.contextLength = 1 << 14;
    writeLetterModel(folder, 3, config);
}

/// In the window whose settings these are.
inline void allowLongAnswers(const QString& settingsPath) {
    QSettings(settingsPath, QSettings::IniFormat)
        .setValue(QStringLiteral("answers/everywhere"), QStringLiteral("{\"max_tokens\":1000000}"));
}

} // namespace support
