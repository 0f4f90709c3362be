// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/quality/quality_view.h"

#include "ui/plots/figure_table.h"
#include "ui/shell/figure_text.h"
#include "ui/views/experiments/page/plain_table.h"

#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>

namespace ui {

namespace {

// What the command asks of a copy: see app/README.md.
constexpr double kMostPerplexity = 1.03;
constexpr double kLeastAgreement = 0.90;

/// With all digits, or as they are read.
FigureTable tableOf(const TuningQuality& quality, bool isRead) {
    const auto number = [isRead](double value) {
        return isRead ? decimalText(value) : numberCell(value);
    };
    const auto share = [isRead](double value) {
        return isRead ? shareText(value) : numberCell(value);
    };
    const double most = quality.perplexityBefore * kMostPerplexity;
    FigureTable table;
    table.header << QualityView::tr("measure") << QualityView::tr("model")
                 << QualityView::tr("copy") << QualityView::tr("limit");
    table.rows = {{QualityView::tr("perplexity"),
                   number(quality.perplexityBefore),
                   number(quality.perplexity),
                   isRead ? QualityView::tr("at most %1").arg(number(most)) : number(most)},
                  {QualityView::tr("equal most probable tokens"),
                   share(1.0),
                   share(quality.agreement),
                   isRead ? QualityView::tr("at least %1").arg(share(kLeastAgreement))
                          : share(kLeastAgreement)},
                  {QualityView::tr("tokens read"),
                   isRead ? numberText(quality.tokens) : QString::number(quality.tokens),
                   isRead ? numberText(quality.tokens) : QString::number(quality.tokens),
                   {}}};
    return table;
}

} // namespace

QualityView::QualityView(const ViewContext& context, const TuningSession& session, QWidget* parent)
    : TuneView(context,
               session,
               {QStringLiteral("tune_quality"),
                tr("Quality"),
                tr("When the training is over, the model and its copy read the same answers, which "
                   "were not trained on. Perplexity is how surprised each is by a token, on "
                   "average: 1 is not at all. If the copy's has risen by more than 3 %, or fewer "
                   "than nine of ten most probable tokens are the same, its folder is called "
                   "-rejected."),
                {}},
               parent)
    , m_model(new FigureTableModel(this))
    , m_table(new PlainTable(theme(), TextRole::Figure))
    , m_note(plainLabel(this, true)) {
    m_table->setModel(m_model);
    m_table->setAccessibleName(info().title);
    m_note->setAlignment(Qt::AlignCenter);
    m_note->setProperty("tone", QStringLiteral("small"));
    m_note->setText(tr("At the end, the model and its copy read answers that were not trained on: "
                       "the copy must be about as good."));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    column->addWidget(m_note, 1);
    m_table->hide();
}

void QualityView::showRun() {
    const TuningQuality* quality =
        run().done && run().done->quality ? &*run().done->quality : nullptr;
    m_shown = quality != nullptr ? tableOf(*quality, false) : FigureTable();
    m_model->setTable(quality != nullptr ? tableOf(*quality, true) : FigureTable());
    m_table->setVisible(quality != nullptr);
    m_note->setVisible(quality == nullptr);
    fitColumns();
    setSubtitle(quality == nullptr ? QString() : quality->isKept ? tr("passed") : tr("not passed"));
}

/// The names take what the figures leave; where that is too little, the table is scrolled.
void QualityView::fitColumns() {
    QHeaderView& header = *m_table->horizontalHeader();
    header.setSectionResizeMode(QHeaderView::ResizeToContents);
    if (m_model->columnCount() > 0 && header.length() < m_table->viewport()->width())
        header.setSectionResizeMode(0, QHeaderView::Stretch);
}

void QualityView::resizeEvent(QResizeEvent* event) {
    TuneView::resizeEvent(event);
    fitColumns();
}

QSize QualityView::sizeHint() const { return {theme().scaled(470), theme().scaled(150)}; }

QSize QualityView::minimumSizeHint() const { return {theme().scaled(250), theme().scaled(130)}; }

} // namespace ui
