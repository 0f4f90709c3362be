// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/setup/cost_preview.h"
#include "ui/experiments/setup/run_setup.h"

#include <QObject>

namespace ui {

class DataPage;

/// What the prompts that a page shows would cost, where it asks for that. Thread: UI; nothing
/// waits.
class StreamEstimate : public QObject {
    Q_OBJECT

public:
    /// All outlive it.
    StreamEstimate(DataPage& page,
                   RunSetup& setup,
                   const QString& program,
                   QObject* parent = nullptr);

    /// What was estimated for another one holds no longer.
    void setModel(const ModelChoice& model);

private:
    void ask(const StreamChoice& choice);

    DataPage& m_page;
    RunSetup& m_setup;
    CostPreview m_cost;
    ModelChoice m_model;
    int m_question = 0; ///< the newest
};

} // namespace ui
