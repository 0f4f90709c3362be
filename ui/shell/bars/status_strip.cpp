// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/status_strip.h"

#include "ui/bridge/links/playback.h"
#include "ui/shell/bars/prompt_progress.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/badge.h"
#include "ui/theme/tip_text.h"

#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLocale>
#include <QPainter>
#include <QToolButton>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// How often the system is asked about memory, at most.
constexpr int kMemoryMs = 1000;

/// How often the length and size of a recording are updated.
constexpr int kRecordingMs = 1000;

LiveLabel::Run strong(const QString& figure) { return {figure, true}; }

/// The sentence with the highlighted figure in place of its %1.
std::vector<LiveLabel::Run> around(const QString& sentence, const QString& figure) {
    const auto place = sentence.indexOf(QLatin1String("%1"));
    std::vector<LiveLabel::Run> runs;
    if (place > 0)
        runs.push_back({sentence.left(place)});
    runs.push_back(strong(figure));
    runs.push_back({sentence.mid(place + 2)});
    return runs;
}

} // namespace

QString phaseText(DecoderPhase phase) {
    switch (phase) {
    case DecoderPhase::Accumulate:
        return StatusStrip::tr("accumulate");
    case DecoderPhase::Optimise:
        return StatusStrip::tr("optimise");
    case DecoderPhase::Accelerate:
        return StatusStrip::tr("accelerate");
    case DecoderPhase::Plain:
        break;
    }
    return StatusStrip::tr("plain");
}

std::optional<MemoryInUse> memoryInUse() {
    QFile statm(QStringLiteral("/proc/self/statm"));
    if (!statm.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QList<QByteArray> parts = statm.readAll().split(' ');
    const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
    if (parts.size() < 2)
        return std::nullopt;
    return MemoryInUse{parts[1].toDouble() * page,
                       static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page};
}

StatusStrip::StatusStrip(const Theme& theme,
                         const RunStore& store,
                         EngineBridge& bridge,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_store(store)
    , m_bridge(bridge)
    , m_row(new QHBoxLayout(this))
    , m_model(addPart(tr("Model"), LiveLabel::Fit::WholeOrCut))
    , m_device(addPart(tr("Device"), LiveLabel::Fit::WholeOrCut))
    , m_phase(addPart(tr("Phase")))
    , m_recording(addPart(tr("Length and size of the recording")))
    , m_replayBadge(new Badge(theme, tr("replay"), Badge::Tone::Current, this))
    , m_replay(addPart(tr("Position in the recording")))
    , m_tokens(addPart(tr("Tokens per second")))
    , m_speedup(addPart(tr("Speedup")))
    , m_memory(addPart(tr("Memory")))
    , m_pace(addPart(tr("Update rate of the views")))
    , m_note(addPart(tr("Latest notice"), LiveLabel::Fit::Cut))
    , m_stopRecording(new QToolButton(this))
    , m_work(new WorkLink(theme, this)) {
    m_stopRecording->setText(tr("Stop"));
    m_stopRecording->setAccessibleName(tr("Stop recording"));
    m_stopRecording->setToolTip(m_stopRecording->accessibleName());
    connect(
        m_stopRecording, &QToolButton::clicked, this, [this] { m_bridge.send(StopRecording{}); });
    m_row->addWidget(m_stopRecording, 0, Qt::AlignVCenter);
    m_row->insertWidget(m_row->indexOf(m_replay), m_replayBadge, 0, Qt::AlignVCenter);
    m_row->insertWidget(m_row->indexOf(m_memory), m_work);
    m_note->setAlignedRight(true);
    m_row->setStretchFactor(m_note, 1);
    m_bridge.add(*this,
                 Topic::Model | Topic::Loading | Topic::Decoder | Topic::Answers | Topic::Search |
                     Topic::Speed | Topic::Recording | Topic::Notes);
    connect(&bridge, &EngineBridge::pictureIntervalChanged, this, [this] { refresh({}); });
    m_recordingTimer.setInterval(kRecordingMs);
    connect(&m_recordingTimer, &QTimer::timeout, this, &StatusStrip::showRecording);
    if (bridge.isReplay())
        connect(&bridge, &EngineBridge::tickFinished, this, &StatusStrip::showReplay);
    connect(&theme, &Theme::changed, this, &StatusStrip::restyle);
    restyle();
    refresh({});
}

StatusStrip::~StatusStrip() { m_bridge.remove(*this); }

LiveLabel* StatusStrip::addPart(const QString& name, LiveLabel::Fit fit) {
    auto* label = new LiveLabel(m_theme, TextRole::Small, &Colours::muted, fit, this);
    label->setAccessibleName(name);
    label->setToolTip(name);
    m_row->addWidget(label);
    m_parts.push_back(label);
    return label;
}

void StatusStrip::refresh(Topics changed) {
    if (changed & (Topic::Model | Topic::Loading))
        m_memoryClock.invalidate();
    showModel();
    if (m_store.answers().isRunning())
        m_phase->setRuns({{QStringLiteral("\u25A0 "), false, &Colours::success},
                          strong(promptProgressText(m_store.answers().latest()).isEmpty()
                                     ? phaseText(m_store.phase())
                                     : tr("reading the prompt"))});
    else
        showPause();
    m_phase->setVisible(m_store.model() != nullptr);
    showRecording();
    showReplay();
    showSpeed();
    showMemory();
    ageNote(changed);
    showNote();
    const int interval = m_bridge.pictureInterval();
    m_pace->setText(interval > EngineBridge::kTickMs
                        ? tr("Views update %1 times a second").arg(1000 / interval)
                        : QString());
    giveWay();
}

/// Whole figures are shown, as many as there is room for.
void StatusStrip::giveWay() {
    const std::array giving{m_memory, m_pace, m_device};
    const auto isGiving = [&](const QWidget* part) { return std::ranges::count(giving, part) > 0; };
    const QMargins ends = m_row->contentsMargins();
    int needed = ends.left() + ends.right();
    const auto roomOf = [&](const QWidget* part) {
        const int least = part == m_model ? std::min(part->sizeHint().width(), m_theme.scaled(160))
                                          : part->minimumSizeHint().width();
        return least + m_row->spacing();
    };
    for (int i = 0; i < m_row->count(); ++i) {
        const QWidget* part = m_row->itemAt(i)->widget();
        const bool isShown = isGiving(part) ? !static_cast<const LiveLabel*>(part)->text().isEmpty()
                                            : !part->isHidden();
        needed += isShown ? roomOf(part) : 0;
    }
    for (LiveLabel* part : giving) {
        const bool isLeftOut = needed > width() && !part->text().isEmpty();
        needed -= isLeftOut ? roomOf(part) : 0;
        const bool isShown = !isLeftOut && !part->text().isEmpty();
        if (isShown == part->isHidden())
            update(); // the line before it, too
        part->setVisible(isShown);
    }
    // The work's title has what is left; the note has the rest.
    const int least = m_work->minimumSizeHint().width();
    m_work->setFixedWidth(
        std::clamp(least + width() - needed, least, std::max(least, m_work->sizeHint().width())));
}

/// Behind an answer a decoder may still search for a skip set.
void StatusStrip::showPause() {
    const SearchLog& search = m_store.search();
    const qint64 tried = search.countedTrials();
    const bool isSearching =
        m_store.phase() == DecoderPhase::Optimise && search.foundBeside() != nullptr;
    if (!isSearching) {
        m_phase->setText(tr("ready"));
        return;
    }
    m_phase->setRuns(
        {{QStringLiteral("\u25A0 "), false, &Colours::success},
         strong(tr("ready")),
         {QStringLiteral(" \u00B7 ") + countText(tried,
                                                 tr("searching in the pause, 1 set"),
                                                 tr("searching in the pause, %1 sets"))}});
}

void StatusStrip::showModel() {
    const ModelLoaded* model = m_store.model();
    const ModelLoadProgress* loading = m_store.loading();
    if (loading != nullptr)
        m_model->setRuns({strong(
            tr("Opening %1").arg(QFileInfo(QString::fromStdString(loading->path)).fileName()))});
    else if (model != nullptr)
        m_model->setRuns({strong(QString::fromStdString(model->model.name))});
    else
        m_model->setText(tr("No model"));
    QString device;
    if (model != nullptr)
        device = QStringLiteral("%1, %2").arg(QString::fromStdString(model->model.device.empty()
                                                                         ? model->model.backend
                                                                         : model->model.device),
                                              QString::fromStdString(model->model.precision));
    if (m_bridge.isReplay() && model != nullptr)
        device = tr("recorded with %1").arg(device);
    m_device->setText(device);
}

/// The mark does not blink: it is shown exactly while something is being written. The recording
/// events of a replay are from the past and do not count.
void StatusStrip::showRecording() {
    const QString path =
        m_bridge.isReplay() ? QString() : QString::fromStdString(m_store.recordingPath());
    if (path != m_recordingPath) {
        m_recordingPath = path;
        m_recordingClock.start();
        path.isEmpty() ? m_recordingTimer.stop() : m_recordingTimer.start();
    }
    m_recording->setVisible(!path.isEmpty());
    m_stopRecording->setVisible(!path.isEmpty());
    if (path.isEmpty())
        return;
    const double seconds = static_cast<double>(m_recordingClock.elapsed()) / 1e3;
    const QString size =
        QLocale::c().formattedDataSize(QFileInfo(path).size(), 1, QLocale::DataSizeSIFormat);
    m_recording->setRuns({{QStringLiteral("\u25CF ") + tr("Recording"), true, &Colours::recording},
                          {QStringLiteral(" ") + clockText(seconds, 0), true},
                          {QStringLiteral(" ") + size}});
    setTip(*m_recording, tr("Everything that happens is written to %1.").arg(path));
}

void StatusStrip::showReplay() {
    const Playback* playback = m_bridge.playback();
    m_replayBadge->setVisible(playback != nullptr);
    m_replay->setVisible(playback != nullptr);
    if (playback == nullptr)
        return;
    const double position = std::min(playback->position(), playback->length());
    m_replay->setRuns(
        around(tr("%1 of %2").replace(QLatin1String("%2"), clockText(playback->length(), 1)),
               clockText(position, 1)));
}

void StatusStrip::showSpeed() {
    const SpanFigures answer = m_store.speed().answer();
    const auto rate = answer.tokensPerSecond();
    const auto speedup = answer.isDrafting() ? answer.speedup() : std::nullopt;
    m_tokens->setVisible(rate.has_value());
    m_speedup->setVisible(speedup.has_value());
    m_tokens->setToolTip(tr("Tokens per second of this answer"));
    m_speedup->setToolTip(tr("Speed of this answer relative to plain steps of the full model"));
    if (rate)
        m_tokens->setRuns(around(tr("%1 tok/s"), QString::number(*rate, 'f', 1)));
    if (speedup)
        m_speedup->setRuns(around(tr("%1 vs vanilla"), decimalText(*speedup) + u'\u00D7'));
}

/// Information about a recording takes its room, so that the strip fits narrow windows.
void StatusStrip::showMemory() {
    if (m_bridge.isReplay() || !m_store.recordingPath().empty()) {
        m_memory->setText({});
        m_memoryClock.invalidate();
        return;
    }
    if (m_memoryClock.isValid() && m_memoryClock.elapsed() < kMemoryMs)
        return;
    m_memoryClock.start();
    if (const auto memory = memoryInUse())
        m_memory->setRuns(
            around(tr("Memory %1 / %2 GiB")
                       .replace(QLatin1String("%2"),
                                QString::number(memory->machineBytes / kGibibyte, 'f', 1)),
                   QString::number(memory->processBytes / kGibibyte, 'f', 1)));
}

void StatusStrip::setWork(const WorkNote& note) {
    m_work->setVisible(!note.state.isEmpty());
    m_work->setNote(note);
    giveWay();
    update();
}

void StatusStrip::forgetNote() {
    m_isNoteOld = true;
    showNote();
}

/// A notice is about the run as it was: it becomes outdated with another decoder, model, setting or
/// answer.
void StatusStrip::ageNote(Topics changed) {
    const Answer* answer = m_store.answers().latest();
    const std::uint64_t promptId = answer == nullptr ? 0 : answer->promptId;
    const bool isNewAnswer = std::exchange(m_promptId, promptId) != promptId;
    if (changed & Topic::Notes)
        m_isNoteOld = false;
    else if (isNewAnswer || (changed & (Topic::Decoder | Topic::Model)))
        m_isNoteOld = true;
}

/// The tool tip has the full text of the latest ones.
void StatusStrip::showNote() {
    constexpr std::size_t kReported = 8;
    const std::vector<std::string>& notes = m_store.notes();
    const QString usual =
        m_bridge.isReplay() ? tr("The figures are those of the recording") : QString();
    const QString newest =
        notes.empty() || m_isNoteOld ? usual : QString::fromStdString(notes.back());
    m_note->setText(newest);
    QStringList lines;
    for (std::size_t i = notes.size() - std::min(notes.size(), kReported); i < notes.size(); ++i)
        lines << QString::fromStdString(notes[i]);
    m_note->setToolTip(tipOf(lines.join(u'\n')));
    m_note->setAccessibleDescription(newest);
}

void StatusStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    giveWay();
}

void StatusStrip::restyle() {
    setFixedHeight(m_theme.scaled(24));
    m_row->setContentsMargins(m_theme.scaled(12), 1, m_theme.scaled(12), 0);
    m_row->setSpacing(m_theme.scaled(24));
    refresh({});
    update();
}

void StatusStrip::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.window);
    painter.fillRect(QRect(0, 0, width(), 1), colours.border);
    const auto paintLine = [&](const QWidget* part) {
        painter.fillRect(QRect(part->x() - m_theme.scaled(12),
                               height() / 2 - m_theme.scaled(7),
                               1,
                               m_theme.scaled(14)),
                         colours.border);
    };
    for (const LiveLabel* label : m_parts)
        if (label->isVisible() && label != m_model && !label->text().isEmpty())
            paintLine(label);
    if (m_work->isVisible())
        paintLine(m_work);
}

} // namespace ui
