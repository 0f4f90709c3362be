// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/mask_view.h"

#include "ui/shell/widgets/lean_table.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QHeaderView>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

ViewInfo maskInfo() {
    return {QStringLiteral("verification_mask"),
            MaskView::tr("Verification mask"),
            MaskView::tr("The full model checks a whole draft tree in one pass. Each row is a "
                         "token of that pass, and a mark says which others it may look at: its own "
                         "ancestors and itself, never a sibling (paper: figure 5). Rows that are "
                         "not part of the draft come last and are paler."),
            Topic::Answers | Topic::Selection,
            EngineBridge::kFiguresMs};
}

QString noDraftYetText() {
    return MaskView::tr("With the first draft, this shows which tokens each token may look at.");
}

} // namespace

MaskView::MaskView(const ViewContext& context, QWidget* parent)
    : View(context, maskInfo(), parent)
    , m_model(new MaskModel(context.theme, this))
    , m_note(new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Wrapped, this))
    , m_table(new LeanTable(context.theme, this)) {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(m_note);
    rows->addWidget(m_table, 1);       // a tab stop even when empty
    m_note->setText(noDraftYetText()); // measured before it has margins, which would make it higher
    m_table->setProperty("form", "mask"); // two digits fit into a column as narrow as its cells
    m_table->setModel(m_model);
    m_table->setItemDelegate(new MaskDelegate(theme(), *m_model, this));
    m_table->setAccessibleName(tr("Verification mask: rows see columns"));
    m_table->verticalHeader()->setTextElideMode(Qt::ElideRight);
    connect(&context.theme, &Theme::changed, this, &MaskView::restyle);
    restyle();
    refreshView({});
}

void MaskView::refreshView(Topics) {
    const ShownStep shown = shownStep(store(), selection());
    m_note->setVisible(!shown.hasRows());
    if (!shown.hasRows()) {
        m_note->setText(shown.isGone ? goneStepText()
                        : shown.step != nullptr
                            ? tr("A plain step: one token by the full model, nothing was drafted.")
                            : noDraftYetText());
        m_model->show(nullptr, {});
        setSubtitle({});
        return;
    }
    m_model->show(shown.step, textBefore(*shown.answer, *shown.step));
    setSubtitle(tr("step %1").arg(shown.number));
}

FigureTable MaskView::table() const {
    FigureTable table;
    table.header << tr("Row");
    for (int column = 0; column < m_model->columnCount(); ++column)
        table.header << m_model->headerData(column, Qt::Vertical, Qt::DisplayRole).toString();
    for (int row = 0; row < m_model->rowCount(); ++row) {
        QStringList cells = {m_model->headerData(row, Qt::Vertical, Qt::DisplayRole).toString()};
        for (int column = 0; column < m_model->columnCount(); ++column)
            cells << (m_model->data(m_model->index(row, column)).toString().isEmpty()
                          ? QString()
                          : QStringLiteral("1"));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

void MaskView::restyle() {
    const int side = theme().scaled(12);
    m_note->setContentsMargins(side, theme().scaled(8), side, theme().scaled(8));
    m_table->setFont(theme().font(TextRole::Figure));
    m_table->horizontalHeader()->setMinimumSectionSize(theme().scaled(20));
    m_table->horizontalHeader()->setDefaultSectionSize(theme().scaled(24));
    m_table->verticalHeader()->setDefaultSectionSize(theme().scaled(22));
    m_table->verticalHeader()->setMinimumSectionSize(theme().scaled(18));
    m_table->verticalHeader()->setMaximumWidth(theme().scaled(110));
    m_table->viewport()->update();
}

} // namespace ui
