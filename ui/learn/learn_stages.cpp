// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/learn_stage.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QCoreApplication>

namespace ui {

namespace {

QString stageText(const char* text) { return QCoreApplication::translate("LearnStage", text); }

/// The page of a stage whose view needs nothing but the context.
template <typename StageView> View* makeStage(const ViewContext& context) {
    return new StageView(context);
}

} // namespace

std::vector<LearnStage> learnStages() {
    return {
        {QStringLiteral("slow_motion"),
         stageText("Slow motion"),
         stageText("Walk through one round of an answer: how tokens are drafted, checked and kept"),
         IconName::Play,
         &makeStage<SlowMotionView>},
        {QStringLiteral("lens"),
         stageText("Lens"),
         stageText("See what the model would write if it stopped after each sublayer"),
         IconName::Search,
         &makeStage<LensView>},
        {QStringLiteral("lossless"),
         stageText("Lossless check"),
         stageText("Vanilla and a decoder answer the same question: is every token the same?"),
         IconName::Check,
         &makeStage<LosslessView>,
         false},
        {QStringLiteral("split_chat"),
         stageText("Split chat"),
         stageText("Two decoders answer the same message side by side; you keep one answer"),
         IconName::Chat,
         &makeStage<SplitView>,
         false},
    };
}

} // namespace ui
