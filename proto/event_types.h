/* event_types - the 46 runtime event types: names, aliases, category, payload layout.
 * Source: enum and payloads A [TAX]; names graded one by one, see FORMAT.md.  Knows: base. */
#ifndef NTFF_EVENT_TYPES_H
#define NTFF_EVENT_TYPES_H

#include "base.h"

#define NTFF_N_EVENT_TYPES 46

enum { /* those the loader treats specially */
       NTFF_ET_POST_REQUEST = 2,
       NTFF_ET_EXECUTE_API = 3,
       NTFF_ET_CC_EXEC_BARRIER = 6,
       NTFF_ET_DEVICE_EXEC = 7,
       NTFF_ET_CC_EXEC = 8,
       NTFF_ET_TENSOR_READ = 9,
       NTFF_ET_TENSOR_WRITE = 10,
       NTFF_ET_NUM_ERR = 13,
       NTFF_ET_EXEC_PRE = 17,
       NTFF_ET_EXEC_CORE = 18,
       NTFF_ET_EXEC_WAIT = 19,
       NTFF_ET_EXEC_POST = 20,
       NTFF_ET_MODEL_SWITCH = 21,
       NTFF_ET_MODEL_SUBMIT = 22,
       NTFF_ET_HW_NOTIFY = 24,
       NTFF_ET_TIMESTAMP_SYNC = 25,
       NTFF_ET_NC_MODEL_SWITCH = 26,
       NTFF_ET_DMEM_COPYIN = 30,
       NTFF_ET_DMEM_COPYOUT = 31,
       NTFF_ET_DMA_MEM_ALLOC = 34,
       NTFF_ET_DMA_MEM_DEALLOC = 35
};

/* Scalar kinds of the 112-byte record's payload. */
enum ntff_payload_kind { NTFF_P_U8, NTFF_P_BOOL, NTFF_P_U16, NTFF_P_U32, NTFF_P_I32, NTFF_P_U64 };

struct ntff_payload_field {
    const char *name;
    uint8_t offset; /* in the 40-byte payload */
    uint8_t kind;   /* enum ntff_payload_kind */
};

struct ntff_event_type {
    const char *name;   /* display name */
    const char *c_name; /* without NRT_SYS_TRACE_EVENT_TYPE_ */
    char grade;         /* of the display name: 'A', 'B', 'C' (C: not official) */
    bool hardware;      /* category mask 0x70021C0 [MON] */
};

/* NULL above 45. */
const struct ntff_event_type *ntff_event_type(uint32_t type);
/* Payload fields of (type, phase); phase is wire phase 1..3 (START, STOP, INSTANT). *n may be 0. */
const struct ntff_payload_field *ntff_event_payload(uint32_t type, uint32_t phase, size_t *n);
/* Type number of a name: display name, old alias, or the C name in either case, also with
 * NRT_SYS_TRACE_EVENT_TYPE_ before it. NTFF_NONE if unknown. */
uint32_t ntff_event_type_by_name(const char *p, size_t len);
/* Runtime memory usage class (0..21 [DMEM]) to its name "TENSOR"; NULL above. */
const char *ntff_usage_name(uint32_t usage);
/* and back; NTFF_NONE if unknown. */
uint32_t ntff_usage_by_name(const char *p, size_t len);

#endif
