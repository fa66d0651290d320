/* schema_builtin - the built-in schema as file descriptors.
 *
 * Our two .proto files are compiled by protoc-c into C descriptors. They hold names, numbers, types
 * and labels, but lose the file layout: this file lists what belongs to which file and turns the
 * whole back into two serialized FileDescriptorProtos [PB]. From there on the built-in schema takes
 * the same road as one recovered from a libnrt.so; nothing downstream knows the difference.
 *
 * Lost for good is the name of a oneof; the generated structs give it back at compile time. */
#include "proto/schema_priv.h"

#include <string.h>

#include "proto/neuron_trace.pb-c.h"
#include "proto/ntff.pb-c.h"

/* File order is that of the .proto files. */
static const ProtobufCMessageDescriptor *const ntff_messages[] = {
    &ntff__notification_buffer_size__descriptor,
    &ntff__ntff_info__descriptor,
    &ntff__version_info__descriptor,
    &ntff__ultraserver_info__descriptor,
    &ntff__execution_info__descriptor,
    &ntff__trace_info__descriptor,
    &ntff__nc_memory_usage__descriptor,
    &ntff__instruction_patch_location__descriptor,
    &ntff__instruction_patch_info__descriptor,
    &ntff__subgraph_info__descriptor,
    &ntff__engine_instruction_info__descriptor,
    &ntff__neff_node_info__descriptor,
    &ntff__cpu_node_info__descriptor,
    &ntff__nd_node_info__descriptor,
    &ntff__outcc_info__descriptor,
    &ntff__block_timestamp_info__descriptor,
    &ntff__nc_timestamp_info__descriptor,
    &ntff__dma_queue_usage_info__descriptor,
    &ntff__desc_block_info__descriptor,
    &ntff__collectives_channel__descriptor,
    &ntff__collectives_subchannel__descriptor,
    &ntff__collectives_dma_packets__descriptor,
    &ntff__collectives_op__descriptor,
    &ntff__collectives_comm_info__descriptor,
    &ntff__collectives_info__descriptor,
    &ntff__collectives_stream_info__descriptor,
    &ntff__collectives_op_trace__descriptor,
    &ntff__collectives_op_info__descriptor,
    &ntff__collectives_semaphore__descriptor,
    &ntff__collectives_semaphore_update__descriptor,
    &ntff__collectives_net_idx_update__descriptor,
};
static const ProtobufCEnumDescriptor *const ntff_enums[] = {
    &ntff__notification_trace_type__descriptor, &ntff__block_type__descriptor,
    &ntff__memory_usage_type__descriptor,       &ntff__dma_queue_type__descriptor,
    &ntff__nc_engine_type__descriptor,          &ntff__collectives_packet_type__descriptor,
    &ntff__instruction_patch_type__descriptor,
};

static const ProtobufCMessageDescriptor *const trace_messages[] = {
    &ntff__ntrace_event__descriptor,     &ntff__ntrace_info__descriptor,
    &ntff__interned_data_db__descriptor, &ntff__ntrace_data_file__descriptor,
    &ntff__host_stats__descriptor,       &ntff__cpu_util__descriptor,
    &ntff__host_mem_usage__descriptor,
};
static const ProtobufCEnumDescriptor *const trace_enums[] = {
    &ntff__ntrace_event_phase_type__descriptor,
    &ntff__ntrace_data_type__descriptor,
};

struct oneof_name {
    const ProtobufCMessageDescriptor *message;
    unsigned case_offset;
    const char *name;
};
static const struct oneof_name oneof_names[] = {
    {&ntff__neff_node_info__descriptor, offsetof(Ntff__NeffNodeInfo, node_info_case), "node_info"},
    {&ntff__collectives_dma_packets__descriptor,
     offsetof(Ntff__CollectivesDmaPackets, packet_type_data_case), "packet_type_data"},
    {&ntff__ntrace_event__descriptor, offsetof(Ntff__NtraceEvent, _nrta_seq_id_case),
     "_nrta_seq_id"},
};

/* -- writing protobuf ------------------------------------------------------------------------- */

static void put_varint(struct ntff_buf *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    ntff_buf_add(b, bytes, n);
}

static void put_uint(struct ntff_buf *b, unsigned number, uint64_t v)
{
    put_varint(b, number << 3);
    put_varint(b, v);
}

static void put_bytes(struct ntff_buf *b, unsigned number, const void *p, size_t len)
{
    put_varint(b, number << 3 | 2);
    put_varint(b, len);
    ntff_buf_add(b, p, len);
}

static void put_text(struct ntff_buf *b, unsigned number, const char *s)
{
    put_bytes(b, number, s, strlen(s));
}

/* Moves a finished submessage into its parent. */
static void put_message(struct ntff_buf *b, unsigned number, struct ntff_buf *sub)
{
    put_bytes(b, number, sub->p, sub->len);
    b->failed |= sub->failed;
    ntff_buf_free(sub);
}

/* -- descriptors ------------------------------------------------------------------------------ */

static int field_type(ProtobufCType t)
{
    static const uint8_t map[] = {
        [PROTOBUF_C_TYPE_INT32] = NTFF_T_INT32,       [PROTOBUF_C_TYPE_SINT32] = NTFF_T_SINT32,
        [PROTOBUF_C_TYPE_SFIXED32] = NTFF_T_SFIXED32, [PROTOBUF_C_TYPE_INT64] = NTFF_T_INT64,
        [PROTOBUF_C_TYPE_SINT64] = NTFF_T_SINT64,     [PROTOBUF_C_TYPE_SFIXED64] = NTFF_T_SFIXED64,
        [PROTOBUF_C_TYPE_UINT32] = NTFF_T_UINT32,     [PROTOBUF_C_TYPE_FIXED32] = NTFF_T_FIXED32,
        [PROTOBUF_C_TYPE_UINT64] = NTFF_T_UINT64,     [PROTOBUF_C_TYPE_FIXED64] = NTFF_T_FIXED64,
        [PROTOBUF_C_TYPE_FLOAT] = NTFF_T_FLOAT,       [PROTOBUF_C_TYPE_DOUBLE] = NTFF_T_DOUBLE,
        [PROTOBUF_C_TYPE_BOOL] = NTFF_T_BOOL,         [PROTOBUF_C_TYPE_ENUM] = NTFF_T_ENUM,
        [PROTOBUF_C_TYPE_STRING] = NTFF_T_STRING,     [PROTOBUF_C_TYPE_BYTES] = NTFF_T_BYTES,
        [PROTOBUF_C_TYPE_MESSAGE] = NTFF_T_MESSAGE,
    };
    return map[t];
}

/* "ntff.version_info" -> "version_info"; the short_name of C descriptors is in CamelCase. */
static const char *last_part(const char *full)
{
    const char *dot = strrchr(full, '.');
    return dot ? dot + 1 : full;
}

static const struct oneof_name *oneof_of(const ProtobufCMessageDescriptor *m,
                                         const ProtobufCFieldDescriptor *f)
{
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        for (size_t i = 0; i < NTFF_ARRAY_LEN(oneof_names); i++)
            if (oneof_names[i].message == m && oneof_names[i].case_offset == f->quantifier_offset)
                return &oneof_names[i];
    return NULL;
}

/* Place of a oneof among those of its message. */
static unsigned oneof_index(const struct oneof_name *o)
{
    unsigned index = 0;
    for (const struct oneof_name *p = oneof_names; p < o; p++)
        index += p->message == o->message;
    return index;
}

/* The C descriptors know optional only as the one-member oneof "_name" it is on the wire. */
static bool is_optional(const struct oneof_name *o, const ProtobufCFieldDescriptor *f)
{
    return o && o->name[0] == '_' && strcmp(o->name + 1, f->name) == 0;
}

static void put_field(struct ntff_buf *out, const ProtobufCMessageDescriptor *m,
                      const ProtobufCFieldDescriptor *f)
{
    struct ntff_buf b = {0};
    const struct oneof_name *o = oneof_of(m, f);
    put_text(&b, 1, f->name);
    put_uint(&b, 3, f->id);
    put_uint(&b, 4, f->label == PROTOBUF_C_LABEL_REPEATED ? NTFF_L_REPEATED : NTFF_L_SINGULAR);
    put_uint(&b, 5, (uint64_t)field_type(f->type));
    if (f->descriptor) {
        const char *full = f->type == PROTOBUF_C_TYPE_MESSAGE
                               ? ((const ProtobufCMessageDescriptor *)f->descriptor)->name
                               : ((const ProtobufCEnumDescriptor *)f->descriptor)->name;
        char name[256] = ".";
        strncat(name, full, sizeof name - 2);
        put_text(&b, 6, name);
    }
    if (o)
        put_uint(&b, 9, oneof_index(o));
    if (is_optional(o, f))
        put_uint(&b, 17, 1);
    put_message(out, 2, &b);
}

/* True if f is a map, whose entry type lies inside m. */
static bool is_map(const ProtobufCMessageDescriptor *m, const ProtobufCFieldDescriptor *f)
{
    if (f->type != PROTOBUF_C_TYPE_MESSAGE || f->label != PROTOBUF_C_LABEL_REPEATED)
        return false;
    const ProtobufCMessageDescriptor *entry = f->descriptor;
    size_t len = strlen(m->name);
    return strncmp(entry->name, m->name, len) == 0 && entry->name[len] == '.';
}

static void put_map_entry(struct ntff_buf *out, const ProtobufCMessageDescriptor *entry)
{
    struct ntff_buf b = {0};
    put_text(&b, 1, last_part(entry->name));
    for (unsigned i = 0; i < entry->n_fields; i++)
        put_field(&b, entry, &entry->fields[i]);
    put_bytes(&b, 7, "\x38\x01", 2); /* options: map_entry = true */
    put_message(out, 3, &b);
}

/* Fields by number, but the members of a oneof together, as source would have them. */
static void put_fields(struct ntff_buf *out, const ProtobufCMessageDescriptor *m)
{
    for (unsigned i = 0; i < m->n_fields; i++) {
        const struct oneof_name *o = oneof_of(m, &m->fields[i]);
        bool done = false;
        for (unsigned k = 0; o && k < i; k++)
            done |= oneof_of(m, &m->fields[k]) == o;
        if (done)
            continue;
        put_field(out, m, &m->fields[i]);
        for (unsigned k = i + 1; o && k < m->n_fields; k++)
            if (oneof_of(m, &m->fields[k]) == o)
                put_field(out, m, &m->fields[k]);
    }
}

static void put_descriptor(struct ntff_buf *out, const ProtobufCMessageDescriptor *m)
{
    struct ntff_buf b = {0};
    put_text(&b, 1, last_part(m->name));
    put_fields(&b, m);
    for (unsigned i = 0; i < m->n_fields; i++)
        if (is_map(m, &m->fields[i]))
            put_map_entry(&b, m->fields[i].descriptor);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(oneof_names); i++) {
        if (oneof_names[i].message != m)
            continue;
        struct ntff_buf o = {0};
        put_text(&o, 1, oneof_names[i].name);
        put_message(&b, 8, &o);
    }
    put_message(out, 4, &b);
}

static void put_enum(struct ntff_buf *out, const ProtobufCEnumDescriptor *e)
{
    struct ntff_buf b = {0};
    put_text(&b, 1, last_part(e->name));
    for (unsigned i = 0; i < e->n_values; i++) {
        struct ntff_buf v = {0};
        put_text(&v, 1, e->values[i].name);
        put_uint(&v, 2, (uint64_t)(int64_t)e->values[i].value);
        put_message(&b, 2, &v);
    }
    put_message(out, 5, &b);
}

static void put_file(struct ntff_buf *b, const char *name,
                     const ProtobufCMessageDescriptor *const *m, size_t n_messages,
                     const ProtobufCEnumDescriptor *const *e, size_t n_enums)
{
    put_text(b, 1, name);
    put_text(b, 2, "ntff");
    for (size_t i = 0; i < n_messages; i++)
        put_descriptor(b, m[i]);
    for (size_t i = 0; i < n_enums; i++)
        put_enum(b, e[i]);
    put_text(b, 12, "proto3");
}

bool ntff_builtin_encode(struct ntff_buf *ntff, struct ntff_buf *neuron_trace)
{
    put_file(ntff, "ntff.proto", ntff_messages, NTFF_ARRAY_LEN(ntff_messages), ntff_enums,
             NTFF_ARRAY_LEN(ntff_enums));
    put_file(neuron_trace, "neuron_trace.proto", trace_messages, NTFF_ARRAY_LEN(trace_messages),
             trace_enums, NTFF_ARRAY_LEN(trace_enums));
    return !ntff->failed && !neuron_trace->failed;
}
