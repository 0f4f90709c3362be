// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_session.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <optional>

namespace support {

/// A stand-in for swift-run that obeys the contract of `tune --json`: it appends what it was called
/// with to OUT.told, makes the folder OUT.work, says the lines that the test has given it, and then
/// ends as the test wants it to. Its files lie in a folder of their own, the adapters in use too.
class ScriptedTuning {
public:
    ScriptedTuning() {
        qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
        write("swift-run", kScript);
        QFile script(program());
        const bool mayRun =
            script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        Q_ASSERT(mayRun);
        say({});
        endBy("wait");
        sayCompared({});
        endComparisonBy("wait");
        write("prompts.jsonl", "{\"prompt\":\"p\"}\n");
    }

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString program() const { return path(QStringLiteral("swift-run")); }

    ui::TuningPlaces places() const {
        return {program(), path(QStringLiteral("tuning")), true, path(QStringLiteral("models"))};
    }

    static ui::TuningModel model(const QString& name = QStringLiteral("Tiny")) {
        return {QStringLiteral("/models/") + name, name, false, 576};
    }

    ui::TuningChoice choice() const {
        ui::TuningChoice choice;
        choice.model = model();
        choice.data = {path(QStringLiteral("prompts.jsonl"))};
        return choice;
    }

    /// Of a copy of the model.
    ui::TuningChoice copyChoice(ui::TuningRecipe recipe = ui::TuningRecipe::LayerSkip) const {
        ui::TuningChoice made = choice();
        made.recipe = recipe;
        made.output = path(QStringLiteral("models/Tiny-") + ui::recipeKey(recipe));
        return made;
    }

    /// What it says at its next starts.
    void say(const QByteArrayList& lines) const { write("lines", lines.join('\n') + '\n'); }

    /// How it ends then: "done", "fail", "crash", or "wait" for Ctrl+C. Behind Ctrl+C, "full" finds
    /// no room, and "save" counts in OUT.interrupts until it is terminated, and then makes
    /// OUT.saved.
    void endBy(const QByteArray& end) const { write("end", end); }

    /// The same for `compare`.
    void sayCompared(const QByteArrayList& lines) const {
        write("compared-lines", lines.join('\n') + '\n');
    }

    void endComparisonBy(const QByteArray& end) const { write("compared-end", end); }

    /// The arguments of its starts for an adapter, each in a line.
    static QStringList told(const QString& adapter) { return toldIn(adapter + ".told"); }

    static QStringList toldToCompare(const QString& adapter) {
        return toldIn(adapter + ".compared");
    }

    static QStringList toldIn(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly)
                   ? QString::fromUtf8(file.readAll()).split(u'\n', Qt::SkipEmptyParts)
                   : QStringList();
    }

    /// 'T': it is held; 'S': it waits; 'Z' or 0: it has ended.
    static char stateOf(qint64 process) {
        QFile file(QStringLiteral("/proc/%1/stat").arg(process));
        if (!file.open(QIODevice::ReadOnly))
            return 0;
        const QByteArray line = file.readAll();
        return line.mid(line.lastIndexOf(')') + 2, 1).front();
    }

    void write(const QString& name, const QByteArray& content) const {
        QFile file(path(name));
        const bool isWritten =
            file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
        Q_ASSERT(isWritten);
    }

    static QByteArray started() {
        return R"({"event":"start","recipe":"draft","model":"Tiny","fingerprint":"f00d",)"
               R"("profile":"full","seed":1,"threads":2,"precision":"float32",)"
               R"("trained_weights":4200000,"answer_tokens":1200000,"epochs":3,"steps":null,)"
               R"("minutes":null})";
    }

    static QByteArray collected(int tokens) {
        return QByteArray(R"({"event":"collect","prompts":40,"answer_tokens":)") +
               QByteArray::number(tokens) +
               R"(,"planned":1200000,"tokens_per_s":300.5,"eta_s":3600})";
    }

    static QByteArray stepped(int step, double loss) {
        return QByteArray(R"({"event":"step","step":)") + QByteArray::number(step) +
               R"(,"steps":1000,"loss":)" + QByteArray::number(loss) +
               R"(,"parts":{},"rate":0.001,"tokens_per_s":700,"eta_s":90})";
    }

    static QByteArray evaluated(int step, double first, bool isBest = true) {
        const QByteArray score = R"("acceptance":[)" + QByteArray::number(first) +
                                 R"(,0.5,0.4,0.3],"tokens_per_round":2.1)";
        return R"({"event":"eval","step":)" + QByteArray::number(step) + ',' + score +
               R"(,"best":)" + (isBest ? "true" : "false") + R"(,"tasks":{"code":{)" + score +
               R"(},"long_story":{"acceptance":[0.25,0.2,0.1,0.1],"tokens_per_round":1.5}}})";
    }

    static QByteArray prices(const char* when = "start") {
        return QByteArray(R"({"event":"prices","when":")") + when +
               R"(","plain_ms":8,"c":0.05,"v":{"2":1.12,"3":1.2,"4":1.35},"rounds":30,)"
               R"("break_even":0.17,"drafted":1})";
    }

    static QByteArray selfPrompts(int written, int planned = 500) {
        return R"({"event":"self_prompts","written":)" + QByteArray::number(written) +
               R"(,"planned":)" + QByteArray::number(planned) + "}";
    }

    /// What all three decoders did with a prompt, of which there are `of`: 100 tokens each.
    static QByteArrayList compared(
        int line, double plainMs, double withMs, double withoutMs, int of, bool isEqual = true) {
        const auto answer = [&](const char* variant, double ms, int rounds, bool equal) {
            return R"({"event":"prompt","data":"d","line":)" + QByteArray::number(line) +
                   R"(,"task":")" + (line % 2 == 0 ? "code" : "long_story") + R"(","variant":")" +
                   variant + R"(","output_tokens":100,"steps":)" + QByteArray::number(rounds) +
                   R"(,"draft_steps":80,"accepted":40,"decode_ms":[)" + QByteArray::number(ms / 2) +
                   ',' + QByteArray::number(ms / 2) + R"(],"equal":)" + (equal ? "true" : "false") +
                   R"(,"of":)" + QByteArray::number(of) + '}';
        };
        return {answer("vanilla", plainMs, 100, true),
                answer("with", withMs, 50, isEqual),
                answer("without", withoutMs, 60, true)};
    }

    static QByteArray checkpoint() { return R"({"event":"checkpoint","path":"/x"})"; }

    static QByteArray done(const QString& path, bool isHeldOut = true) {
        return R"({"event":"done","path":")" + path.toUtf8() +
               R"(","bytes":4500000,"acceptance":[0.6,0.5,0.4,0.3],"tokens_per_round":2.1,)" +
               R"("held_out":)" + (isHeldOut ? "true" : "false") +
               R"(,"tasks":{"code":{"acceptance":[0.6,0.5,0.4,0.3],"tokens_per_round":2.1}},)"
               R"("head_coverage":0.98,"answer_tokens":1200000,"steps":1000,)"
               R"("seconds":{"collect":3600,"train":7200}})";
    }

    // Of a copy of the model.
    static QByteArray copyStarted(const char* recipe = "layerskip") {
        return started().replace(R"("recipe":"draft")", R"("recipe":")" + QByteArray(recipe) + '"');
    }

    static QByteArray copyStepped(int step, double distance, double drafting) {
        return stepped(step, distance)
            .replace(R"("parts":{})",
                     R"("parts":{"likelihood":0.1,"drafting":)" + QByteArray::number(drafting) +
                         R"(,"gradient":1})");
    }

    static QByteArray withExits(QByteArray line, const QByteArray& exits) {
        line.chop(1);
        return line + R"(,"exits":[)" + exits + "]}";
    }

    /// Of masks: no draft reaches further than two.
    static QByteArray masksEvaluated(int step) {
        const QByteArray score = R"("acceptance":[0.7,0.3,0,0],"tokens_per_round":1.9)";
        return R"({"event":"eval","step":)" + QByteArray::number(step) + ',' + score +
               R"(,"best":true,"tasks":{"code":{)" + score + "}}}";
    }

    static QByteArray copyDone(const QString& path, bool isKept = true) {
        QByteArray line = done(path);
        line.chop(1);
        return line + R"(,"mask_token":null,"quality":{"tokens":2000,"perplexity_before":12,)" +
               R"("perplexity":)" + (isKept ? "12.24" : "15") +
               R"(,"most_perplexity":12.36,"agreement":)" + (isKept ? "0.96" : "0.81") +
               R"(,"least_agreement":0.9,"kept":)" + (isKept ? "true" : "false") +
               R"(},"exits":[0.05,0.2,0.5]})";
    }

    static QByteArray error() {
        return R"({"event":"error","code":"unsupported","message":"It cannot be.","hint":"Wait."})";
    }

private:
    static constexpr const char* kScript = R"(#!/usr/bin/env python3
import os
import signal
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
here = os.path.dirname(sys.argv[0])


def read(name):
    with open(os.path.join(here, name), encoding="utf-8") as file:
        return file.read()


if sys.argv[1] == "compare":
    adapter = sys.argv[sys.argv.index("--draft-adapter") + 1]
    with open(adapter + ".compared", "a", encoding="utf-8") as told:
        told.write(" ".join(sys.argv[1:]) + "\n")
    sys.stdout.write(read("compared-lines"))
    sys.stdout.flush()
    if read("compared-end") == "wait":
        signal.sigwait({signal.SIGINT})
    if read("compared-end") == "fail":
        sys.stderr.write("swift-run: It failed.\n  Look.\n")
        sys.exit(4)
    sys.exit(0)
out = sys.argv[sys.argv.index("--out") + 1]
os.makedirs(out + ".work", exist_ok=True)
with open(out + ".work/plan.json", "w", encoding="utf-8"):
    pass
with open(out + ".told", "a", encoding="utf-8") as told:
    told.write(" ".join(sys.argv[1:]) + "\n")
sys.stdout.write(read("lines"))
sys.stdout.flush()
end = read("end")
if end == "done" and "--recipe" in sys.argv:
    os.makedirs(out, exist_ok=True)
elif end == "done":
    with open(out, "w", encoding="utf-8"):
        pass
if end == "fail":
    sys.stderr.write("swift-run: It failed.\n  Look.\n")
    sys.exit(4)
if end == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
if end == "wait":
    signal.sigwait({signal.SIGINT})
    sys.stdout.write('{"event":"remark","text":"The same command with --resume goes on."}\n')
    sys.stdout.write('{"event":"error","code":"cancelled","message":"Stopped.","hint":""}\n')
    sys.exit(130)
if end == "full":
    signal.sigwait({signal.SIGINT})
    sys.stdout.write('{"event":"error","code":"io","message":"It is full.","hint":"Make room."}\n')
    sys.exit(7)
if end == "save":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    count = 0
    while signal.sigwait({signal.SIGINT, signal.SIGTERM}) == signal.SIGINT:
        count += 1
        with open(out + ".interrupts", "w", encoding="utf-8") as told:
            told.write(str(count))
    with open(out + ".saved", "w", encoding="utf-8"):
        pass
    sys.exit(130)
)";

    QTemporaryDir m_folder;
};

/// A session of trainings on a script, as a window has one.
struct TuningBench {
    using Script = ScriptedTuning;

    std::unique_ptr<Script> m_script;
    std::unique_ptr<ui::TuningSession> m_session;

    void clear() {
        m_session.reset();
        m_script.reset();
    }

    void renew() {
        m_script = std::make_unique<Script>();
        open();
    }

    ui::TuningSession& session() { return *m_session; }

    ui::TuningState state() const { return m_session->state(); }

    void open() {
        m_session = std::make_unique<ui::TuningSession>(m_script->places());
        load(Script::model());
    }

    /// And all that is known of it.
    void load(const ui::TuningModel& model) {
        m_session->setModel(model);
        QTRY_VERIFY(!m_session->isReading());
    }

    /// As after the end of the program, however it came.
    void reopen() {
        m_session.reset();
        open();
    }

    QStringList told() const { return Script::told(m_session->output()); }

    void finish(std::optional<ui::TuningChoice> choice = {}) {
        m_script->say({Script::started(),
                       Script::stepped(1000, 2.0),
                       Script::done(QStringLiteral("/result"))});
        m_script->endBy("done");
        session().start(choice.value_or(m_script->choice()));
        QTRY_VERIFY(state() == ui::TuningState::Finished);
    }

    /// Of so many; the others were left out.
    void compareFour(int planned) {
        QByteArrayList lines;
        for (int i = 1; i <= 4; ++i)
            lines += Script::compared(i, 200, 100, 160, planned);
        m_script->sayCompared(lines);
        m_script->endComparisonBy("done");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ui::ComparisonState::Done);
    }
};

} // namespace support
