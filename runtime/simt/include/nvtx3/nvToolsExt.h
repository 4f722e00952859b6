// NVTX on the emulator: ranges of the host. What is launched inside one carries its name in the timeline. Marks, names of
// threads and categories, and ranges that end elsewhere (nvtxRangeStart) are taken and not shown.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxEventAttributes_t)))
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration* nvtxStringHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#ifdef __cplusplus
extern "C" {
#endif
int nvtxRangePushA(const char* message);  // the level, from 0
int nvtxRangePop(void);                   // the level that ended; negative: none was open
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* e) {
  return nvtxRangePushA(e != 0 && e->messageType == NVTX_MESSAGE_TYPE_ASCII ? e->message.ascii : "");
}
static inline void nvtxMarkA(const char* message) { (void)message; }
static inline void nvtxMarkEx(const nvtxEventAttributes_t* e) { (void)e; }
static inline nvtxRangeId_t nvtxRangeStartA(const char* message) { return (void)message, 1; }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* e) { return (void)e, 1; }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
static inline void nvtxNameOsThreadA(uint32_t id, const char* name) { (void)id, (void)name; }
static inline void nvtxNameCategoryA(uint32_t category, const char* name) { (void)category, (void)name; }
static inline void nvtxInitialize(const void* reserved) { (void)reserved; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (nvtxDomainHandle_t)name; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) {
  return (void)d, nvtxRangePushEx(e);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t d) { return (void)d, nvtxRangePop(); }
static inline void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) { (void)d, (void)e; }
#ifdef __cplusplus
}
#endif
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
