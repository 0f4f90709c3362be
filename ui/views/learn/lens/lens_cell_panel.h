// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/learn/lens/lens_model.h"

#include <QWidget>

#include <optional>

class QLabel;
class QPushButton;
class QTableWidget;

namespace ui {

/// A cell of the lens in words: the best five tokens there, and what the sublayer did to the token
/// that was written. Another token can be chosen to continue with it. Thread: UI.
class LensCellPanel : public QWidget {
    Q_OBJECT

public:
    LensCellPanel(const Theme& theme, const LensModel& model, QWidget* parent = nullptr);

    /// None: there is nothing to show.
    void showCell(std::optional<LensPlace> place);

    /// Says why nothing can be continued now; empty = it can.
    void setObstacle(const QString& sentence);

    QTableWidget& best() { return *m_best; }

    QPushButton& branchButton() { return *m_branch; }

    QString factsText() const;

signals:
    /// To continue the answer with this token instead of the one at `token`.
    void branchAsked(int token, const engine::TokenChoice& choice);

private:
    void restyle();
    void fillBest();
    void showChoice();
    std::optional<engine::TokenChoice> choice() const;

    const Theme& m_theme;
    const LensModel& m_model;
    std::optional<LensPlace> m_place;
    QString m_obstacle;
    QLabel* m_title;
    QLabel* m_subtitle;
    QTableWidget* m_best;
    QPushButton* m_branch;
    QLabel* m_facts;
};

} // namespace ui
