// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/tr.h"
#include "ui/learn/learn_stage.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

namespace ui {

namespace {

/// The page of a stage whose view needs nothing but the context.
template <typename StageView> View* makeStage(const ViewContext& context) {
    return new StageView(context);
}

} // namespace

std::vector<LearnStage> learnStages() {
    return {
        {QStringLiteral("slow_motion"),
         tr("Slow motion"),
         tr("Walk through one round of an answer: how tokens are drafted, checked and kept"),
         IconName::Play,
         &makeStage<SlowMotionView>},
        {QStringLiteral("lens"),
         tr("Lens"),
         tr("See what the model would write if it stopped after each sublayer"),
         IconName::Search,
         &makeStage<LensView>},
        {QStringLiteral("lossless"),
         tr("Lossless check"),
         tr("Vanilla and a decoder answer the same question: is every token the same?"),
         IconName::Check,
         &makeStage<LosslessView>,
         false},
        {QStringLiteral("split_chat"),
         tr("Split chat"),
         tr("Two decoders answer the same message side by side; you keep one answer"),
         IconName::Chat,
         &makeStage<SplitView>,
         false},
    };
}

} // namespace ui
