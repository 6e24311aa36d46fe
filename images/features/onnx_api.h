/* onnx_api.h - what is called of ONNX Runtime's C interface: no header of it is
 * needed.
 *
 * Its library hands out one table of functions, to which later versions only
 * append.  A row is the function's place in that table (struct OrtApi of
 * onnxruntime_c_api.h), what it returns, its name and arguments.  Objects are
 * void * here; ORT_STATUS is NULL where all is well, else to be released. */
#ifndef LAPIS_VISION_ONNX_API_H
#define LAPIS_VISION_ONNX_API_H
#include <stddef.h>
#include <stdint.h>

enum { ORT_VERSION = 2, ORT_SLOTS = 119 }; /* of the table: since 2019 */
enum { ORT_FATAL = 4 };                    /* OrtLoggingLevel */
enum { ORT_FLOAT = 1 };                    /* ONNXTensorElementDataType */
typedef void *ORT_STATUS;

#define ORT_FUNCTIONS(X)                                                       \
  X(2, const char *, GetErrorMessage, (const void *status))                    \
  X(3, ORT_STATUS, CreateEnv, (int level, const char *name, void **out))       \
  X(8, ORT_STATUS, CreateSessionFromArray,                                     \
    (const void *env, const void *bytes, size_t size, const void *options,     \
     void **out))                                                              \
  X(9, ORT_STATUS, Run,                                                        \
    (void *session, const void *options, const char *const *input,             \
     const void *const *value, size_t inputs, const char *const *output,       \
     size_t outputs, void **out))                                              \
  X(10, ORT_STATUS, CreateSessionOptions, (void **out))                        \
  X(24, ORT_STATUS, SetIntraOpNumThreads, (void *options, int threads))        \
  X(30, ORT_STATUS, SessionGetInputCount, (const void *session, size_t *out))  \
  X(31, ORT_STATUS, SessionGetOutputCount, (const void *session, size_t *out)) \
  X(33, ORT_STATUS, SessionGetInputTypeInfo,                                   \
    (const void *session, size_t index, void **out))                           \
  X(36, ORT_STATUS, SessionGetInputName,                                       \
    (const void *session, size_t index, void *allocator, char **out))          \
  X(37, ORT_STATUS, SessionGetOutputName,                                      \
    (const void *session, size_t index, void *allocator, char **out))          \
  X(49, ORT_STATUS, CreateTensorWithDataAsOrtValue,                            \
    (const void *memory, void *data, size_t bytes, const int64_t *side,        \
     size_t sides, int type, void **out))                                      \
  X(51, ORT_STATUS, GetTensorMutableData, (void *value, void **out))           \
  X(55, ORT_STATUS, CastTypeInfoToTensorInfo,                                  \
    (const void *type, const void **out))                                      \
  X(60, ORT_STATUS, GetTensorElementType, (const void *info, int *out))        \
  X(61, ORT_STATUS, GetDimensionsCount, (const void *info, size_t *out))       \
  X(62, ORT_STATUS, GetDimensions,                                             \
    (const void *info, int64_t *side, size_t sides))                           \
  X(65, ORT_STATUS, GetTensorTypeAndShape, (const void *value, void **out))    \
  X(69, ORT_STATUS, CreateCpuMemoryInfo,                                       \
    (int allocator, int memory, void **out))                                   \
  X(76, ORT_STATUS, AllocatorFree, (void *allocator, void *p))                 \
  X(78, ORT_STATUS, GetAllocatorWithDefaultOptions, (void **out))              \
  X(92, void, ReleaseEnv, (void *p))                                           \
  X(93, void, ReleaseStatus, (void *p))                                        \
  X(94, void, ReleaseMemoryInfo, (void *p))                                    \
  X(95, void, ReleaseSession, (void *p))                                       \
  X(96, void, ReleaseValue, (void *p))                                         \
  X(98, void, ReleaseTypeInfo, (void *p))                                      \
  X(99, void, ReleaseTensorTypeAndShapeInfo, (void *p))                        \
  X(100, void, ReleaseSessionOptions, (void *p))                               \
  X(111, ORT_STATUS, SessionGetModelMetadata,                                  \
    (const void *session, void **out))                                         \
  X(116, ORT_STATUS, ModelMetadataLookupCustomMetadataMap,                     \
    (const void *metadata, void *allocator, const char *key, char **out))      \
  X(118, void, ReleaseModelMetadata, (void *p))

typedef void (*ort_slot)(void);
typedef struct ort_base { /* what the library exports: OrtGetApiBase */
  const ort_slot *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} ort_base;

/* NOLINTBEGIN(bugprone-macro-parentheses): declarations */
#define ORT_FIELD(slot, type, name, args) type(*name) args;
/* NOLINTEND(bugprone-macro-parentheses) */
typedef struct ort {
  ORT_FUNCTIONS(ORT_FIELD)
} ort;

#endif
