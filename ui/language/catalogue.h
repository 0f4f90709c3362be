// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QHash>
#include <QTranslator>

namespace ui {

/// The texts of one language, found by their English text. Qt asks it for every text of a tr(), for
/// its own texts on buttons and in menus, and ui::engineText() for the engine's.
///
/// A folder of JSON files holds them, each an object of English text: text. Where one English text
/// has several meanings, an object of meaning: text stands there instead, "" for all other uses:
/// "Right": {"": "Rechts", "correct": "Richtig"}.
class Catalogue : public QTranslator {
public:
    /// Reads all *.json files of a folder, in any order. Errors: NotFound for none, Io, CorruptFile
    /// naming the file and what is wrong, such as a text that two files translate.
    static engine::Result<std::unique_ptr<Catalogue>> read(const QString& folder);

    /// Null (which is the English text) for an unknown text.
    QString translate(const char* context,
                      const char* english,
                      const char* meaning = nullptr,
                      int count = -1) const override;

    bool isEmpty() const override { return m_texts.isEmpty(); }

    /// English text and meaning, with a tab between when there is a meaning.
    QList<QByteArray> keys() const { return m_texts.keys(); }

private:
    engine::Result<void> add(const QString& path);

    engine::Result<void> insert(const QString& path, const QByteArray& key, const QString& text);

    QHash<QByteArray, QString> m_texts; ///< by key
};

} // namespace ui
