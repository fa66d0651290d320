/* event_types - one table of the 46 runtime event types and their payloads.
 * Values, phases and payload offsets: A [TAX]. Display names carry their grade; a name graded C is
 * a guess and outputs mark it so. JSON and protobuf attributes use the payload names [SERDE]. */
#include "proto/event_types.h"

#include <string.h>
#include <strings.h>

static const struct ntff_event_type types[NTFF_N_EVENT_TYPES] = {
    {"generic", "GENERIC", 'A', false},
    {"nrt_load", "MODEL_LOAD", 'A', false},
    {"async_post_request", "POST_REQUEST", 'B', false},
    {"nrt_execute", "EXECUTE_API", 'A', false},
    {"kmgr_exec_core", "RUNTIME_EXECUTE", 'B', false},
    {"nrt_load_collectives", "CC_LOAD", 'A', false},
    {"cc_exec_barrier", "CC_EXEC_BARRIER", 'A', true},
    {"nc_exec_running", "DEVICE_EXEC", 'A', true},
    {"cc_running", "CC_EXEC", 'A', true},
    {"nrt_tensor_read", "TENSOR_READ", 'B', false},
    {"nrt_tensor_write", "TENSOR_WRITE", 'A', false},
    {"nrt_tensor_read_batch", "TENSOR_READ_BATCH", 'C', false},
    {"nrt_tensor_write_batch", "TENSOR_WRITE_BATCH", 'C', false},
    {"numerical_err", "NUM_ERR", 'A', true},
    {"enc_barrier_recv", "ENC_BARRIER_RECV", 'C', false},
    {"enc_barrier_send", "ENC_BARRIER_SEND", 'C', false},
    {"enc_barrier", "ENC_BARRIER", 'A', false},
    {"kbl_exec_pre", "EXEC_PRE", 'A', false},
    {"kbl_exec_core", "EXEC_CORE", 'A', false},
    {"kbl_exec_wait", "EXEC_WAIT", 'A', false},
    {"kbl_exec_post", "EXEC_POST", 'B', false},
    {"nrt_model_switch", "MODEL_SWITCH", 'C', false},
    {"nrt_model_submit", "MODEL_SUBMIT", 'B', false},
    {"nrt_async_sema_wait", "ASYNC_SEMA_WAIT", 'A', false},
    {"hw_notify", "HW_NOTIFY", 'A', true},
    {"timestamp_sync_point", "TIMESTAMP_SYNC", 'A', true},
    {"nc_model_switch", "NC_MODEL_SWITCH", 'A', true},
    {"nrt_tensor_allocate", "TENSOR_ALLOC", 'B', false},
    {"nrt_tensor_free", "TENSOR_FREE", 'B', false},
    {"tensor_block_while_exec", "TENSOR_BLOCK_WHILE_EXEC", 'C', false},
    {"dmem_buf_copyin", "DMEM_BUF_COPYIN", 'A', false},
    {"dmem_buf_copyout", "DMEM_BUF_COPYOUT", 'A', false},
    {"dmem_buf_batch_copyin", "DMEM_BUF_BATCH_COPYIN", 'C', false},
    {"dmem_buf_batch_copyout", "DMEM_BUF_BATCH_COPYOUT", 'C', false},
    {"nrt_dma_mem_alloc", "DMA_MEM_ALLOC", 'B', false},
    {"nrt_dma_mem_dealloc", "DMA_MEM_DEALLOC", 'B', false},
    {"exec_consume_nc_status_notifications", "CONSUME_TPB_STATUS_NOTIFICATIONS", 'C', false},
    {"exec_consume_cc_core_notifications", "CONSUME_TOPSP_CC_NOTIFICATIONS", 'B', false},
    {"notification_consume_errors", "CONSUME_ERROR_NOTIFICATIONS", 'B', false},
    {"exec_consume_gpsimd_stdio", "CONSUME_POOL_STDIO", 'A', false},
    {"nrt_cc_prepare", "CC_PREPARE", 'B', false},
    {"nrt_cc_schedule", "CC_SCHEDULE", 'C', false},
    {"hostcc_build_context", "HOSTCC_BUILD_CONTEXT", 'C', false},
    {"hostcc_load", "HOSTCC_LOAD", 'C', false},
    {"hostcc_exec", "HOSTCC_EXEC", 'C', false},
    {"hostcc_wait_completion", "HOSTCC_WAIT", 'C', false},
};

/* Older or second spellings [AWS:EV] [AWS:IMG] [USE:lab]. */
static const struct {
    const char *name;
    uint32_t type;
} aliases[] = {
    {"model_load", 1},
    {"runtime_execute", 4},
    {"dlr_infer", 4},
    {"sync_exec", 4},
    {"device_exec", 7},
    {"nc_exec", 7},
    {"cc_exec", 8},
    {"tensor_read", 9},
    {"tensor_write", 10},
    {"cc_barrier_recv", 14},
    {"kbl_infer_exec_wait", 19},
    {"exec_consume_tpb_status_notifications", 36},
    {"hostcc_wait", 45},
};

const struct ntff_event_type *ntff_event_type(uint32_t type)
{
    return type < NTFF_N_EVENT_TYPES ? &types[type] : NULL;
}

uint32_t ntff_event_type_by_name(const char *p, size_t len)
{
    static const char prefix[] = "NRT_SYS_TRACE_EVENT_TYPE_";
    size_t n = sizeof prefix - 1;
    if (len > n && strncasecmp(p, prefix, n) == 0)
        for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
            if (strlen(types[i].c_name) == len - n &&
                strncasecmp(types[i].c_name, p + n, len - n) == 0)
                return i;
    for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
        if ((strlen(types[i].name) == len && strncasecmp(types[i].name, p, len) == 0) ||
            (strlen(types[i].c_name) == len && strncasecmp(types[i].c_name, p, len) == 0))
            return i;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(aliases); i++)
        if (strlen(aliases[i].name) == len && strncasecmp(aliases[i].name, p, len) == 0)
            return aliases[i].type;
    return UINT32_MAX;
}

/* -- payloads -------------------------------------------------------------------------------- */

#define F(n, o, k)                                                                                 \
    {                                                                                              \
#n, o, NTFF_P_##k                                                                          \
    }
#define SYNC(o)                                                                                    \
    F(nc_timestamp_ns, o, U64),                                                                    \
    {                                                                                              \
        "cpu_timestamp_ns", (o) + 8, NTFF_P_U64                                                    \
    }
#define LIST(name, ...) static const struct ntff_payload_field name[] = {__VA_ARGS__}

LIST(p_model, F(model_id, 0, U64));
LIST(p_post, F(model_id, 0, U64), F(request_id, 8, U32));
LIST(p_ccload, F(g_device_id, 0, U32), F(g_device_count, 4, U32));
LIST(p_barrier, F(model_id, 0, U64), F(exec_id, 8, U32), SYNC(16));
LIST(p_sync, SYNC(0));
LIST(p_core, F(device_core_idx, 0, U32), F(exec_id, 4, U32), SYNC(8));
LIST(p_cc, F(gid, 0, U32), F(op_id, 4, U32), F(exec_id, 8, U32), SYNC(16), F(algo, 32, U32));
LIST(p_tensor, F(tensor_id, 0, U64), F(size, 8, U64));
LIST(p_batches, F(num_batches, 0, U32));
LIST(p_enc, F(peer_id, 0, I32), F(exec_id, 8, U64), F(nec_dev_id, 16, I32));
LIST(p_exec, F(exec_id, 0, U64), F(model_id, 8, U64));
LIST(p_switch, F(device_core_idx, 0, U32), F(model_id, 8, U64), F(is_neuron_core_work, 16, BOOL));
LIST(p_sema, F(available_request_slots, 0, U64), F(has_work, 8, BOOL));
LIST(p_notify, F(device_core_idx, 0, U32), F(hint, 4, U16), F(custom_data, 8, U32),
     F(exec_id, 16, U64), SYNC(24));
LIST(p_tsync, F(exec_id, 0, U64), SYNC(8));
LIST(p_ncswitch, F(device_core_idx, 0, U32), F(model_id, 8, U64), F(exec_id, 16, U64), SYNC(24));
LIST(p_free, F(tensor_id, 0, U64), F(size, 8, U64), F(ref_count, 16, U64));
LIST(p_block, F(tensor_id, 0, U64), F(pending_reader_count, 8, U64),
     F(pending_writer_count, 16, U64));
LIST(p_copy, F(mem_type, 0, U8), F(mem_handle, 8, U64), F(offset, 16, U32), F(size, 20, U32));
LIST(p_bcopy, F(mem_type, 0, U8), F(num_batches, 4, U32), F(total_num_ops, 8, U32),
     F(total_size, 16, U64));
LIST(p_alloc, F(hbm_idx, 0, U32), F(usage_type, 4, U32), F(is_nc_hbm, 8, BOOL),
     F(is_aligned, 9, BOOL), F(mla_idx, 12, U32));
LIST(p_alloced, F(allocated_bytes, 0, U64), F(physical_address, 8, U64), F(return_code, 16, U64),
     F(usage_type_total_bytes, 24, U64), F(total_bytes, 32, U64));
LIST(p_dealloc, F(hbm_idx, 0, U32), F(is_nc_hbm, 4, BOOL), F(mla_idx, 8, U32),
     F(usage_type, 12, U32), F(physical_address, 16, U64));
LIST(p_dealloced, F(freed_bytes, 0, U64), F(usage_type_total_bytes, 8, U64),
     F(total_bytes, 16, U64));
LIST(p_prepare, F(ctx_device_id, 0, U32), F(ctx_device_count, 4, U32), F(cc_op, 8, U32));
LIST(p_ctx, F(ctx_device_id, 0, U32), F(ctx_device_count, 4, U32));
LIST(p_hload, F(enc_op, 0, U32), F(dtype, 4, U32), F(num_elem, 8, U64));
LIST(p_stream, F(stream_id, 0, U32));
LIST(p_hwait, F(total_notif_expected, 0, U32));
#undef F
#undef SYNC
#undef LIST

#define P(list) list, NTFF_ARRAY_LEN(list)
/* START and STOP payload by type; INSTANT types use the START column [TAX]. A phase the table of
 * the spec leaves open is read as START (grade C; shown, nothing is computed from it). */
static const struct {
    const struct ntff_payload_field *start;
    size_t n_start;
    const struct ntff_payload_field *stop;
    size_t n_stop;
} payloads[NTFF_N_EVENT_TYPES] = {
    [1] = {NULL, 0, P(p_model)},
    [2] = {P(p_post), NULL, 0},
    [3] = {P(p_model), NULL, 0},
    [4] = {P(p_model), NULL, 0},
    [5] = {P(p_ccload), P(p_model)},
    [6] = {P(p_barrier), P(p_sync)},
    [7] = {P(p_core), P(p_sync)},
    [8] = {P(p_cc), P(p_sync)},
    [9] = {P(p_tensor), NULL, 0},
    [10] = {P(p_tensor), NULL, 0},
    [11] = {P(p_batches), NULL, 0},
    [12] = {P(p_batches), NULL, 0},
    [13] = {P(p_core), NULL, 0},
    [14] = {P(p_enc), NULL, 0},
    [15] = {P(p_enc), NULL, 0},
    [16] = {P(p_enc), NULL, 0},
    [17] = {P(p_exec), NULL, 0},
    [18] = {P(p_exec), NULL, 0},
    [19] = {P(p_exec), NULL, 0},
    [20] = {P(p_exec), NULL, 0},
    [21] = {P(p_switch), NULL, 0},
    [22] = {P(p_model), NULL, 0},
    [23] = {P(p_sema), NULL, 0},
    [24] = {P(p_notify), NULL, 0},
    [25] = {P(p_tsync), NULL, 0},
    [26] = {P(p_ncswitch), P(p_sync)},
    [27] = {P(p_tensor), NULL, 0},
    [28] = {P(p_free), NULL, 0},
    [29] = {P(p_block), NULL, 0},
    [30] = {P(p_copy), NULL, 0},
    [31] = {P(p_copy), NULL, 0},
    [32] = {P(p_bcopy), NULL, 0},
    [33] = {P(p_bcopy), NULL, 0},
    [34] = {P(p_alloc), P(p_alloced)},
    [35] = {P(p_dealloc), P(p_dealloced)},
    [40] = {P(p_prepare), NULL, 0},
    [41] = {P(p_ctx), NULL, 0},
    [42] = {P(p_ctx), NULL, 0},
    [43] = {P(p_hload), NULL, 0},
    [44] = {P(p_stream), NULL, 0},
    [45] = {P(p_hwait), NULL, 0},
};
#undef P

const struct ntff_payload_field *ntff_event_payload(uint32_t type, uint32_t phase, size_t *n)
{
    *n = 0;
    if (type >= NTFF_N_EVENT_TYPES)
        return NULL;
    bool stop = phase == 2;
    *n = stop ? payloads[type].n_stop : payloads[type].n_start;
    return stop ? payloads[type].stop : payloads[type].start;
}

/* -- runtime memory usage classes [DMEM] ------------------------------------------------------- */

static const char *const usages[] = {
    "GENERIC",
    "INSTR_PE",
    "INSTR_ACT",
    "INSTR_POOL",
    "IO",
    "DRAM_SPILL",
    "WEIGHT",
    "NOTIFICATION",
    "ACT_TABLE",
    "INSTR_DVE",
    "INSTR_SP",
    "SCRATCHPAD",
    "TENSOR",
    "UCODE_LIB",
    "POOL_STDIO",
    "CC",
    "SCRATCHPAD_NOT_SHARED",
    "XT_CC",
    "DMA_RING",
    "DMA_RING_SPILL",
    "DMA_RING_IO",
    "DMA_RING_COLLECTIVES",
};

const char *ntff_usage_name(uint32_t usage)
{
    return usage < NTFF_ARRAY_LEN(usages) ? usages[usage] : NULL;
}

uint32_t ntff_usage_by_name(const char *p, size_t len)
{
    for (uint32_t i = 0; i < NTFF_ARRAY_LEN(usages); i++)
        if (strlen(usages[i]) == len && strncasecmp(usages[i], p, len) == 0)
            return i;
    return UINT32_MAX;
}
