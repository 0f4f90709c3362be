// SPDX-License-Identifier: Apache-2.0
// What device/driver_functions.h writes down of NVIDIA's driver is what cuda.h says: compared by
// the compiler wherever that header was found (CUDA_HEADER_FOUND).
#include "plugins/backend_cuda/device/driver_functions.h"

#include <QTest>

#ifdef CUDA_HEADER_FOUND
#include <cuda.h>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace backend_cuda;

namespace {

template <typename Ours, typename Theirs> constexpr bool isAlike();

/// What a pointer leads to. Handles are opaque on both sides; a UUID is a structure of bytes.
template <typename Ours, typename Theirs> constexpr bool isPointedAtAlike() {
    if constexpr (std::is_const_v<Ours> != std::is_const_v<Theirs>)
        return false;
    else if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>)
        return std::is_void_v<Ours> && std::is_void_v<Theirs>;
    else if constexpr (std::is_same_v<Theirs, CUuuid>)
        return sizeof(Ours) == 1 && alignof(CUuuid) == 1 && sizeof(CUuuid) == driver::kUuidBytes;
    else if constexpr (std::is_class_v<Ours> || std::is_class_v<Theirs>)
        return std::is_class_v<Ours> && std::is_class_v<Theirs>;
    else
        return isAlike<Ours, Theirs>();
}

/// Whether a caller hands both over in the same way. An enumeration is the whole number under it.
template <typename Ours, typename Theirs> constexpr bool isAlike() {
    if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) {
        if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
            return isPointedAtAlike<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
        else
            return false;
    } else if constexpr (std::is_enum_v<Theirs>) {
        return std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs);
    } else {
        return std::is_integral_v<Ours> && std::is_integral_v<Theirs> &&
               sizeof(Ours) == sizeof(Theirs) && std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
    }
}

template <typename Ours, typename Theirs> struct SameCall : std::false_type {};

template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct SameCall<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
    static constexpr bool value =
        isAlike<OurResult, TheirResult>() && (isAlike<Ours, Theirs>() && ...);
};

// NOLINTBEGIN(bugprone-macro-parentheses)

// Each member of driver::Functions, in their order, and what the header calls it.
#define EACH_DRIVER_FUNCTION(CHECK)                                                                \
    CHECK(init, cuInit)                                                                            \
    CHECK(driverVersion, cuDriverGetVersion)                                                       \
    CHECK(deviceCount, cuDeviceGetCount)                                                           \
    CHECK(deviceGet, cuDeviceGet)                                                                  \
    CHECK(deviceName, cuDeviceGetName)                                                             \
    CHECK(deviceUuid, cuDeviceGetUuid)                                                             \
    CHECK(deviceAttribute, cuDeviceGetAttribute)                                                   \
    CHECK(deviceTotalMemory, cuDeviceTotalMem)                                                     \
    CHECK(retainPrimaryContext, cuDevicePrimaryCtxRetain)                                          \
    CHECK(releasePrimaryContext, cuDevicePrimaryCtxRelease)                                        \
    CHECK(setCurrentContext, cuCtxSetCurrent)                                                      \
    CHECK(memoryInfo, cuMemGetInfo)                                                                \
    CHECK(allocate, cuMemAlloc)                                                                    \
    CHECK(release, cuMemFree)                                                                      \
    CHECK(fill, cuMemsetD8Async)                                                                   \
    CHECK(copyToDevice, cuMemcpyHtoDAsync)                                                         \
    CHECK(copyToHost, cuMemcpyDtoHAsync)                                                           \
    CHECK(streamCreate, cuStreamCreate)                                                            \
    CHECK(streamDestroy, cuStreamDestroy)                                                          \
    CHECK(streamSynchronize, cuStreamSynchronize)                                                  \
    CHECK(moduleLoad, cuModuleLoadData)                                                            \
    CHECK(moduleUnload, cuModuleUnload)                                                            \
    CHECK(moduleFunction, cuModuleGetFunction)                                                     \
    CHECK(functionSetAttribute, cuFuncSetAttribute)                                                \
    CHECK(launchCooperative, cuLaunchCooperativeKernel)                                            \
    CHECK(canAccessPeer, cuDeviceCanAccessPeer)                                                    \
    CHECK(enablePeerAccess, cuCtxEnablePeerAccess)                                                 \
    CHECK(copyToPeer, cuMemcpyPeerAsync)                                                           \
    CHECK(errorName, cuGetErrorName)

#define CHECK_CALL(member, function)                                                               \
    static_assert(SameCall<decltype(driver::Functions::member), decltype(&function)>::value,       \
                  #member " is called otherwise");
EACH_DRIVER_FUNCTION(CHECK_CALL)

// NOLINTEND(bugprone-macro-parentheses)

static_assert(isAlike<driver::Status, CUresult>());
static_assert(isAlike<driver::DeviceNumber, CUdevice>());
static_assert(isAlike<driver::Address, CUdeviceptr>());

static_assert(driver::kSuccess == CUDA_SUCCESS);
static_assert(driver::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(driver::kUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(driver::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(driver::kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(driver::kPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(driver::kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(driver::kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(driver::kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(driver::kCooperativeLaunch == CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
static_assert(driver::kMaxSharedBytes == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(driver::kFunctionMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(driver::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(driver::kOldestVersion / 1000 == CUDA_VERSION / 1000); // of the kernels' compiler

constexpr CUresult kLosingThere[] = {
    CUDA_ERROR_DEINITIALIZED,        CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUDA_ERROR_INVALID_CONTEXT,      CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTAINED,
    CUDA_ERROR_ILLEGAL_ADDRESS,      CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_TENSOR_MEMORY_LEAK,   CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUDA_ERROR_EXTERNAL_DEVICE,      CUDA_ERROR_UNKNOWN};
static_assert(std::size(kLosingThere) == std::size(driver::kLosing));
static_assert([] {
    for (std::size_t i = 0; i < std::size(kLosingThere); ++i)
        if (driver::kLosing[i] != static_cast<int>(kLosingThere[i]))
            return false;
    return true;
}());

// A name of the header may stand for a newer version of the function.
#define QUOTED(text) #text
#define QUOTED_NAME(member, function) QUOTED(function),
constexpr std::string_view kNamesThere[] = {EACH_DRIVER_FUNCTION(QUOTED_NAME)};

} // namespace
#endif

class CudaHeaderTest : public QObject {
    Q_OBJECT

private slots:
    void everyNameIsThatOfTheHeader();
    void everyNumberAndCallIsThatOfTheHeader();
};

void CudaHeaderTest::everyNameIsThatOfTheHeader() {
#ifdef CUDA_HEADER_FOUND
    std::vector<std::string> names;
    driver::Functions functions;
    driver::forEachFunction(functions,
                            [&names](auto&, const char* name) { names.emplace_back(name); });
    QCOMPARE(names.size(), std::size(kNamesThere));
    for (std::size_t i = 0; i < names.size(); ++i)
        QCOMPARE(names[i], std::string(kNamesThere[i]));
    // All members are functions, and each was visited.
    QCOMPARE(names.size() * sizeof(void*), sizeof(driver::Functions));
#else
    QSKIP("There is no cuda.h here: the set-up fetches it with LibTorch or the compiler for GPUs.");
#endif
}

void CudaHeaderTest::everyNumberAndCallIsThatOfTheHeader() {
#ifndef CUDA_HEADER_FOUND
    QSKIP("There is no cuda.h here: the set-up fetches it with LibTorch or the compiler for GPUs.");
#endif
    // The compiler has compared them.
}

QTEST_GUILESS_MAIN(CudaHeaderTest)
#include "cuda_header_test.moc"
