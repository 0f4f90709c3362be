// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/draft_tree/draft_comb.h"

class QScrollArea;

namespace ui {

class LiveLabel;

/// Compact: for a low dock. Its rows are closer, and a sentence is shown only where there is no
/// draft to show.
enum class DraftTreeForm { Full, Compact };

/// Paints a comb; as high as its rows need.
class CombPicture : public QWidget {
    Q_OBJECT

public:
    explicit CombPicture(const Theme& theme,
                         DraftTreeForm form = DraftTreeForm::Full,
                         QWidget* parent = nullptr);

    void show(DraftComb comb);

    const DraftComb& comb() const { return m_comb; }

    QSize sizeHint() const override;

    /// As high as its rows, which scroll; never cut.
    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

    /// What is written below the draft: why it is not longer.
    QString endText() const;

    /// Rows outside the draft that have a box of their own; the others are counted in "+3".
    int shownSides() const { return m_shownSides; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    static constexpr int kEndHeight = 60; ///< of the text below the rows

    struct Columns {
        int depthX = 0;
        int choiceX = 0;
        int choiceWidth = 0;
        int alternativeX = 0;
        int right = 0;
    };

    enum class Look { Root, Accepted, Rejected, Pale };

    Columns columns() const;
    int rowTop(int row) const;
    int paintAlternatives(QPainter& painter, const CombRow& row, int top, const Columns& columns);
    void
    writeBesideK(QPainter& painter, QRect line, const Columns& columns, const QString& text) const;
    void paintRow(QPainter& painter, const CombRow& row, const Columns& columns);
    void paintBox(QPainter& painter, const QRect& place, const CombNode& node, Look look);
    void paintEnd(QPainter& painter, const Columns& columns);
    void paintSides(QPainter& painter, int row, const Columns& columns);
    void paintSide(QPainter& painter, const QRect& place, const QString& text);
    void paintSideLegend(QPainter& painter, const Columns& columns);
    const std::vector<CombSide>& sidesOf(int row) const;

    const Theme& m_theme;
    DraftTreeForm m_form;
    DraftComb m_comb;
    int m_shownSides = 0;
};

/// The last step's draft: first choices downwards, alternatives beside them, the accepted path
/// bold; below each row, paler, the rows outside the draft. If a token is selected, the step that
/// produced it.
class DraftTreeView : public View {
    Q_OBJECT

public:
    explicit DraftTreeView(const ViewContext& context,
                           DraftTreeForm form = DraftTreeForm::Full,
                           QWidget* parent = nullptr);

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    const CombPicture& picture() const { return *m_picture; }

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    void tell(const QString& sentence, bool isTree);
    void share();

    DraftTreeForm m_form;
    bool m_isTree = false; ///< there is one to show
    QScrollArea* m_scroll;
    CombPicture* m_picture;
    LiveLabel* m_sentence;
};

/// The step to show: that of the selected token, or without one the newest step of the chat's
/// newest answer with a draft or with other rows, or its last one; null if there is none.
struct ShownStep {
    const Answer* answer = nullptr;
    const engine::StepFinished* step = nullptr;
    int number = 0;      ///< from 1; counted as in the message, which may have been continued
    bool isGone = false; ///< a token is selected, and the steps of its answer are not kept

    /// Whether the pass that checked it had more rows than one.
    bool hasRows() const {
        return step != nullptr && (!step->draft.empty() || !step->sides.empty());
    }
};

ShownStep shownStep(const RunStore& store, const Selection& selection);

/// What a view says instead of a step that is gone.
QString goneStepText();

/// The text of the token before the step's first one; empty at the start of an answer.
QString textBefore(const Answer& answer, const engine::StepFinished& step);

} // namespace ui
