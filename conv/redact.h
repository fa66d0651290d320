/* redact - pseudonyms for what a trace may tell about its owner: --redact of every command that
 * reads. Knows: model.
 *
 * Replaced, in every text that comes out of a trace (names, attributes, facts, paths, findings):
 *   instance ids    i-0123456789abcdef0                    instance-1
 *   host names      ip-10-0-1-2.ec2.internal, attributes   host-1
 *                   named host..., *.internal, *.local
 *   paths           /home/..., ~/..., s3://...; the        path-1
 *                   inputs and directories themselves
 *   model names     attribute model_name and the like      model-1
 * The same text gets the same pseudonym wherever it stands. Numbers follow first appearance:
 * processes, events in time order, files; so the same inputs and options give the same pseudonyms
 * in every command. Not replaced: numbers (pids, ids - model_id is a hash of the model's name by a
 * fixed key), names of tensors, operations and DMA queues. */
#ifndef CONV_REDACT_H
#define CONV_REDACT_H

#include "proto/diag.h"
#include "proto/model.h"

/* Rewrites the texts of t and diag, and those of records on their way out. Memory comes from the
 * trace. False when it ran out. */
bool conv_redact(struct ntff_trace *t, struct ntff_diag *diag) NTFF_MUST_CHECK;

/* A text that is taken from a record without ntff_detail, as it may leave: itself if t is not
 * redacted. Lives as long as the trace. */
struct ntff_slice conv_redacted(const struct ntff_trace *t, struct ntff_slice key,
                                struct ntff_slice text);
/* A path that is not in the trace, such as one of the command line. NUL-terminated. */
struct ntff_slice conv_redacted_path(const struct ntff_trace *t, const char *path);

#endif
