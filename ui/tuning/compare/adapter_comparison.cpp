// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/compare/adapter_comparison.h"

#include "ui/tuning/compare/comparison_arguments.h"
#include "ui/tuning/tuning_event.h"

#include <QDateTime>
#include <QFileInfo>

#include <utility>

namespace ui {

namespace {

/// The last line of a comparison that was not stopped.
const QByteArray kDoneLine = "done";

/// What the program's hint names where no prompt is left.
constexpr QLatin1String kHeldOutOption("--held-out");

} // namespace

AdapterComparison::AdapterComparison(QString program, QObject* parent)
    : QObject(parent)
    , m_program(std::move(program)) {
    connect(&m_files, &TuningFiles::failed, this, &AdapterComparison::faulted);
}

AdapterComparison::~AdapterComparison() {
    if (m_process == nullptr)
        return;
    endProcess();
    m_files.writeComparison(m_lines);
}

/// Which file or folder was measured: another one has another size or another time.
QByteArray AdapterComparison::resultLine() const {
    const QFileInfo result(m_result);
    return "adapter " + QByteArray::number(result.size()) + ' ' +
           QByteArray::number(result.lastModified().toMSecsSinceEpoch());
}

void AdapterComparison::open(const QString& root,
                             const TuningModel& model,
                             TuningRecipe recipe,
                             const QString& result) {
    stop();
    m_recipe = recipe;
    m_result = result;
    m_files.setPlace(root, model, recipe);
    begin(ComparisonState::None);
    m_isReading = true;
    m_files.readComparison([this, number = m_number](const QByteArray& stored) {
        if (number == m_number)
            takeStored(stored);
    });
}

/// Nothing is known of what was before.
void AdapterComparison::begin(ComparisonState state) {
    ++m_number;
    m_isReading = false;
    m_prompts = {};
    m_state = state;
    m_sentence.clear();
}

void AdapterComparison::takeStored(const QByteArray& stored) {
    m_isReading = false;
    QByteArrayList lines = stored.split('\n');
    if (!m_result.isEmpty() && lines.takeFirst() == resultLine())
        for (const QByteArray& line : lines)
            m_prompts.take(line);
    if (!m_prompts.prompts().empty())
        m_state = lines.contains(kDoneLine) ? ComparisonState::Done : ComparisonState::Stopped;
    emit changed();
}

void AdapterComparison::forget() {
    endProcess();
    begin(ComparisonState::None);
    m_files.writeComparison({});
}

void AdapterComparison::start(const QString& root,
                              const TuningChoice& choice,
                              const QString& result) {
    endProcess();
    m_recipe = choice.recipe;
    m_result = result;
    m_files.setPlace(root, choice.model, choice.recipe);
    begin(ComparisonState::Running);
    m_lines = resultLine() + '\n';
    m_error.clear();
    m_process = new TuningProcess(this);
    connect(m_process, &TuningProcess::lineCame, this, &AdapterComparison::takeLine);
    connect(m_process, &TuningProcess::ended, this, &AdapterComparison::onEnded);
    m_process->start(m_program, argumentsOfComparison(choice, m_files.adapter(), m_result));
    if (m_process != nullptr && m_isHeld)
        m_process->setHeld(true);
    emit changed();
}

void AdapterComparison::stop() {
    if (m_process == nullptr)
        return;
    endProcess();
    m_state = ComparisonState::Stopped;
    m_files.writeComparison(m_lines);
    emit changed();
}

/// There is nothing that it would have to save.
void AdapterComparison::endProcess() {
    if (m_process == nullptr)
        return;
    m_process->disconnect(this);
    m_process->kill();
    delete m_process.data();
}

void AdapterComparison::setHeld(bool isHeld) {
    if (std::exchange(m_isHeld, isHeld) == isHeld || m_process == nullptr)
        return;
    m_process->setHeld(isHeld);
    emit changed();
}

void AdapterComparison::takeLine(const QByteArray& line) {
    if (m_prompts.take(line)) {
        m_lines += line + '\n';
        emit changed();
        return;
    }
    const auto event = tuningEventOf(line);
    if (const auto* error = event ? std::get_if<TuningError>(&*event) : nullptr)
        m_error = error->sentence();
}

void AdapterComparison::onEnded(TuningProcess::End end, const QString& words) {
    m_process->deleteLater();
    m_process.clear();
    using End = TuningProcess::End;
    m_state = end == End::Done && !m_prompts.prompts().empty() ? ComparisonState::Done
                                                               : ComparisonState::Failed;
    if (m_state == ComparisonState::Done)
        m_lines += kDoneLine + '\n';
    else
        m_sentence = end == End::NotStarted ? tr("%1 cannot be started (%2).").arg(m_program, words)
                     : m_error.contains(kHeldOutOption)
                         ? tr("All of these prompts were trained on, so none is left to compare "
                              "with: train on more prompts.")
                     : !m_error.isEmpty() ? m_error
                     : end == End::Killed ? tr("The comparison's process was killed.")
                     : words.isEmpty()    ? tr("The comparison ended without a result.")
                                          : words;
    if (!m_prompts.prompts().empty())
        m_files.writeComparison(m_lines);
    emit changed();
}

} // namespace ui
