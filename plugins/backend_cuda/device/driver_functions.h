// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>

/// The few functions, types and numbers of NVIDIA's driver that are used here. They are a stable C
/// interface, so no header of the toolkit is needed to build; cuda_header_test compares them with
/// it.
namespace backend_cuda::driver {

using Status = int; // CUresult
using DeviceNumber = int;
using Address = std::uint64_t; // CUdeviceptr

struct ContextOpaque;
struct StreamOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
using Context = ContextOpaque*;
using Stream = StreamOpaque*;
using Module = ModuleOpaque*;
using Function = FunctionOpaque*;

constexpr Status kSuccess = 0;
constexpr Status kOutOfMemory = 2;
constexpr Status kUnavailable = 46; // also where another program has it for itself
constexpr Status kNoDevice = 100;
constexpr Status kNoBinaryForGpu = 209;
constexpr Status kPeerAccessAlreadyEnabled = 704;
constexpr int kUuidBytes = 16;
constexpr int kMultiprocessorCount = 16; // attributes of a device
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kCooperativeLaunch = 95;
constexpr int kMaxSharedBytes = 97;          // that a block may ask for
constexpr int kFunctionMaxDynamicShared = 8; // attribute of a function
constexpr unsigned kStreamNonBlocking = 1;   // its own order
constexpr int kOldestVersion = 13000;        // of CUDA, of the driver
constexpr int kOldestCapability = 80;

/// Errors behind which every call in the same context answers with the same error: of the GPU's
/// memory or links, of a kernel that went wrong, and of a context or a GPU that is gone.
constexpr Status kLosing[] = {
    4,            // deinitialised
    kUnavailable, //
    201,          // invalid context
    214,          // uncorrectable error of its memory
    220,          // the same of its links
    226,          // contained by the GPU
    700,          // illegal address
    702,          // launch timed out
    709,          // the context is destroyed
    710,          // assertion
    714,          // of a kernel's stack
    715,          // illegal instruction
    716,          // misaligned address
    717,          // invalid address space
    718,          // invalid program counter
    719,          // launch failed
    721,          // tensor memory leaked
    810,          // ended by the server that shares the GPU
    911,          // of a device outside of CUDA
    999           // unknown: a GPU that fell off
};

constexpr bool losesContext(Status status) {
    for (const Status losing : kLosing)
        if (status == losing)
            return true;
    return false;
}

/// All of them; a null pointer stands for none. Made-up ones serve tests.
struct Functions {
    Status (*init)(unsigned flags) = nullptr;
    Status (*driverVersion)(int* version) = nullptr;
    Status (*deviceCount)(int* count) = nullptr;
    Status (*deviceGet)(DeviceNumber* device, int ordinal) = nullptr;
    Status (*deviceName)(char* name, int length, DeviceNumber device) = nullptr;
    Status (*deviceUuid)(unsigned char* uuid, DeviceNumber device) = nullptr; // [kUuidBytes]
    Status (*deviceAttribute)(int* value, int attribute, DeviceNumber device) = nullptr;
    Status (*deviceTotalMemory)(std::size_t* bytes, DeviceNumber device) = nullptr;
    Status (*retainPrimaryContext)(Context* context, DeviceNumber device) = nullptr;
    Status (*releasePrimaryContext)(DeviceNumber device) = nullptr;
    Status (*setCurrentContext)(Context context) = nullptr;
    Status (*memoryInfo)(std::size_t* isFree, std::size_t* total) = nullptr;
    Status (*allocate)(Address* memory, std::size_t bytes) = nullptr;
    Status (*release)(Address memory) = nullptr;
    Status (*fill)(Address memory, unsigned char value, std::size_t bytes, Stream stream) = nullptr;
    Status (*copyToDevice)(Address to,
                           const void* from,
                           std::size_t bytes,
                           Stream stream) = nullptr;
    Status (*copyToHost)(void* to, Address from, std::size_t bytes, Stream stream) = nullptr;
    Status (*streamCreate)(Stream* stream, unsigned flags) = nullptr;
    Status (*streamDestroy)(Stream stream) = nullptr;
    Status (*streamSynchronize)(Stream stream) = nullptr;
    Status (*moduleLoad)(Module* module, const void* image) = nullptr;
    Status (*moduleUnload)(Module module) = nullptr;
    Status (*moduleFunction)(Function* function, Module module, const char* name) = nullptr;
    Status (*functionSetAttribute)(Function function, int attribute, int value) = nullptr;
    Status (*launchCooperative)(Function function,
                                unsigned gridX,
                                unsigned gridY,
                                unsigned gridZ,
                                unsigned blockX,
                                unsigned blockY,
                                unsigned blockZ,
                                unsigned sharedBytes,
                                Stream stream,
                                void** arguments) = nullptr;
    Status (*canAccessPeer)(int* can, DeviceNumber device, DeviceNumber peer) = nullptr;
    Status (*enablePeerAccess)(Context peer, unsigned flags) = nullptr; // of the current context
    Status (*copyToPeer)(Address to,
                         Context toContext,
                         Address from,
                         Context fromContext,
                         std::size_t bytes,
                         Stream stream) = nullptr;
    Status (*errorName)(Status status, const char** name) = nullptr;

    /// "CUDA_ERROR_ILLEGAL_ADDRESS", or the number.
    std::string nameOf(Status status) const;
};

/// Calls `visit(function, name)` for each of them, with its name in the driver's library.
template <typename Visit> void forEachFunction(Functions& functions, Visit&& visit) {
    visit(functions.init, "cuInit");
    visit(functions.driverVersion, "cuDriverGetVersion");
    visit(functions.deviceCount, "cuDeviceGetCount");
    visit(functions.deviceGet, "cuDeviceGet");
    visit(functions.deviceName, "cuDeviceGetName");
    visit(functions.deviceUuid, "cuDeviceGetUuid_v2");
    visit(functions.deviceAttribute, "cuDeviceGetAttribute");
    visit(functions.deviceTotalMemory, "cuDeviceTotalMem_v2");
    visit(functions.retainPrimaryContext, "cuDevicePrimaryCtxRetain");
    visit(functions.releasePrimaryContext, "cuDevicePrimaryCtxRelease_v2");
    visit(functions.setCurrentContext, "cuCtxSetCurrent");
    visit(functions.memoryInfo, "cuMemGetInfo_v2");
    visit(functions.allocate, "cuMemAlloc_v2");
    visit(functions.release, "cuMemFree_v2");
    visit(functions.fill, "cuMemsetD8Async");
    visit(functions.copyToDevice, "cuMemcpyHtoDAsync_v2");
    visit(functions.copyToHost, "cuMemcpyDtoHAsync_v2");
    visit(functions.streamCreate, "cuStreamCreate");
    visit(functions.streamDestroy, "cuStreamDestroy_v2");
    visit(functions.streamSynchronize, "cuStreamSynchronize");
    visit(functions.moduleLoad, "cuModuleLoadData");
    visit(functions.moduleUnload, "cuModuleUnload");
    visit(functions.moduleFunction, "cuModuleGetFunction");
    visit(functions.functionSetAttribute, "cuFuncSetAttribute");
    visit(functions.launchCooperative, "cuLaunchCooperativeKernel");
    visit(functions.canAccessPeer, "cuDeviceCanAccessPeer");
    visit(functions.enablePeerAccess, "cuCtxEnablePeerAccess");
    visit(functions.copyToPeer, "cuMemcpyPeerAsync");
    visit(functions.errorName, "cuGetErrorName");
}

/// Opens the driver's library for the rest of the process and starts it. Errors: Unsupported, which
/// says what is missing: no driver, or one that is too old.
engine::Result<Functions> open(const std::string& library = "libcuda.so.1");

/// Starts a driver. Errors: Unsupported.
engine::Result<void> start(const Functions& functions);

} // namespace backend_cuda::driver
