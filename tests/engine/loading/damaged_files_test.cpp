// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/model_files.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace test_support;

namespace {

constexpr std::size_t kLargestFile = 4096;
constexpr int kFlips = 2000;
constexpr std::uint64_t kSeed = 20250611;
constexpr std::size_t kMaxExtraBytes = std::size_t(64) << 20U;

/// Opens a model and reads all that is in it; the first error, if there is one.
Result<void> loadAll(const std::filesystem::path& path) {
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
    ENGINE_TRY_DO(files.config());
    ENGINE_TRY_DO(files.chatTemplate());
    ENGINE_TRY(const auto weights, files.weights());
    for (const TensorInfo& tensor : weights->tensors()) {
        ENGINE_TRY_DO(readTensor(*weights, tensor.name, tensor.shape));
        std::vector<std::byte> raw(tensor.byteSize);
        ENGINE_TRY_DO(weights->readRawRows(tensor, 0, tensor.rows(), raw));
    }
    return {};
}

} // namespace

/// Every cut and 2,000 bit flips of one small valid file a format: a clear error or a valid load,
/// within two seconds and the size of the file and 64 MB.
class DamagedFilesTest : public QObject {
    Q_OBJECT

private slots:
    void safetensorsSurvives();
    void shardSurvives();
    void shardIndexSurvives();
    void ggufSurvives();
    void configSurvives();
    void generationConfigSurvives();

private:
    /// Damages `name` in the folder, loads `model`, and puts the file right again.
    void damage(const TemporaryFolder& folder,
                const std::string& name,
                const std::string& bytes,
                const std::filesystem::path& model);
};

void DamagedFilesTest::damage(const TemporaryFolder& folder,
                              const std::string& name,
                              const std::string& bytes,
                              const std::filesystem::path& model) {
    QVERIFY2(bytes.size() <= kLargestFile, qPrintable(QString::number(bytes.size())));
    folder.write(name, bytes);
    const auto whole = loadAll(model);
    QVERIFY2(whole, whole ? "" : whole.error().message.c_str());
    int refused = 0;
    const auto visit = [&](const std::string& damaged, std::size_t where) {
        folder.write(name, damaged);
        const support::ProcessorClock clock;
        const PeakAllocation peak;
        const auto loaded = loadAll(model);
        const std::string place = fmt::format("{} at {}", name, where);
        QVERIFY2(peak.bytes() <= damaged.size() + kMaxExtraBytes, place.c_str());
        QVERIFY2(clock.ms() < support::kEndsSoonMs, place.c_str());
        if (loaded)
            return;
        ++refused;
        QVERIFY2(!loaded.error().message.empty() && !loaded.error().hint.empty(), place.c_str());
        // The message must name the file, the tensor or the key that is wrong.
        QVERIFY2(loaded.error().message.size() > 20, loaded.error().message.c_str());
    };
    forEachCut(bytes, visit);
    QVERIFY2(refused > static_cast<int>(bytes.size()) - 100, "cuts go unnoticed");
    forEachFlip(bytes, kFlips, kSeed, visit);
    folder.write(name, bytes);
    QVERIFY(loadAll(model));
}

void DamagedFilesTest::safetensorsSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    damage(folder, "model.safetensors", tinySafetensors().toBytes(), folder.path());
}

void DamagedFilesTest::shardSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors.index.json",
                 R"({"weight_map":{"model.norm.weight":"model-1.safetensors",)"
                 R"("half":"model-1.safetensors"}})");
    TinySafetensors shard;
    shard.addFloats("model.norm.weight", {4});
    shard.add("half", "F16", {2, 3}, std::string(12, '\x30'));
    damage(folder, "model-1.safetensors", shard.toBytes(), folder.path());
}

void DamagedFilesTest::shardIndexSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    TinySafetensors first;
    first.addFloats("model.norm.weight", {4});
    folder.write("model-1.safetensors", first.toBytes());
    TinySafetensors second;
    second.addFloats("lm_head.weight", {4, 4});
    folder.write("model-2.safetensors", second.toBytes());
    damage(folder,
           "model.safetensors.index.json",
           R"({"metadata":{"total_size":80},"weight_map":{"lm_head.weight":"model-2.safetensors",)"
           R"("model.norm.weight":"model-1.safetensors"}})",
           folder.path());
}

void DamagedFilesTest::ggufSurvives() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTokenizer(file);
    addTinyTensors(file);
    const TemporaryFolder folder;
    damage(folder, "m.gguf", file.toBytes(), folder.path() / "m.gguf");
}

void DamagedFilesTest::configSurvives() {
    const TemporaryFolder folder;
    folder.write("model.safetensors", tinySafetensors().toBytes());
    damage(folder, "config.json", tinyConfigJson(), folder.path());
}

void DamagedFilesTest::generationConfigSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors", tinySafetensors().toBytes());
    folder.write("tokenizer_config.json", R"({"chat_template":"x"})");
    damage(folder, "generation_config.json", R"({"eos_token_id":[2,4],"x":null})", folder.path());
}

QTEST_APPLESS_MAIN(DamagedFilesTest)
#include "damaged_files_test.moc"
