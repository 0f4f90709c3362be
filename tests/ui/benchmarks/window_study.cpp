// SPDX-License-Identifier: GPL-3.0-only
// What the live window costs, with the default model generating in the Inspect workspace:
//   stalls  how long the event loop is away, p99 and maximum, generating and idle (--runs times);
//   ratio   tokens per second with the views shown over frozen, toggled every 2 seconds in one
//           process, with a 95 % interval over pairs of neighbouring slices.
//   window_study --model FILE [--modules FOLDER] [--decoder auto|swift|lookup|vanilla]
//                [--backend cpu|torch|plain] [--seconds N] [--runs N] [--slices N]
// Without a display: QT_QPA_PLATFORM=offscreen.
#include "ui/bridge/session_link.h"
#include "ui/studio/studio.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stop_token>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsBetween(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

struct Arguments {
    std::string model;
    std::string modules = "build/release/lib/swift-studio";
    std::string decoder = "swift";
    std::string backend;
    int seconds = 20;
    int runs = 5;
    int slices = 40;
};

/// Asks the event loop from another thread, again and again, how long it takes to answer.
class StallProbe : public QObject {
public:
    static constexpr int kPeriodMs = 2;

    void start() {
        m_stallsMs.clear();
        m_thread = std::jthread([this](std::stop_token stop) {
            while (!stop.stop_requested()) {
                if (!m_isWaiting.exchange(true)) {
                    m_askedAt = Clock::now();
                    QCoreApplication::postEvent(this, new QEvent(QEvent::User));
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(kPeriodMs));
            }
        });
    }

    /// Milliseconds until the loop answered, each question.
    std::vector<double> stop() {
        m_thread.request_stop();
        m_thread.join();
        return std::exchange(m_stallsMs, {});
    }

protected:
    bool event(QEvent* event) override {
        if (event->type() != QEvent::User)
            return QObject::event(event);
        m_stallsMs.push_back(millisecondsBetween(m_askedAt, Clock::now()));
        m_isWaiting = false;
        return true;
    }

private:
    std::jthread m_thread;
    std::atomic<bool> m_isWaiting = false;
    Clock::time_point m_askedAt; // written before, read after the exchange of m_isWaiting
    std::vector<double> m_stallsMs;
};

double percentile(std::vector<double> values, double part) {
    if (values.empty())
        return 0.0;
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

/// Tokens and milliseconds of the steps of a slice.
struct Slice {
    bool isShown = true;
    double tokens = 0.0;
    double ms = 0.0;
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

    Slice take(bool isShown) {
        Slice slice = std::exchange(m_slice, {});
        slice.isShown = isShown;
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

void reportStalls(ui::Studio& studio, Load& load, const Arguments& arguments) {
    StallProbe probe;
    for (const bool isBusy : {false, true}) {
        load.setBusy(isBusy);
        spin(2000);
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
                        isBusy ? "generating" : "idle",
                        run + 1,
                        stalls.size(),
                        percentile(stalls, 0.5),
                        p99.back(),
                        largest.back(),
                        studio.bridge().pictureInterval());
            std::fflush(stdout);
        }
        std::printf("%s, medians of %d runs: p99 %.2f ms, maximum %.2f ms\n",
                    isBusy ? "generating" : "idle",
                    arguments.runs,
                    median(p99),
                    median(largest));
    }
    load.setBusy(false);
}

void reportRatio(ui::Studio& studio, Load& load, const Arguments& arguments) {
    load.setBusy(true);
    spin(5000);
    std::vector<Slice> slices;
    load.take(true);
    for (int i = 0; i < arguments.slices; ++i) {
        // Shown, frozen, frozen, shown: a drift of the machine falls on both alike.
        const bool isShown = i % 4 == 0 || i % 4 == 3;
        for (ui::View* view : studio.views())
            view->setFrozen(!isShown);
        spin(2000);
        slices.push_back(load.take(isShown));
    }
    std::vector<double> logRatios;
    for (std::size_t i = 0; i + 1 < slices.size(); i += 2) {
        const Slice& shown = slices[i].isShown ? slices[i] : slices[i + 1];
        const Slice& frozen = slices[i].isShown ? slices[i + 1] : slices[i];
        if (shown.ms > 0.0 && frozen.ms > 0.0)
            logRatios.push_back(std::log(shown.tokens / shown.ms) -
                                std::log(frozen.tokens / frozen.ms));
    }
    const double count = static_cast<double>(logRatios.size());
    const double mean = std::accumulate(logRatios.begin(), logRatios.end(), 0.0) / count;
    double squares = 0.0;
    for (const double value : logRatios)
        squares += (value - mean) * (value - mean);
    const double half = 2.09 * std::sqrt(squares / (count - 1.0) / count); // t, 19 degrees
    std::printf(
        "tokens/s, views shown over frozen: %.3f (95 %% interval %.3f to %.3f, %zu slices)\n",
        std::exp(mean),
        std::exp(mean - half),
        std::exp(mean + half),
        slices.size());
    load.setBusy(false);
}

int run(const Arguments& arguments) {
    QTemporaryDir folder;
    ui::StudioOptions options;
    options.chatsPath = folder.filePath(QStringLiteral("chats.sqlite"));
    options.settingsPath = folder.filePath(QStringLiteral("window.ini"));
    options.ownPresetsFolder = folder.filePath(QStringLiteral("presets"));
    QSettings(options.settingsPath, QSettings::IniFormat)
        .setValue(QStringLiteral("run/decoder"), QString::fromStdString(arguments.decoder));
    ui::Studio studio(ui::makeSessionLink({.moduleFolder = arguments.modules}), options);
    studio.window().showWorkspace(1);
    studio.window().show();
    Load load(studio, arguments.decoder);
    studio.start();
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
    reportStalls(studio, load, arguments);
    reportRatio(studio, load, arguments);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App options("What the live window costs while the model generates.", "window_study");
    Arguments arguments;
    options.add_option("--model", arguments.model, "GGUF file or folder")->required();
    options.add_option("--modules", arguments.modules, "Folder of the run-time modules");
    options.add_option("--decoder", arguments.decoder, "swift, auto, lookup or vanilla");
    options.add_option("--backend", arguments.backend, "cpu (the default), torch or plain");
    options.add_option("--seconds", arguments.seconds, "Of each run of the stall probe");
    options.add_option("--runs", arguments.runs, "Of the stall probe");
    options.add_option("--slices", arguments.slices, "Of 2 seconds, shown and frozen in turn");
    CLI11_PARSE(options, argc, argv);
    QApplication application(argc, argv);
    return run(arguments);
}
