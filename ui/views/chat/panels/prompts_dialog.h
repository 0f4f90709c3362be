// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/prompt_list.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <optional>

class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace ui {

/// The user's own prompts: insert, write, change, delete one, and undo the deletion. What was
/// written is saved when the user turns to another prompt or closes the dialog.
class PromptsDialog : public QDialog {
    Q_OBJECT

public:
    /// `prompts` outlives it.
    PromptsDialog(const Theme& theme, PromptList& prompts, QWidget* parent = nullptr);

    /// Shows this prompt for editing.
    void edit(const SavedPrompt& prompt);

signals:
    void insertAsked(const QString& text);

protected:
    void done(int result) override;

private:
    void showList();
    void choose();
    void showPrompt();
    void showButtons();
    void begin();
    void clearPrompt();
    bool keepEdits();
    bool save();
    void remove();
    void undo();
    bool tell(const QString& problem);
    SavedPrompt written() const;

    PromptList& m_prompts;
    QListWidget* m_list;
    QLineEdit* m_title;
    QPlainTextEdit* m_text;
    QLabel* m_note;
    QPushButton* m_undo;
    QPushButton* m_insert;
    QPushButton* m_save;
    QPushButton* m_delete;
    std::optional<SavedPrompt> m_shown;   ///< none: a new one is written
    std::optional<SavedPrompt> m_deleted; ///< that undo() restores
    bool m_mayLoseEdits = false;          ///< the user knows that the disk refuses them
};

} // namespace ui
