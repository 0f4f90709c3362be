// SPDX-License-Identifier: GPL-3.0-only
// What the live window costs while a model generates:
//   stalls  how long the event loop is away, p99 and maximum, generating and idle (--runs times;
//           0 leaves this part out);
//   ratio   views shown over frozen, toggled in one process in short slices: shown, frozen, frozen,
//           shown. Such a four is one pair, so that a drift of the machine or of the answer falls
//           on both sides alike, and what is told is the median of the pairs' ratios with the 95 %
//           interval of 2,000 resamplings of the pairs. Three of them: tokens a second and steps a
//           second of decoding, and the part of the program's processor time that is left to
//           decoding, which is not the window's thread's. The third hardly varies; it misses only
//           what the window takes from memory and caches, which the first two have.
//   window_study --model FILE [--modules FOLDER] [--decoder NAME] [--backend cpu|torch|plain]
//                [--workspace chat|inspect|experiments|learn|tune] [--stage NAME] [--seconds N]
//                [--runs N] [--slices N] [--slice-ms N] [--settle-ms N]
//   window_study --replay FILE [--workspace ...] [--seconds N] [--runs N]
// A replay has the stalls alone: a recording plays at 4x, and every second it jumps elsewhere.
// The first --settle-ms of a slice are not measured: what waited behind frozen views is drawn then.
// Steps are the steadier unit of decoders whose drafts vary; with --decoder vanilla both are the
// same. Without a display: QT_QPA_PLATFORM=offscreen.
#include "engine/metrics/sample_statistics.h"
#include "tests/ui/benchmarks/stall_probe.h"
#include "ui/bridge/links/playback.h"
#include "ui/bridge/links/recording_link.h"
#include "ui/bridge/links/session_link.h"
#include "ui/learn/learn_page.h"
#include "ui/studio/studio.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

using namespace support;

namespace {

const std::vector<std::string> kWorkspaces{"chat", "inspect", "experiments", "learn", "tune"};

struct Arguments {
    std::string model;
    std::string replay; ///< a recording instead of a model
    std::string workspace = "inspect";
    std::string stage; ///< of the workspace Learn; empty: the first one
    std::string modules = "build/release/lib/swift-studio";
    std::string decoder = "swift";
    std::string backend;
    int seconds = 20;
    int runs = 5;
    int slices = 240;
    int sliceMs = 400;
    int settleMs = 100;
};

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

double processorMs(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// Tokens and milliseconds of the steps of some slices, and the processor time that went by.
struct Slice {
    double tokens = 0.0;
    double steps = 0.0;
    double ms = 0.0;
    double wallMs = 0.0;
    double windowMs = 0.0;  ///< processor time of the window's thread
    double programMs = 0.0; ///< of all threads

    Slice& operator+=(const Slice& other) {
        tokens += other.tokens;
        steps += other.steps;
        ms += other.ms;
        wallMs += other.wallMs;
        windowMs += other.windowMs;
        programMs += other.programMs;
        return *this;
    }
};

/// Keeps the model busy, and counts its steps.
class Load : public QObject {
public:
    Load(ui::Studio& studio, std::string decoder)
        : m_studio(studio)
        , m_decoder(std::move(decoder)) {
        connect(&studio.bridge(),
                &ui::EngineBridge::eventCame,
                this,
                [this](const engine::EngineEvent& event) { onEvent(event); });
    }

    void setBusy(bool isBusy) {
        m_isBusy = isBusy;
        isBusy ? ask() : m_studio.session().stop();
    }

    bool isReady() const { return m_isReady; }

    /// What came since the last time. Thread: the window's.
    Slice take() {
        Slice slice = std::exchange(m_slice, {});
        slice.wallMs = millisecondsBetween(m_takenAt, Clock::now());
        slice.windowMs = processorMs(CLOCK_THREAD_CPUTIME_ID) - m_windowMs;
        slice.programMs = processorMs(CLOCK_PROCESS_CPUTIME_ID) - m_programMs;
        m_takenAt = Clock::now();
        m_windowMs += slice.windowMs;
        m_programMs += slice.programMs;
        m_skipsNext = true; // the step at work belongs to two slices
        return slice;
    }

private:
    void onEvent(const engine::EngineEvent& event) {
        // The window chooses the decoder itself, once the model is there.
        const auto* chosen = event.as<engine::DecoderChosen>();
        if (chosen != nullptr && m_studio.run().model() != nullptr &&
            chosen->info.name == m_decoder)
            m_isReady = true;
        if (event.as<engine::PromptFinished>() != nullptr && m_isBusy)
            QMetaObject::invokeMethod(
                this, [this] { ask(); }, Qt::QueuedConnection);
        const auto* step = event.as<engine::StepFinished>();
        if (step == nullptr || std::exchange(m_skipsNext, false))
            return;
        m_slice.tokens += static_cast<double>(step->tokens.size());
        m_slice.steps += 1.0;
        m_slice.ms += step->draftMs + step->verifyMs + step->searchMs + step->otherMs;
    }

    void ask() {
        m_studio.session().newChat();
        m_studio.session().send(
            QStringLiteral("Tell a long story about lighthouse number %1.").arg(++m_asked));
    }

    ui::Studio& m_studio;
    std::string m_decoder;
    Slice m_slice;
    Clock::time_point m_takenAt;
    double m_windowMs = 0.0;
    double m_programMs = 0.0;
    bool m_isBusy = false;
    bool m_isReady = false;
    bool m_skipsNext = false;
    int m_asked = 0;
};

/// Runs the event loop for so long; what lasts no longer than `isDone` says ends before.
void spin(int milliseconds, const std::function<bool()>& isDone = {}) {
    QEventLoop loop;
    QTimer end;
    end.setSingleShot(true);
    QObject::connect(&end, &QTimer::timeout, &loop, &QEventLoop::quit);
    end.start(milliseconds);
    QTimer look;
    if (isDone) {
        QObject::connect(&look, &QTimer::timeout, &loop, [&] {
            if (isDone())
                loop.quit();
        });
        look.start(10);
    }
    loop.exec();
}

/// Of the event loop as it is now; `state` begins each line.
void reportStalls(ui::Studio& studio, const Arguments& arguments, const char* state) {
    StallProbe probe;
    std::vector<double> p99;
    std::vector<double> largest;
    for (int run = 0; run < arguments.runs; ++run) {
        probe.start();
        spin(arguments.seconds * 1000);
        const std::vector<double> stalls = probe.stop();
        p99.push_back(percentile(stalls, 0.99));
        largest.push_back(percentile(stalls, 1.0));
        std::printf("%s run %d: %zu probes, p50 %.2f ms, p99 %.2f ms, maximum %.2f ms, "
                    "pictures every %d ms\n",
                    state,
                    run + 1,
                    stalls.size(),
                    percentile(stalls, 0.5),
                    p99.back(),
                    largest.back(),
                    studio.bridge().pictureInterval());
        std::fflush(stdout);
    }
    std::printf("%s, medians of %d runs: p99 %.2f ms, maximum %.2f ms\n",
                state,
                arguments.runs,
                median(p99),
                median(largest));
}

/// One four of slices: what came with the views shown, and frozen.
struct Four {
    Slice shown;
    Slice frozen;
};

std::vector<Four> measureFours(ui::Studio& studio, Load& load, const Arguments& arguments) {
    std::vector<Four> fours(static_cast<std::size_t>(std::max(1, (arguments.slices + 3) / 4)));
    for (Four& four : fours)
        for (const bool isShown : {true, false, false, true}) {
            for (ui::View* view : studio.views())
                view->setFrozen(!isShown);
            spin(arguments.settleMs);
            load.take();
            spin(arguments.sliceMs);
            (isShown ? four.shown : four.frozen) += load.take();
        }
    std::erase_if(fours, [](const Four& four) {
        return four.shown.ms <= 0.0 || four.frozen.ms <= 0.0 || four.shown.programMs <= 0.0 ||
               four.frozen.programMs <= 0.0;
    });
    return fours;
}

void reportOne(const char* what, const std::vector<Four>& fours, double (*figureOf)(const Slice&)) {
    std::vector<double> shown;
    std::vector<double> frozen;
    for (const Four& four : fours) {
        shown.push_back(figureOf(four.shown));
        frozen.push_back(figureOf(four.frozen));
    }
    const engine::RatioEstimate estimate = engine::medianRatio(shown, frozen);
    std::printf("%s, views shown over frozen: %.4f (95 %% interval %.4f to %.4f, %zu pairs)\n",
                what,
                estimate.ratio,
                estimate.low,
                estimate.high,
                fours.size());
}

void reportRatio(ui::Studio& studio, Load& load, const Arguments& arguments) {
    load.setBusy(true);
    spin(5000);
    const std::vector<Four> fours = measureFours(studio, load, arguments);
    load.setBusy(false);
    reportOne("tokens a second", fours, [](const Slice& slice) { return slice.tokens / slice.ms; });
    reportOne("steps a second", fours, [](const Slice& slice) { return slice.steps / slice.ms; });
    reportOne("processor time left to decoding", fours, [](const Slice& slice) {
        return 1.0 - slice.windowMs / slice.programMs;
    });
    Four all;
    for (const Four& four : fours) {
        all.shown += four.shown;
        all.frozen += four.frozen;
    }
    std::printf("window's thread: %.1f ms of processor time a second shown, %.1f frozen; the "
                "program: %.0f and %.0f\n",
                1e3 * all.shown.windowMs / all.shown.wallMs,
                1e3 * all.frozen.windowMs / all.frozen.wallMs,
                1e3 * all.shown.programMs / all.shown.wallMs,
                1e3 * all.frozen.programMs / all.frozen.wallMs);
}

ui::StudioOptions optionsIn(const QTemporaryDir& folder) {
    ui::StudioOptions options;
    options.chatsPath = folder.filePath(QStringLiteral("chats.sqlite"));
    options.settingsPath = folder.filePath(QStringLiteral("window.ini"));
    options.ownPresetsFolder = folder.filePath(QStringLiteral("presets"));
    return options;
}

void show(ui::Studio& studio, const Arguments& arguments) {
    const auto place = std::ranges::find(kWorkspaces, arguments.workspace);
    studio.window().showWorkspace(static_cast<int>(place - kWorkspaces.begin()));
    if (!arguments.stage.empty())
        studio.window().findChild<ui::LearnPage*>()->showStage(
            QString::fromStdString(arguments.stage));
    studio.window().show();
    studio.start();
}

int run(const Arguments& arguments) {
    const QTemporaryDir folder;
    const ui::StudioOptions options = optionsIn(folder);
    QSettings(options.settingsPath, QSettings::IniFormat)
        .setValue(
            QStringLiteral("run/choices"),
            QStringLiteral(R"({"decoder": "%1"})").arg(QString::fromStdString(arguments.decoder)));
    ui::Studio studio(ui::makeSessionLink({.moduleFolder = arguments.modules}), options);
    Load load(studio, arguments.decoder);
    show(studio, arguments);
    engine::LoadModel model;
    model.path = arguments.model;
    model.backend = arguments.backend;
    studio.bridge().send(model);
    spin(120'000, [&] { return load.isReady(); });
    if (!load.isReady()) {
        std::fprintf(stderr, "the model was not loaded within two minutes\n");
        return 1;
    }
    std::printf("decoder %s, backend %s\n",
                arguments.decoder.c_str(),
                studio.run().model()->model.backend.c_str());
    for (const bool isBusy : {false, true}) {
        if (arguments.runs == 0)
            break;
        load.setBusy(isBusy);
        spin(2000);
        reportStalls(studio, arguments, isBusy ? "generating" : "idle");
    }
    load.setBusy(false);
    reportRatio(studio, load, arguments);
    return 0;
}

int replay(const Arguments& arguments) {
    constexpr double kSpeed = 4.0;
    constexpr double kJump = 0.618; ///< of the length: no two jumps go to the same place
    auto link = ui::RecordingLink::open(arguments.replay, kSpeed);
    if (!link) {
        std::fprintf(stderr, "%s\n", link.error().message.c_str());
        return 1;
    }
    const QTemporaryDir folder;
    ui::StudioOptions options = optionsIn(folder);
    options.replayName = QString::fromStdString(arguments.replay);
    ui::Studio studio(std::move(link).value(), options);
    show(studio, arguments);
    ui::Playback& playback = *studio.bridge().playback();
    spin(120'000, [&] { return playback.isLengthKnown(); });
    QTimer jump;
    double place = 0.0;
    QObject::connect(&jump, &QTimer::timeout, [&] {
        place = std::fmod(place + kJump, 1.0);
        playback.seek(place * playback.length());
        playback.play();
    });
    jump.start(1000);
    reportStalls(studio, arguments, "replay");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App options("What the live window costs while the model generates.", "window_study");
    Arguments arguments;
    CLI::Option_group* source = options.add_option_group("source", "What is shown");
    source->add_option("--model", arguments.model, "GGUF file or folder");
    source->add_option("--replay", arguments.replay, "A recording (.swiftrun)");
    source->require_option(1);
    options.add_option("--workspace", arguments.workspace, "Which one is shown")
        ->check(CLI::IsMember(kWorkspaces));
    std::vector<std::string> stages;
    for (const ui::LearnStage& stage : ui::learnStages())
        stages.push_back(stage.id.toStdString());
    options.add_option("--stage", arguments.stage, "With --workspace learn: what is shown there")
        ->check(CLI::IsMember(stages));
    options.add_option("--modules", arguments.modules, "Folder of the run-time modules");
    options.add_option("--decoder", arguments.decoder, "swift, auto, vanilla, ...");
    options.add_option("--backend", arguments.backend, "cpu (the default), torch or plain");
    options.add_option("--seconds", arguments.seconds, "Of each run of the stall probe");
    options.add_option("--runs", arguments.runs, "Of the stall probe; 0 leaves it out");
    options.add_option(
        "--slices", arguments.slices, "Shown, frozen, frozen, shown: rounded up to whole fours");
    options.add_option("--slice-ms", arguments.sliceMs, "Of each slice, measured");
    options.add_option("--settle-ms", arguments.settleMs, "Before each slice, not measured");
    CLI11_PARSE(options, argc, argv);
    QApplication application(argc, argv);
    return arguments.replay.empty() ? run(arguments) : replay(arguments);
}
