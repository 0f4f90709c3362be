// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/drafts/draft_adapter.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <fstream>
#include <functional>
#include <new>
#include <utility>

using namespace engine;
using support::AdapterKind;

namespace {

DraftAdapter tiny() { return support::makeAdapter(support::tinyConfig(), AdapterKind::Random, 3); }

std::string replaced(std::string text, const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    ENGINE_CHECK(at != std::string::npos, "{} is not there", old);
    return text.replace(at, old.size(), with);
}

/// A network for whose draft network memory runs out.
class FullTransformer final : public Transformer {
public:
    const ModelConfig& config() const override { return m_config; }

    Precision precision() const override { return Precision::F32; }

    Result<KvCache> makeCache(Position) const override { return nothing(); }

    Result<void> forwardInto(const ForwardRequest&, KvCache&, ForwardResult&) override {
        return nothing();
    }

    std::size_t weightBytes() const override { return 0; }

    Result<std::unique_ptr<Transformer>> makeDraftNetwork(const ModelConfig&,
                                                          const WeightSource&) const override {
        throw std::bad_alloc();
    }

private:
    static Error nothing() { return {ErrorCode::Unsupported, "It computes nothing.", ""}; }

    ModelConfig m_config = support::tinyConfig();
};

} // namespace

class DraftAdapterTest : public QObject {
    Q_OBJECT

private slots:
    void whatIsWrittenIsRead();
    void eightBitNumbersAreScaled();
    void numbersMayStayInTheFile();
    void damagedAndForeignFilesAreRefused_data();
    void damagedAndForeignFilesAreRefused();
    void everyCutIsRefused();
    void aHeaderThatLiesTakesNoMemory();
    void anAdapterOfAnotherModelIsRefused();
    void anAdapterThatMemoryDoesNotHoldIsRefused();
    void theUsersComesBeforeTheShippedOne();

private:
    Result<DraftAdapter> read(const std::string& bytes) {
        m_folder.write("a.safetensors", bytes);
        return readDraftAdapter(m_folder.path() / "a.safetensors");
    }

    test_support::TemporaryFolder m_folder;
};

void DraftAdapterTest::whatIsWrittenIsRead() {
    const DraftAdapter wanted = tiny();
    const auto found = read(support::adapterFile(wanted));
    QVERIFY2(found.hasValue(), found ? "" : found.error().message.c_str());
    QCOMPARE(found.value().tensors, wanted.tensors);
    QCOMPARE(found.value().headIds, wanted.headIds);
    QCOMPARE(found.value().fingerprints, wanted.fingerprints);
    QCOMPARE(found.value().name, std::string("a.safetensors"));
    QCOMPARE(found.value().about, wanted.about);
    QCOMPARE(found.value().sizes.window, 6);
    QCOMPARE(found.value().sizes.ropeTheta, 10000.0);
}

/// "layer.0.mlp.gate" is [96, 48], which is no whole number of groups of 32; of 64 numbers it is.
void DraftAdapterTest::eightBitNumbersAreScaled() {
    const DraftAdapter adapter =
        support::makeAdapter(support::expertConfig(), AdapterKind::Bigram, 1);
    const std::string plain = support::adapterFile(adapter);
    const std::string entry =
        R"("layer.0.mlp.gate":{"dtype":"F32","shape":[96,64],"data_offsets":[)";
    const std::size_t at = plain.find(entry);
    QVERIFY(at != std::string::npos);
    std::uint64_t length = 0;
    std::memcpy(&length, plain.data(), sizeof length);
    const std::size_t begin = std::stoull(plain.substr(at + entry.size()));
    const std::size_t floats = 96 * 64 * 4;
    // The last 96 * 64 * 4 - 96 * 64 - 96 * 2 * 2 bytes of the tensor become one of their own.
    const std::size_t mid = begin + 96 * 64;
    const std::size_t end = mid + 96 * 2 * 2;
    std::string header = plain.substr(8, static_cast<std::size_t>(length));
    header = replaced(
        header,
        fmt::format("{}{},{}]}}", entry, begin, begin + floats),
        fmt::format(
            R"("layer.0.mlp.gate":{{"dtype":"I8","shape":[96,64],"data_offsets":[{},{}]}},)"
            R"("layer.0.mlp.gate.scale":{{"dtype":"F16","shape":[96,2],"data_offsets":[{},{}]}})",
            begin,
            mid,
            mid,
            end));
    std::string data = plain.substr(8 + static_cast<std::size_t>(length));
    std::string numbers;
    for (int i = 0; i < 96 * 64; ++i)
        numbers += static_cast<char>(i % 2 == 0 ? 3 : -2);
    for (int i = 0; i < 96 * 2; ++i)
        numbers += std::string(i % 2 == 0 ? "\x00\x38" : "\x00\x40", 2); // .5 and 2 as halves
    data.replace(begin, floats, numbers);
    // What lies behind has moved.
    std::string moved;
    const std::size_t shift = floats - (end - begin);
    for (std::size_t i = 0; i < header.size();) {
        const std::string key = R"("data_offsets":[)";
        if (header.compare(i, key.size(), key) != 0) {
            moved += header[i++];
            continue;
        }
        std::size_t next = 0;
        std::size_t from = std::stoull(header.substr(i + key.size()), &next);
        const std::size_t comma = i + key.size() + next;
        std::size_t to = std::stoull(header.substr(comma + 1), &next);
        i = comma + 1 + next;
        if (from >= begin + floats) {
            from -= shift;
            to -= shift;
        }
        moved += fmt::format("{}{},{}", key, from, to);
    }
    const auto found = read(test_support::safetensorsFile(moved, data));
    QVERIFY2(found.hasValue(), found ? "" : found.error().message.c_str());
    const auto& gate = found.value().tensors.at("model.layers.0.mlp.gate_proj.weight");
    QCOMPARE(gate[0], 1.5F);
    QCOMPARE(gate[1], -1.0F);
    QCOMPARE(gate[32], 6.0F);
    QCOMPARE(gate[63], -4.0F);
    const auto opened = openDraftAdapter(m_folder.path() / "a.safetensors");
    QVERIFY(opened.hasValue());
    const auto& [name, whole] = *found.value().tensors.find("model.layers.0.mlp.gate_proj.weight");
    std::vector<float> rows(3 * 64);
    const WeightSource& stored = *opened.value().stored;
    QVERIFY(stored.readRows(*stored.find(name), 2, 3, rows).hasValue());
    QVERIFY(std::equal(rows.begin(), rows.end(), whole.begin() + 2 * 64));
}

void DraftAdapterTest::numbersMayStayInTheFile() {
    ModelConfig config = support::tinyConfig();
    config.hiddenSize = 512;
    const DraftAdapter wanted = support::makeAdapter(config, AdapterKind::Random, 3);
    const auto path = m_folder.write("a.safetensors", support::adapterFile(wanted));
    const test_support::PeakAllocation peak;
    const auto opened = openDraftAdapter(path);
    QVERIFY2(opened.hasValue(), opened ? "" : opened.error().message.c_str());
    QVERIFY2(peak.bytes() < 500'000, qPrintable(QString::number(peak.bytes())));
    QVERIFY(opened.value().tensors.empty());
    for (const auto& [name, values] : wanted.tensors) {
        const TensorInfo* info = opened.value().stored->find(name);
        QVERIFY(info != nullptr);
        QCOMPARE(readTensor(*opened.value().stored, name, info->shape).value(), values);
    }
}

void DraftAdapterTest::damagedAndForeignFilesAreRefused_data() {
    QTest::addColumn<std::string>("bytes");
    QTest::addColumn<QString>("says");
    const DraftAdapter good = tiny();
    const std::string description = support::adapterDescription(good);
    const auto described =
        [&](const char* name, const std::string& old, const std::string& with, const char* says) {
            QTest::newRow(name) << support::adapterFile(good, replaced(description, old, with))
                                << says;
        };
    described("a later version", R"("version":1)", R"("version":2)", "version 2");
    described("no version", R"("version":1,)", "", "no version");
    described("no model", R"(["0123456789abcdef0123456789abcdef"])", "[]", "fingerprints");
    described("a number as model", R"("0123456789abcdef0123456789abcdef")", "7", "fingerprint");
    described("another head", R"("kind":"list")", R"("kind":"candidates")", "candidates");
    described("no width", R"("hidden":48,)", "", "hidden");
    described("half a width", R"("hidden":48)", R"("hidden":47.5)", "hidden");
    described("a huge width", R"("hidden":48)", R"("hidden":99999999999)", "hidden");
    described("another width", R"("hidden":48)", R"("hidden":64)", "shape");
    described("no layer", R"("layers":1)", R"("layers":0)", "layers");
    described("too many layers", R"("layers":1)", R"("layers":9)", "layers");
    described("a layer more", R"("layers":1)", R"("layers":2)", "layer.1");
    described("a negative window", R"("window":6)", R"("window":-1)", "window");
    described("odd heads", R"("head_size":8)", R"("head_size":7)", "do not fit");
    described("heads in no groups", R"("kv_heads":2)", R"("kv_heads":3)", "do not fit");
    described("no epsilon", R"("epsilon":1e-05)", R"("epsilon":0)", "epsilon");
    described("a negative theta", R"("theta":10000)", R"("theta":-1)", "theta");
    described("three streams", R"("streams":1)", R"("streams":3)", "several streams");
    QTest::newRow("no JSON") << support::adapterFile(good, "{") << "description";
    QTest::newRow("a list") << support::adapterFile(good, "[]") << "no version";
    const std::string file = support::adapterFile(good);
    QTest::newRow("no adapter") << replaced(file, "swift_studio_draft", "swift_studio_dreft")
                                << "no draft adapter";
    QTest::newRow("no safetensors") << std::string("GGUF, not this") << "header";
    QTest::newRow("empty") << std::string() << "header";
    QTest::newRow("an unknown tensor")
        << replaced(file, R"("norm.out")", R"("norm.oat")") << "norm.out";
    const auto changed = [&](const char* name, const char* says, auto&& change) {
        DraftAdapter adapter = good;
        change(adapter);
        QTest::newRow(name) << support::adapterFile(adapter) << says;
    };
    changed("a missing tensor", "layer.0.attn.q", [](DraftAdapter& adapter) {
        adapter.tensors.erase("model.layers.0.self_attn.q_proj.weight");
    });
    changed("no number", "norm.out", [](DraftAdapter& adapter) {
        adapter.tensors["model.norm.weight"][7] = std::numeric_limits<float>::quiet_NaN();
    });
    changed("infinity", "in.weight", [](DraftAdapter& adapter) {
        adapter.tensors["draft.input.weight"][7] = std::numeric_limits<float>::infinity();
    });
    changed("ids twice", "ascend", [](DraftAdapter& adapter) { adapter.headIds[4] = 2; });
    changed("a negative id", "ascend", [](DraftAdapter& adapter) { adapter.headIds[4] = -2; });
    changed("no ids", "head.ids", [](DraftAdapter& adapter) { adapter.headIds.clear(); });
    DraftAdapter more = good;
    std::string extra = support::adapterFile(more);
    QTest::newRow("ids as floats")
        << replaced(extra, R"("dtype":"U32")", R"("dtype":"F32")") << "head.ids";
}

void DraftAdapterTest::damagedAndForeignFilesAreRefused() {
    QFETCH(const std::string, bytes);
    QFETCH(const QString, says);
    const auto found = read(bytes);
    QVERIFY(!found.hasValue());
    const QString message = QString::fromStdString(found.error().message);
    QVERIFY2(message.contains(says), qPrintable(message));
    QVERIFY2(message.contains("a.safetensors") || message.contains("tensor"), qPrintable(message));
    QVERIFY(!found.error().hint.empty());
}

void DraftAdapterTest::everyCutIsRefused() {
    const std::string whole = support::adapterFile(tiny());
    for (std::size_t length = 0; length < whole.size(); length += 1 + length / 7)
        QVERIFY(!read(whole.substr(0, length)).hasValue());
}

void DraftAdapterTest::aHeaderThatLiesTakesNoMemory() {
    const std::uint64_t length = 900'000'000;
    const auto path = m_folder.write("a.safetensors", test_support::bytesOf(length));
    std::filesystem::resize_file(path, length + sizeof length); // zeros take no room on the disk
    const test_support::PeakAllocation peak;
    const auto refused = readDraftAdapter(path);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    QVERIFY(refused.error().message.find("900000000") != std::string::npos);
    QVERIFY2(peak.bytes() < 1'000'000, qPrintable(QString::number(peak.bytes())));
}

void DraftAdapterTest::anAdapterOfAnotherModelIsRefused() {
    const DraftAdapter adapter = tiny();
    const ModelConfig model = support::tinyConfig();
    const std::string& own = adapter.fingerprints.front();
    QVERIFY(checkFits(adapter, model, own).hasValue());
    const std::string other(32, 'f');
    const auto foreign = checkFits(adapter, model, other);
    QVERIFY(!foreign.hasValue());
    QVERIFY(foreign.error().message.find(own) != std::string::npos);
    QVERIFY(foreign.error().message.find(other) != std::string::npos);
    ModelConfig wider = model;
    wider.hiddenSize = 64;
    QVERIFY(!checkFits(adapter, wider, own).hasValue());
    ModelConfig fewer = model;
    fewer.vocabSize = adapter.headIds.back();
    QVERIFY(!checkFits(adapter, fewer, own).hasValue());
    fewer.vocabSize += 1;
    QVERIFY(checkFits(adapter, fewer, own).hasValue());
}

void DraftAdapterTest::anAdapterThatMemoryDoesNotHoldIsRefused() {
    const DraftAdapter adapter = tiny();
    m_folder.write("a.safetensors", support::adapterFile(adapter));
    FullTransformer model;
    const auto adopted = adoptDraftAdapter(
        model, adapter.fingerprints.front(), (m_folder.path() / "a.safetensors").string());
    QVERIFY(!adopted.hasValue());
    QCOMPARE(adopted.error().code, ErrorCode::NoMemory);
    QVERIFY(adopted.error().message.find("a.safetensors") != std::string::npos);
    QVERIFY(!adopted.error().hint.empty());
    QVERIFY(model.draftModel() == nullptr);
}

void DraftAdapterTest::theUsersComesBeforeTheShippedOne() {
    const test_support::TemporaryFolder data;
    const test_support::TemporaryFolder shipped;
    qputenv("SWIFT_STUDIO_DATA", QByteArray::fromStdString(data.path().string()));
    DraftAdapter adapter = tiny();
    const std::string fingerprint = adapter.fingerprints.front();
    const auto model = makePlainTransformer(
        support::tinyConfig(), support::randomWeights(support::tinyConfig(), 3), {});
    QVERIFY(model.hasValue());
    const auto aboutOf = [&](const std::string& asked) {
        model.value()->useDraftModel(nullptr);
        const auto notes = adoptDraftAdapter(*model.value(), fingerprint, asked, shipped.path());
        ENGINE_CHECK(notes.hasValue(), "{}", notes.error().message);
        const DraftModel* found = model.value()->draftModel();
        return std::pair(found == nullptr ? std::string("nothing") : found->about,
                         notes.value().size());
    };
    const auto about = [](const char* text, std::size_t notes) {
        return std::pair(std::string(text), notes);
    };
    QVERIFY(aboutOf("") == about("nothing", 0));
    adapter.about = "shipped";
    shipped.write(fingerprint + ".safetensors", support::adapterFile(adapter));
    QVERIFY(aboutOf("") == about("shipped", 0));
    QVERIFY(aboutOf(kNoDraftAdapter) == about("nothing", 0));
    const std::filesystem::path users = usersDraftAdapter(fingerprint);
    std::filesystem::create_directories(users.parent_path());
    const auto write = [&](const std::string& bytes) {
        std::ofstream(users, std::ios::binary) << bytes;
    };
    adapter.about = "the user's";
    write(support::adapterFile(adapter));
    QVERIFY(aboutOf("") == about("the user's", 0));
    write("damaged");
    QVERIFY(aboutOf("") == about("shipped", 1));
}

QTEST_GUILESS_MAIN(DraftAdapterTest)
#include "draft_adapter_test.moc"
