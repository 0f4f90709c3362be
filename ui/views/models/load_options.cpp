// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/load_options.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSpinBox>

#include <utility>
#include <vector>

namespace ui {

namespace {

constexpr int kMostThreads = 256;
constexpr int kLongestContext = 1 << 20;
constexpr int kContextStep = 512;

using Choices = std::vector<std::pair<QString, QString>>; // text, data

QComboBox* makeBox(const Choices& choices, QWidget* parent) {
    auto* box = new QComboBox(parent);
    for (const auto& [text, data] : choices)
        box->addItem(text, data);
    return box;
}

QSpinBox* makeSpin(int maximum, int step, QWidget* parent) {
    auto* spin = new QSpinBox(parent);
    spin->setRange(0, maximum);
    spin->setSingleStep(step);
    spin->setSpecialValueText(QObject::tr("Automatic"));
    spin->setKeyboardTracking(false);
    spin->setFocusPolicy(Qt::StrongFocus);
    return spin;
}

} // namespace

LoadOptions::LoadOptions(const QStringList& backends, QWidget* parent)
    : QWidget(parent)
    , m_backend(new QComboBox(this))
    , m_weights(makeBox({{tr("Automatic"), QString()},
                         {tr("As in the file"), QStringLiteral("file")},
                         {QStringLiteral("float32"), QStringLiteral("f32")},
                         {tr("8-bit"), QStringLiteral("int8")},
                         {QStringLiteral("bfloat16"), QStringLiteral("bf16")}},
                        this))
    , m_kvType(makeBox({{tr("Automatic"), QString()},
                        {QStringLiteral("float16"), QStringLiteral("f16")},
                        {QStringLiteral("bfloat16"), QStringLiteral("bf16")},
                        {QStringLiteral("float32"), QStringLiteral("f32")}},
                       this))
    , m_precision(new QComboBox(this))
    , m_threads(makeSpin(kMostThreads, 1, this))
    , m_context(makeSpin(kLongestContext, kContextStep, this)) {
    m_backend->addItem(tr("Automatic"), QString());
    for (const QString& backend : backends)
        m_backend->addItem(backend, backend);
    for (const char* precision : {"float32", "bfloat16", "float64"})
        m_precision->addItem(precision, precision);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const auto& [name, widget] : {std::pair<QString, QWidget*>(tr("Backend"), m_backend),
                                       {tr("Weights"), m_weights},
                                       {tr("Keys and values"), m_kvType},
                                       {tr("Precision"), m_precision},
                                       {tr("Threads"), m_threads},
                                       {tr("Context, tokens"), m_context}}) {
        auto* label = new QLabel(name, this);
        label->setProperty("tone", "small");
        label->setBuddy(widget);
        widget->setAccessibleName(name);
        widget->setFocusPolicy(Qt::StrongFocus);
        widget->setProperty("form", "small");
        grid->addWidget(label, row, 0);
        grid->addWidget(widget, row++, 1);
    }
    connect(m_backend, &QComboBox::currentIndexChanged, this, &LoadOptions::enableWhatCounts);
    for (QComboBox* box : {m_backend, m_weights, m_kvType, m_precision})
        connect(box, &QComboBox::activated, this, &LoadOptions::changed);
    connect(m_threads, &QSpinBox::valueChanged, this, &LoadOptions::changed);
    connect(m_context, &QSpinBox::valueChanged, this, &LoadOptions::changed);
    enableWhatCounts();
}

bool LoadOptions::isCpu() const {
    const QString backend = m_backend->currentData().toString();
    return backend.isEmpty() || backend == QLatin1String("cpu");
}

void LoadOptions::enableWhatCounts() {
    m_weights->setEnabled(isCpu());
    m_kvType->setEnabled(isCpu());
    m_precision->setEnabled(!isCpu());
}

engine::LoadModel LoadOptions::command(const QString& path) const {
    const auto word = [](const QComboBox* box) {
        return box->currentData().toString().toStdString();
    };
    engine::LoadModel command{.path = path.toStdString(),
                              .backend = word(m_backend),
                              .threads = m_threads->value(),
                              .contextLength = m_context->value()};
    if (isCpu()) {
        command.weights = word(m_weights);
        command.kvType = word(m_kvType);
    } else {
        command.precision = word(m_precision);
    }
    return command;
}

} // namespace ui
