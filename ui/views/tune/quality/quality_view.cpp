// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/quality/quality_view.h"

#include "ui/shell/figure_text.h"

namespace ui {

namespace {

/// With all digits, or as they are read.
FigureTable tableOf(const TuningQuality& quality, bool isRead) {
    const auto number = [isRead](double value) {
        return isRead ? decimalText(value) : numberCell(value);
    };
    const auto share = [isRead](double value) {
        return isRead ? shareText(value) : numberCell(value);
    };
    FigureTable table;
    table.header << QualityView::tr("measure") << QualityView::tr("model")
                 << QualityView::tr("copy") << QualityView::tr("limit");
    table.rows = {{QualityView::tr("perplexity"),
                   number(quality.perplexityBefore),
                   number(quality.perplexity),
                   isRead ? QualityView::tr("at most %1").arg(number(quality.mostPerplexity))
                          : number(quality.mostPerplexity)},
                  {QualityView::tr("equal most probable tokens"),
                   share(1.0),
                   share(quality.agreement),
                   isRead ? QualityView::tr("at least %1").arg(share(quality.leastAgreement))
                          : share(quality.leastAgreement)},
                  {QualityView::tr("tokens read"),
                   isRead ? numberText(quality.tokens) : QString::number(quality.tokens),
                   isRead ? numberText(quality.tokens) : QString::number(quality.tokens),
                   {}}};
    return table;
}

} // namespace

QualityView::QualityView(const ViewContext& context, const TuningSession& session, QWidget* parent)
    : TuneTableView(context,
                    session,
                    {QStringLiteral("tune_quality"),
                     tr("Quality"),
                     tr("When the training is over, the model and its copy read the same answers, "
                        "which were not trained on. Perplexity is how surprised each is by a "
                        "token, on average: 1 is not at all. If the copy's has risen by more than "
                        "3 %, or fewer than nine of ten most probable tokens are the same, its "
                        "folder is called -rejected."),
                     {}},
                    {150, 130},
                    parent) {
    setNote(tr("At the end, the model and its copy read answers that were not trained on: "
               "the copy must be about as good."));
}

void QualityView::showRun() {
    const TuningQuality* quality =
        run().done && run().done->quality ? &*run().done->quality : nullptr;
    if (quality == nullptr)
        showTable({}, {});
    else
        showTable(tableOf(*quality, false), tableOf(*quality, true));
    setSubtitle(quality == nullptr ? QString() : quality->isKept ? tr("passed") : tr("not passed"));
}

} // namespace ui
