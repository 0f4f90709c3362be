// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QList>
#include <QObject>
#include <QString>

namespace ui {

/// A text that the user keeps to use again. A plain value.
struct SavedPrompt {
    QString title;
    QString text;

    bool operator==(const SavedPrompt&) const = default;
};

/// The user's own prompts, by title, in one JSON file: {"format": "swift-studio-prompts",
/// "version": 1, "prompts": [{"title": "...", "text": "..."}]}. When a change returns, it is on the
/// disk or was not made. Thread: UI.
class PromptList : public QObject {
    Q_OBJECT

public:
    /// Reads the file. A file that cannot be read is renamed, and problem() says so.
    explicit PromptList(QString path, QObject* parent = nullptr);

    const QList<SavedPrompt>& prompts() const { return m_prompts; }

    /// One sentence; empty when the file was read or there is none.
    const QString& problem() const { return m_problem; }

    // Each returns one sentence if the disk refused, and then changes nothing.

    /// A title that is empty becomes the beginning of the text.
    QString add(SavedPrompt prompt);
    QString replace(const SavedPrompt& old, SavedPrompt by);
    QString remove(const SavedPrompt& prompt);

    static QString titleOf(const QString& text);

signals:
    void changed();

private:
    void read();
    QString keep(QList<SavedPrompt> prompts);

    QString m_path;
    QList<SavedPrompt> m_prompts;
    QString m_problem;
};

} // namespace ui
