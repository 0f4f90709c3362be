// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/search_offer/ratio_in_use.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <cmath>

namespace ui {

bool RatioInUse::isOfSublayers() const { return std::abs(used * sublayers - skipped) < 1.0; }

QString RatioInUse::text() const {
    const QString counts = (isOfSublayers() ? tr("%1 of %2 sublayers")
                                            : tr("%1 of %2 sublayers, as r counts their bytes"))
                               .arg(QString::number(skipped), QString::number(sublayers));
    if (isAsAsked())
        return tr("r = %1: %2 skipped").arg(shareText(used), counts);
    return tr("r asked for %1, in use %2: %3. %4")
        .arg(shareText(asked), shareText(used), counts, reason);
}

std::optional<RatioInUse> ratioInUse(const RunStore& store) {
    const BestSet* set = store.search().used();
    if (set == nullptr || set->change.askedRatio <= 0.0)
        return std::nullopt;
    const engine::PlanOutline& plan = set->change.plan;
    const engine::SkipSet leftOut = engine::leftOutBy(plan);
    const auto locked = static_cast<int>(store.lockedLayers(plan.layerCount).size());
    return RatioInUse{set->change.askedRatio,
                      set->change.skipRatio,
                      static_cast<int>(leftOut.attention.size() + leftOut.mlp.size()),
                      2 * (plan.layerCount - locked),
                      QString::fromStdString(set->change.ratioReason)};
}

QString otherRatioText(const RunStore& store) {
    const auto ratio = ratioInUse(store);
    return ratio && !ratio->isAsAsked() ? ratio->text() : QString();
}

QString ofTask(const SearchLog& search, const QString& subtitle) {
    if (search.taskCount() < 2)
        return subtitle;
    return tr("%1 \u00B7 task %2").arg(subtitle, QString::fromStdString(search.task()));
}

} // namespace ui
