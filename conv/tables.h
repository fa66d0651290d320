/* tables - the vendor's tables that our inputs can fill [PQ, schema 12.0.1].
 * Knows: rows, figures, eventrow.
 *
 * Names, units and order of columns are the vendor's; a column whose name is not confirmed is
 * written as x_..., and so are columns of our own (x_process_id, x_nc_idx: one table holds all
 * processes and cores of a trace). A required column is always there, empty where the inputs do not
 * say; optional ones we know nothing of are left out. Times are Unix ns on the host clock in every
 * table, as in SystemProfileEvents. */
#ifndef CONV_TABLES_H
#define CONV_TABLES_H

#include "conv/figures.h"
#include "conv/rows.h"
#include "proto/diag.h"

struct conv_column {
    const char *name, *type, *unit; /* unit "" = none */
    bool required;
};

struct conv_filler; /* what row functions see */

struct conv_table {
    const char *name;
    const char *from; /* which input fills it; or why none does, if rows is NULL */
    const struct conv_column *columns;
    size_t n_columns;
    /* Gives all rows. False when memory ran out. */
    bool (*rows)(struct conv_filler *f, struct conv_rows *r);
};

struct conv_filler {
    const struct ntff_trace *t; /* indexed by track */
    const struct conv_figures *figures;
    const struct ntff_diag *diag;
    struct ntff_detail detail;
    uint32_t *pcore; /* by track: which physical core of its logical core, NTFF_NONE = none */
};

/* By name, without regard to case; NULL if there is none. */
const struct conv_table *conv_table_find(const char *name);
size_t conv_table_count(void);
const struct conv_table *conv_table_at(size_t i); /* by name */

/* The parts of the list, one file each. */
struct conv_table_list {
    const struct conv_table *v;
    size_t n;
};
extern const struct conv_table_list conv_tables_system, conv_tables_device, conv_tables_about;

/* Cells that repeat: process_id and nc_idx of a track (our own columns), and in tables of devices
 * its physical core as runtime events name it; a core's number inside its logical core. */
void conv_cells_origin(struct conv_filler *f, struct conv_rows *r, uint32_t track);
void conv_cells_device(struct conv_filler *f, struct conv_rows *r, uint32_t track);
void conv_cell_pcore(struct conv_filler *f, struct conv_rows *r, uint32_t track);
void conv_cell_index(struct conv_rows *r, uint32_t v);                    /* NTFF_NONE = null */
void conv_cell_share(struct conv_rows *r, uint64_t part, uint64_t whole); /* null if whole is 0 */

#endif
