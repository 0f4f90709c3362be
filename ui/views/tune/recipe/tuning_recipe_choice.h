// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/tuning/tuning_choice.h"

#include <QWidget>

#include <vector>

class QLabel;
class QRadioButton;

namespace ui {

/// What is to be trained: the recipes below each other, each with a sentence. One tab stop; the
/// arrow keys choose. Thread: UI.
class TuningRecipeChoice : public QWidget {
    Q_OBJECT

public:
    explicit TuningRecipeChoice(const Theme& theme, QWidget* parent = nullptr);

    TuningRecipe recipe() const;

    /// Without chosen().
    void setRecipe(TuningRecipe recipe);

    QRadioButton& button(TuningRecipe recipe) const;

signals:
    void chosen(ui::TuningRecipe recipe);

private:
    void restyle();

    const Theme& m_theme;
    std::vector<QRadioButton*> m_buttons; ///< [TuningRecipe]
    std::vector<QLabel*> m_notes;         ///< likewise
};

} // namespace ui
