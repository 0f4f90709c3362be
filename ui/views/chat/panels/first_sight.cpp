// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/first_sight.h"

#include "ui/shell/bars/banner.h"

#include <QSettings>
#include <QVBoxLayout>

namespace ui {

namespace {

const QString kSeenKey = QStringLiteral("first_sight/seen");

/// Pixels at 100 % of a window in which the sentence leaves room for the answer that it explains.
constexpr int kRoomForSentence = 560;

/// A smaller gain or loss is not worth a number.
constexpr double kGainWorthTelling = 1.03;

/// What the colours of the answer mean.
QString answerSentence(const RunStore& run) {
    const SpanFigures answer = run.speed().answer();
    if (answer.isEmpty())
        return FirstSight::tr("An answer shows which of its words were guessed cheaply and then "
                              "confirmed by the whole model, and which the model wrote itself.");
    if (!answer.isDrafting())
        return FirstSight::tr("The whole model wrote every word of this answer itself; nothing was "
                              "guessed.");
    const auto speedup = answer.speedup();
    if (answer.sums.accepted > 0 && speedup && *speedup > kGainWorthTelling)
        return FirstSight::tr("The underlined green words were guessed cheaply and confirmed by "
                              "the whole model several at a time, so this answer came %1 times as "
                              "fast, with not a word changed.")
            .arg(*speedup, 0, 'f', 2);
    QString sentence =
        answer.sums.accepted > 0
            ? FirstSight::tr("The underlined green words were guessed cheaply and confirmed by the "
                             "whole model several at a time, with not a word changed.")
            : FirstSight::tr("The whole model confirmed none of the words that were guessed, and "
                             "wrote every word of this answer itself.");
    if (speedup && *speedup < 1.0 / kGainWorthTelling)
        sentence += QLatin1Char(' ') +
                    FirstSight::tr("Guessing cost more than it saved: this answer came %1 times as "
                                   "fast as without it.")
                        .arg(*speedup, 0, 'f', 2);
    return sentence;
}

} // namespace

FirstSight::FirstSight(const Theme& theme,
                       const RunStore& run,
                       QSettings& settings,
                       QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_run(run)
    , m_settings(settings) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    hide();
}

void FirstSight::apply(const engine::EngineEvent& event) {
    const auto* finished = event.as<engine::PromptFinished>();
    const bool isOfChat = finished != nullptr && finished->promptId < kFirstHiddenPrompt &&
                          finished->reason != engine::FinishReason::Cancelled;
    if (!isOfChat)
        return;
    if (m_banner != nullptr)
        m_banner->setSentence(answerSentence(m_run)); // "this answer" is the one that is seen now
    else if (!m_settings.value(kSeenKey, false).toBool())
        tell();
}

void FirstSight::showAgain() {
    m_settings.remove(kSeenKey);
    emit originAsked();
    delete m_banner;
    tell();
}

QString FirstSight::text() const {
    return m_banner == nullptr
               ? QString()
               : m_banner->notice().headline + QLatin1Char(' ') + m_banner->notice().sentence;
}

void FirstSight::tell() {
    Notice notice;
    notice.kind = Notice::Kind::Info;
    notice.id = QStringLiteral("first_sight");
    notice.isBrief = window()->height() < m_theme.scaled(kRoomForSentence);
    notice.headline = notice.isBrief ? tr("How this answer was made") : tr("What you see:");
    notice.sentence = answerSentence(m_run);
    notice.choices.push_back({tr("Watch one round"),
                              [this] {
                                  m_settings.setValue(kSeenKey, true);
                                  emit roundAsked();
                              },
                              true});
    m_banner = new Banner(m_theme, notice, this);
    layout()->addWidget(m_banner);
    connect(m_banner, &Banner::closed, this, &FirstSight::close);
    show();
}

void FirstSight::close() {
    m_settings.setValue(kSeenKey, true);
    m_banner->deleteLater();
    m_banner.clear();
    hide();
}

} // namespace ui
