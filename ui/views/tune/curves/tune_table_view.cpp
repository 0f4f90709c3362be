// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/curves/tune_table_view.h"

#include "ui/views/tune/curves/score_table.h"

#include <QLabel>
#include <QVBoxLayout>

#include <utility>

namespace ui {

TuneTableView::TuneTableView(const ViewContext& context,
                             const TuningSession& session,
                             const ViewInfo& info,
                             Heights heights,
                             QWidget* parent)
    : TuneView(context, session, info, parent)
    , m_heights(heights)
    , m_table(new ScoreTable(theme(), info.title))
    , m_note(plainLabel(this, true)) {
    m_note->setAlignment(Qt::AlignCenter);
    m_note->setProperty("tone", QStringLiteral("small"));
    m_note->setMargin(theme().scaled(12));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    column->addWidget(m_note, 1);
    m_table->hide();
}

void TuneTableView::setNote(const QString& note) { m_note->setText(note); }

void TuneTableView::showTable(FigureTable whole, FigureTable read) {
    m_whole = std::move(whole);
    m_table->setTable(std::move(read));
    m_table->setVisible(!m_whole.rows.empty());
    m_note->setVisible(m_whole.rows.empty());
}

QSize TuneTableView::sizeHint() const {
    return {theme().scaled(470), theme().scaled(m_heights.usual)};
}

QSize TuneTableView::minimumSizeHint() const {
    return {theme().scaled(250), theme().scaled(m_heights.least)};
}

} // namespace ui
